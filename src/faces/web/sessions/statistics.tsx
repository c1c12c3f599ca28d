import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ServerStats, StatsBy } from "../../../server/server-api.ts";
import { useWork, WorkLine } from "../announce.tsx";
import { useWords } from "../language/language.ts";
import { useReader } from "../reader.ts";
import { usePictures } from "../use-pictures.ts";

/** Statistics over all sessions. */
export function Statistics(): VNode {
  const words = useWords();
  const reader = useReader();
  const work = useWork();
  const pictures = usePictures(work);
  const [by, setBy] = useState<StatsBy>("day");
  const [stats, setStats] = useState<ServerStats>();
  useEffect(() => {
    let isLeft = false;
    void work
      .attempt(() => reader.stats(by))
      .then((next) => {
        if (!isLeft && next !== undefined) setStats(next);
      });
    return () => {
      isLeft = true;
    };
  }, [by]);
  return (
    <div class="scroll">
      <div class="wide">
        <h1 class="hd big">{words.statistics}</h1>
        <WorkLine work={work} />
        {stats === undefined || pictures === undefined ? (
          <p class="soft" aria-busy={work.said === undefined}>
            {work.said === undefined && words.loading}
          </p>
        ) : (
          <pictures.StatsView stats={stats} onGroup={setBy} />
        )}
      </div>
    </div>
  );
}

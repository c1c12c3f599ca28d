import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { StatsFilter } from "../../../server/server-api.ts";
import type { Period, PeriodStats } from "../pictures/stats-view.tsx";
import { Skeleton, usePictures, useReader, useWork, WorkLine } from "../work.tsx";

/** Statistics over all sessions of a period. */
export function Statistics(): VNode {
  const reader = useReader();
  const work = useWork();
  const pictures = usePictures(work);
  const [period, setPeriod] = useState<Period>(30);
  const [filter, setFilter] = useState<Pick<StatsFilter, "model" | "cwd">>({});
  const [stats, setStats] = useState<PeriodStats>();
  const span = period === 0 ? undefined : ([dayBefore(period - 1), dayBefore(0)] as const);
  useEffect(() => {
    let isLeft = false;
    const load = async (): Promise<PeriodStats> => {
      const own = { ...filter, ...(span && { from: span[0] }) };
      const { model: _model, ...byModel } = own;
      const { cwd: _cwd, ...byFolder } = own;
      const earlier = { ...filter, from: dayBefore(2 * period - 1), to: dayBefore(period) };
      const [days, models, folders, before] = await Promise.all([
        reader.stats("day", own),
        reader.stats("model", byModel),
        reader.stats("cwd", byFolder),
        span && reader.stats("day", earlier),
      ]);
      return { days, models, folders, before: before?.total };
    };
    void work.attempt(load).then((next) => {
      if (!isLeft && next !== undefined) setStats(next);
    });
    return () => {
      isLeft = true;
    };
  }, [period, filter]);
  return (
    <div class="scroll">
      <div class="wide">
        <WorkLine work={work} />
        {stats === undefined || pictures === undefined ? (
          work.said === undefined && <Skeleton />
        ) : (
          <pictures.StatsView {...{ stats, period, span, filter, setPeriod, setFilter }} />
        )}
      </div>
    </div>
  );
}

/** The day that was so many days ago, as statistics name it. */
function dayBefore(days: number): string {
  const date = new Date();
  date.setDate(date.getDate() - days);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

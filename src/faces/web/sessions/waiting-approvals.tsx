import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { OpenApproval } from "../../../server/server-api.ts";
import { useWords } from "../language/language.ts";
import { useReader } from "../reader.ts";
import { hrefOf } from "../route.ts";

const LOOK_EVERY_MS = 5_000;

/** Leads to the session that has waited longest for an answer, from wherever the reader is. */
export function WaitingApprovals({ except }: { readonly except: string | undefined }): VNode {
  const words = useWords();
  const reader = useReader();
  const [open, setOpen] = useState<readonly OpenApproval[]>([]);
  useEffect(() => {
    const look = (): void => void reader.approvals().then(setOpen, () => setOpen([]));
    look();
    const timer = setInterval(look, LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, [reader]);
  const others = open.filter(({ sessionId }) => sessionId !== except);
  const [first] = others;
  return (
    <div aria-live="polite">
      {first !== undefined && (
        <p class="waiting">
          <a href={hrefOf({ type: "session", id: first.sessionId, view: "chat" })}>
            {words.questionsWait(others.length)}
          </a>
        </p>
      )}
    </div>
  );
}

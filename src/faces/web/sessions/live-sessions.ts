import { type Context, createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import type { ListedSession, OpenApproval, SessionPage } from "../../../server/server-api.ts";
import type { EndReason } from "../../../view/words.ts";
import type { Words } from "../language/language.ts";
import type { Mark } from "../text/icons.tsx";
import { useReader } from "../work.tsx";

/** The newest sessions as they are now, and the questions that wait. */
export interface LiveSessions {
  /** Undefined until they have come. */
  readonly page: SessionPage | undefined;
  readonly approvals: readonly OpenApproval[];
  readonly isConnected: boolean;
}

export const PAGE_SIZE = 50;
const LOOK_EVERY_MS = 1_000;
const NOTHING: LiveSessions = { page: undefined, approvals: [], isConnected: true };

export const LiveSessionsContext: Context<LiveSessions> = createContext(NOTHING);

export function useLiveSessions(): LiveSessions {
  return useContext(LiveSessionsContext);
}

/** Looks at the sessions, of one folder or all, every second as long as the page can be seen. */
export function usePolledSessions(isOn: boolean, cwd: string | undefined): LiveSessions {
  const reader = useReader();
  const [live, setLive] = useState(NOTHING);
  const seen = useRef("");
  useEffect(() => {
    if (!isOn) return undefined;
    let isLeft = false;
    let timer: ReturnType<typeof setTimeout>;
    const look = async (): Promise<void> => {
      try {
        const query = { limit: PAGE_SIZE, ...(cwd === undefined ? {} : { cwd }) };
        const [page, approvals] = await Promise.all([reader.sessions(query), reader.approvals()]);
        const text = JSON.stringify([cwd, page, approvals]);
        // Nothing is drawn anew where nothing has changed.
        if (!isLeft && text !== seen.current) setLive({ page, approvals, isConnected: true });
        seen.current = text;
      } catch {
        // What was there stays to be read; the next look may succeed.
        seen.current = "";
        if (!isLeft) setLive((now) => ({ ...now, isConnected: false }));
      }
    };
    const next = async (): Promise<void> => {
      if (!document.hidden) await look();
      if (!isLeft) timer = setTimeout(() => void next(), LOOK_EVERY_MS);
    };
    void next();
    return () => {
      isLeft = true;
      clearTimeout(timer);
    };
  }, [reader, isOn, cwd]);
  return live;
}

/** The mark of a run that ended so. */
export function markOf(reason: EndReason): Mark {
  switch (reason) {
    case "completed":
    case "finish_tool":
    case "structured_output":
      return "done";
    case "error":
      return "fail";
    case "aborted":
      return "stop";
    case "denied":
    case "refusal":
      return "refused";
    case "awaiting_approval":
    case "awaiting_external":
      return "wait";
    default:
      return "limit";
  }
}

/** How a session stands: its mark, and the cause in words unless it is running or done. */
export function outcomeOf(
  { state, end, runAt }: Pick<ListedSession, "state" | "end" | "runAt">,
  words: Words,
): { readonly mark: Mark; readonly cause: string } {
  if (state === "running") return { mark: "run", cause: "" };
  if (state === "waiting") return { mark: "wait", cause: words.marks.wait };
  if (end === undefined)
    return runAt === undefined ? { mark: "todo", cause: "" } : { mark: "cut", cause: words.marks.cut };
  const mark = markOf(end.reason);
  if (mark === "done") return { mark, cause: "" };
  return { mark, cause: mark === "fail" && end.detail !== undefined ? end.detail : words.ended[end.reason] };
}

export function folderName(path: string): string {
  return /[^/\\]+(?=[/\\]?$)/.exec(path)?.[0] ?? path;
}

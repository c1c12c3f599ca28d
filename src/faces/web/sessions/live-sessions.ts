import { type Context, createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import type { ListedSession, OpenApproval, SessionPage } from "../../../server/server-api.ts";
import type { EndReason } from "../../../view/words.ts";
import type { Words } from "../language/language.ts";
import type { Mark } from "../text/icons.tsx";
import { useReader } from "../work.tsx";

/** The newest sessions in their current state, and the open questions. */
export interface LiveSessions {
  /** Undefined until loaded. */
  readonly page: SessionPage | undefined;
  readonly approvals: readonly OpenApproval[];
  readonly isConnected: boolean;
}

export const PAGE_SIZE = 50;
const POLL_INTERVAL_MS = 1_000;
const NOT_LOADED: LiveSessions = { page: undefined, approvals: [], isConnected: true };

export const LiveSessionsContext: Context<LiveSessions> = createContext(NOT_LOADED);

export function useLiveSessions(): LiveSessions {
  return useContext(LiveSessionsContext);
}

/** Polls the sessions, of one folder or all, every second while the page is visible. */
export function usePolledSessions(isOn: boolean, cwd: string | undefined): LiveSessions {
  const reader = useReader();
  const [live, setLive] = useState(NOT_LOADED);
  const lastText = useRef("");
  useEffect(() => {
    if (!isOn) return undefined;
    let isUnmounted = false;
    let timer: ReturnType<typeof setTimeout>;
    const poll = async (): Promise<void> => {
      try {
        const query = { limit: PAGE_SIZE, ...(cwd === undefined ? {} : { cwd }) };
        const [page, approvals] = await Promise.all([reader.sessions(query), reader.approvals()]);
        const text = JSON.stringify([cwd, page, approvals]);
        // Nothing is redrawn if nothing has changed.
        if (!isUnmounted && text !== lastText.current) setLive({ page, approvals, isConnected: true });
        lastText.current = text;
      } catch {
        // The old contents stay readable; the next poll may succeed.
        lastText.current = "";
        if (!isUnmounted) setLive((now) => ({ ...now, isConnected: false }));
      }
    };
    const next = async (): Promise<void> => {
      if (!document.hidden) await poll();
      if (!isUnmounted) timer = setTimeout(() => void next(), POLL_INTERVAL_MS);
    };
    void next();
    return () => {
      isUnmounted = true;
      clearTimeout(timer);
    };
  }, [reader, isOn, cwd]);
  return live;
}

const MARKS: { readonly [R in EndReason]?: Mark } = {
  completed: "done",
  finish_tool: "done",
  structured_output: "done",
  error: "fail",
  aborted: "stop",
  denied: "refused",
  refusal: "refused",
  awaiting_approval: "wait",
  awaiting_external: "wait",
};

export function markOf(reason: EndReason): Mark {
  return MARKS[reason] ?? "limit";
}

/** The state of a session as a mark, with the reason unless it is running or done. */
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

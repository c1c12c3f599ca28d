import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import type { OpenApproval, SessionPage } from "../../../server/server-api.ts";
import { useReader } from "../reader.ts";

/** The newest sessions as they are now, and the questions that wait. */
export interface LiveSessions {
  /** Undefined until they have come. */
  readonly page: SessionPage | undefined;
  readonly approvals: readonly OpenApproval[];
  readonly isConnected: boolean;
}

/** Sessions of a page. */
export const PAGE_SIZE = 50;
const LOOK_EVERY_MS = 1_000;
const NOTHING: LiveSessions = { page: undefined, approvals: [], isConnected: true };

/** The sessions that all below show. */
export const LiveSessionsContext: ReturnType<typeof createContext<LiveSessions>> =
  createContext<LiveSessions>(NOTHING);

/** The sessions that are shown. */
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

import { useEffect, useRef, useState } from "preact/hooks";
import type { ConnectionRetry, Reader } from "../../../server/create-reader.ts";
import type { SessionDetail } from "../../../server/server-api.ts";
import { useReader } from "../reader.ts";
import { type FeedState, SessionFeed } from "./session-feed.ts";

/** A session that is followed. */
export interface OpenSession extends FeedState {
  /** Undefined until it has come. */
  readonly detail: SessionDetail | undefined;
  /** Undefined while the connection stands. */
  readonly retry: ConnectionRetry | undefined;
  /** The refusal of the server, such as for an id that it does not know. */
  readonly fault: unknown;
}

/** Follows a session as long as the component is shown; draws at most once a frame. */
export function useSession(id: string): OpenSession {
  const reader = useReader();
  const [session, setSession] = useState<OpenSession>(notOpened);
  const frame = useRef(0);
  useEffect(() => {
    setSession(notOpened());
    const leaving = new AbortController();
    void followSession({ reader, id, signal: leaving.signal }, (now) => {
      cancelAnimationFrame(frame.current);
      frame.current = requestAnimationFrame(() => setSession(now()));
    });
    return () => {
      leaving.abort();
      cancelAnimationFrame(frame.current);
    };
  }, [reader, id]);
  return session;
}

function notOpened(): OpenSession {
  return { ...new SessionFeed().now, detail: undefined, retry: undefined, fault: undefined };
}

interface FollowedSession {
  readonly reader: Reader;
  readonly id: string;
  readonly signal: AbortSignal;
}

/**
 * Reads a session until the signal ends it. `changed` gets the function that tells how it is now. Details are
 * asked for behind the entries, which are shown first, and again after each connection that broke: what
 * passed in between is in them.
 */
export async function followSession(
  { reader, id, signal }: FollowedSession,
  changed: (now: () => OpenSession) => void,
): Promise<void> {
  const feed = new SessionFeed();
  let detail: SessionDetail | undefined;
  let retry: ConnectionRetry | undefined;
  let fault: unknown;
  // An answer that is older than what the stream has told since would take that back.
  let told = 0;
  const now = (): OpenSession => ({ ...feed.now, detail, retry, fault });
  const tell = (): void => {
    if (!signal.aborted) changed(now);
  };
  const onFault = (error: unknown): void => {
    fault = error;
    tell();
  };
  const look = async (): Promise<void> => {
    let before: number;
    do {
      before = told;
      detail = await reader.session(id);
    } while (told !== before && !signal.aborted);
    feed.detail(detail);
    tell();
  };
  const onConnection = (_state: "open" | "lost", next?: ConnectionRetry): void => {
    retry = next;
    tell();
  };
  try {
    for await (const item of reader.follow(id, { signal, onConnection })) {
      feed.apply(item);
      if (item.type === "passing" && item.passing.type !== "event") told++;
      if (item.type === "passing" && item.passing.type === "ready") void look().catch(onFault);
      if (feed.isReady) tell();
    }
  } catch (error) {
    onFault(error);
  }
}

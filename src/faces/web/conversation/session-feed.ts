import { useEffect, useRef, useState } from "preact/hooks";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import { omitUndefined } from "../../../core/base/json.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../../permission/permission-mode.ts";
import type { ConnectionRetry, Reader } from "../../../server/create-reader.ts";
import type { PassingEvent, SessionDetail, StreamItem } from "../../../server/server-api.ts";
import type { SessionView } from "../../../view/view.ts";
import { EMPTY_HOST, type HostView, ViewFold } from "../../../view/view-fold.ts";
import { useReader } from "../work.tsx";

/** A session as received so far. The entries grow in place. */
export interface SessionSnapshot {
  readonly view: SessionView;
  readonly entries: readonly JournalEntry[];
  /** Undefined if unknown. */
  readonly mode: PermissionMode | undefined;
  /** True once everything stored has arrived. */
  readonly isReady: boolean;
}

/**
 * Folds a session's stream into the page's state. Feed it each item once, in order. An entry that is sent
 * again after a lost connection counts once.
 */
export class SessionFeed {
  #host: HostView = EMPTY_HOST;
  #fold = new ViewFold(EMPTY_HOST);
  #entries: JournalEntry[] = [];
  #known = new Set<string>();
  #mode: PermissionMode | undefined;
  #isReady = false;

  get isReady(): boolean {
    return this.#isReady;
  }

  get snapshot(): SessionSnapshot {
    return { view: this.#fold.view, entries: this.#entries, mode: this.#mode, isReady: this.#isReady };
  }

  /** Applies the server's facts that are not in the entries. */
  applyDetail({ state, queue, queueHeld, questions, model, permissionMode }: SessionDetail): void {
    this.#changeMode(permissionMode);
    this.#change({ state, queue, queueHeld, questions, ...omitUndefined({ model }) });
  }

  apply(item: StreamItem): void {
    if (item.type === "entry") this.#entry(item.entry);
    else this.#passing(item.passing);
  }

  #entry(entry: JournalEntry): void {
    if (this.#known.has(entry.id)) return;
    this.#known.add(entry.id);
    this.#entries.push(entry);
    this.#fold.apply(entry);
    if (entry.scope !== undefined) return;
    if (entry.type === "run_start" || entry.type === "run_resume" || entry.type === "model_change")
      this.#change({ model: entry.model });
    else if (entry.type === "mode_change") this.#changeMode(entry.mode);
  }

  #passing(passing: PassingEvent): void {
    const { questions } = this.#host;
    switch (passing.type) {
      case "event":
        this.#fold.apply(passing.event);
        return;
      case "state":
        return this.#change({ state: passing.state });
      case "question":
        return this.#change({
          questions: [...questions.filter(({ id }) => id !== passing.question.id), passing.question],
        });
      case "question_closed":
        return this.#change({ questions: questions.filter(({ id }) => id !== passing.id) });
      case "queue":
        return this.#change({ queue: passing.queue, queueHeld: passing.held });
      case "ready":
        this.#isReady = true;
        // A run without an end in an idle session was interrupted.
        if (this.#host.state === "idle") this.#fold.endAbandonedRun();
        return this.#change({});
      case "reset":
        this.#entries = [];
        this.#known = new Set();
        this.#isReady = false;
        this.#fold = new ViewFold(this.#host);
    }
  }

  #changeMode(name: string | undefined): void {
    this.#mode = PERMISSION_MODES.find((mode) => mode === name) ?? this.#mode;
    this.#change(omitUndefined({ mode: this.#mode }));
  }

  #change(more: Partial<HostView>): void {
    this.#host = { ...this.#host, ...more };
    this.#fold.host(this.#host);
  }
}

export interface FollowedSession extends SessionSnapshot {
  readonly detail: SessionDetail | undefined;
  /** Undefined while connected. */
  readonly retry: ConnectionRetry | undefined;
  /** The server's refusal, such as for an unknown id. */
  readonly error: unknown;
}

/** Follows a session while the component is shown; draws at most once per frame. */
export function useSession(id: string): FollowedSession {
  const reader = useReader();
  const [session, setSession] = useState<FollowedSession>(emptySession);
  const frame = useRef(0);
  useEffect(() => {
    setSession(emptySession());
    const unmounted = new AbortController();
    void followSession(reader, id, unmounted.signal, (now) => {
      cancelAnimationFrame(frame.current);
      frame.current = requestAnimationFrame(() => setSession(now()));
    });
    return () => {
      unmounted.abort();
      cancelAnimationFrame(frame.current);
    };
  }, [reader, id]);
  return session;
}

function emptySession(): FollowedSession {
  return { ...new SessionFeed().snapshot, detail: undefined, retry: undefined, error: undefined };
}

/**
 * Follows a session until the signal aborts. `changed` receives a function that returns the current state.
 * Details are requested after the entries, and again after each lost connection, to cover what was missed.
 */
export async function followSession(
  reader: Reader,
  id: string,
  signal: AbortSignal,
  changed: (now: () => FollowedSession) => void,
): Promise<void> {
  const feed = new SessionFeed();
  let detail: SessionDetail | undefined;
  let retry: ConnectionRetry | undefined;
  let error: unknown;
  // A response older than the stream's latest news would undo them.
  let newsCount = 0;
  const now = (): FollowedSession => ({ ...feed.snapshot, detail, retry, error });
  const notify = (): void => {
    if (!signal.aborted) changed(now);
  };
  const onError = (latest: unknown): void => {
    error = latest;
    notify();
  };
  const loadDetail = async (): Promise<void> => {
    let before: number;
    do {
      before = newsCount;
      detail = await reader.session(id);
    } while (newsCount !== before && !signal.aborted);
    feed.applyDetail(detail);
    notify();
  };
  const onConnection = (_state: "open" | "lost", next?: ConnectionRetry): void => {
    retry = next;
    notify();
  };
  try {
    for await (const item of reader.follow(id, { signal, onConnection })) {
      feed.apply(item);
      if (item.type === "passing" && item.passing.type !== "event") newsCount++;
      if (item.type === "passing" && item.passing.type === "ready") void loadDetail().catch(onError);
      if (feed.isReady) notify();
    }
  } catch (error) {
    onError(error);
  }
}

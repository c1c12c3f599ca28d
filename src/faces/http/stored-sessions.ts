import { setImmediate, setTimeout } from "node:timers/promises";
import { type Clock, startTimer } from "../../core/base/async.ts";
import type { Redaction } from "../../core/base/text.ts";
import { FactsReader } from "../../server/facts-reader.ts";
import type { SessionPage } from "../../server/server-api.ts";
import { type SessionFacts, sliceAfter } from "../../server/session-facts.ts";
import type { ListQuery } from "../../server/session-host.ts";
import { findSessions, indexSessions } from "../../session/search/find-sessions.ts";
import { isSessionId } from "../../session/session-file.ts";
import { isSessionInUse } from "../../session/session-lock.ts";
import type { SessionFile, SessionStore } from "../../session/session-store.ts";

/** A session file, with the matching passages of a search. */
export type FoundFile = SessionFile & { readonly passages?: readonly string[] };

/** A page of session files, and the position after it. */
export interface FilePage {
  readonly files: readonly FoundFile[];
  readonly next: string | undefined;
  /** Progress of a search while not all sessions have been read for it. */
  readonly searched: SessionPage["searched"];
}

/** Maximum sessions a search finds. */
const MAX_FOUND = 1_000;
/** Longest wait of a search for the index. */
const INDEX_WAIT_MS = 1_000;
/** Pauses in indexing, which let requests proceed. */
const PAUSE_MS = 5;

/**
 * A user's session files and the facts of each; nothing is read twice. Secrets are removed from titles and
 * passages before they are cut.
 */
export class StoredSessions {
  readonly store: SessionStore;
  readonly #facts = new Map<string, FactsReader>();
  readonly #clock: Clock;
  readonly #redaction: Redaction | undefined;
  readonly #closing = new AbortController();
  #indexing: Promise<void> | undefined;

  constructor(store: SessionStore, clock: Clock, redaction?: Redaction) {
    this.store = store;
    this.#clock = clock;
    this.#redaction = redaction;
  }

  /** Updates the search index in the background. Resolves when it is up to date or closed. */
  index(): Promise<void> {
    this.#indexing ??= indexSessions(this.store, {
      signal: this.#closing.signal,
      rest: () => setTimeout(PAUSE_MS),
    }).finally(() => {
      this.#indexing = undefined;
    });
    return this.#indexing;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#indexing;
  }

  /** The session with exactly this id. Throws `journal` for folders that are links. */
  file(id: string): SessionFile | undefined {
    return isSessionId(id) ? this.store.named(id) : undefined;
  }

  async page({ cwd, q, limit, before }: ListQuery): Promise<FilePage> {
    const { found, searched } =
      q === undefined ? { found: this.store.list(cwd), searched: undefined } : await this.#search(q, cwd);
    const placed = found.map((file) => ({ ...file, id: file.sessionId, updatedAt: file.changedAt }));
    const { page, next } = sliceAfter(placed, { limit, before });
    return { files: page, next, searched };
  }

  /** The facts of a session in its file's current state; if unreadable, those known without it. */
  factsOf({ path }: SessionFile): SessionFacts {
    let reader = this.#facts.get(path);
    if (reader === undefined) this.#facts.set(path, (reader = new FactsReader(path, this.#redaction)));
    return reader.read();
  }

  /** The facts of all sessions; yields to other work between sessions. */
  async *facts(): AsyncIterable<SessionFacts> {
    for (const file of this.store.list()) {
      yield this.factsOf(file);
      await setImmediate();
    }
  }

  /** Sessions left with a pending question that no process is running. */
  async *waiting(): AsyncIterable<SessionFile> {
    for (const file of this.store.list()) {
      if (this.factsOf(file).run === "waiting" && !isSessionInUse(file.path)) yield file;
      await setImmediate();
    }
  }

  async #search(
    text: string,
    cwd: string | undefined,
  ): Promise<{ readonly found: readonly FoundFile[]; readonly searched: SessionPage["searched"] }> {
    await this.#indexed();
    const options = { cwd, limit: MAX_FOUND, asItIs: true, redaction: this.#redaction };
    const { sessions, searched } = await findSessions(this.store, text, options);
    const found = sessions.map(({ excerpt, ...file }) => ({ ...file, passages: [excerpt] }));
    return { found, searched: searched.sessions < searched.of ? searched : undefined };
  }

  /** Resolves when the index is up to date, or takes longer than a person would wait. */
  #indexed(): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = startTimer(this.#clock, INDEX_WAIT_MS, () => resolve());
      this.index().then(resolve, reject).finally(stop);
    });
  }
}

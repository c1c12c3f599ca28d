import { lstatSync, type Stats } from "node:fs";
import { setImmediate, setTimeout } from "node:timers/promises";
import { type Clock, startTimer } from "../../core/base/async.ts";
import type { Redaction } from "../../core/base/text.ts";
import { FactsReader } from "../../server/facts-reader.ts";
import type { SessionPage } from "../../server/server-api.ts";
import { cut, type SessionFacts } from "../../server/session-facts.ts";
import type { ListQuery } from "../../server/session-host.ts";
import { lockPath } from "../../session/read-session.ts";
import { findSessions, indexSessions } from "../../session/search/find-sessions.ts";
import { isSessionId } from "../../session/session-file.ts";
import { isLocked, lockHolder } from "../../session/session-lock.ts";
import type { SessionFile, SessionStore } from "../../session/session-store.ts";

/** A session file, and pieces of it where it was searched for. */
export type FoundFile = SessionFile & { readonly passages?: readonly string[] };

/** A page of session files, and the place behind it. */
export interface FilePage {
  readonly files: readonly FoundFile[];
  readonly next: string | undefined;
  /** Of a search, while not all sessions were read for it. */
  readonly searched: SessionPage["searched"];
}

/** Sessions that a search looks for at most. */
const MAX_FOUND = 1_000;
/** How long a search waits until the index is up to date. */
const PATIENCE_MS = 1_000;
/** How long indexing rests again and again, for those that wait for an answer. */
const REST_MS = 5;

/**
 * The session files of a user, and the facts of each: what was read once is not read again. Secrets are taken
 * out of titles and passages, for those are cut.
 */
export class KeptSessions {
  readonly store: SessionStore;
  readonly #facts = new Map<string, FactsReader>();
  /** Where sessions were found that somebody asked for. */
  readonly #paths = new Map<string, string>();
  readonly #clock: Clock;
  readonly #redaction: Redaction | undefined;
  readonly #closing = new AbortController();
  #indexing: Promise<void> | undefined;

  constructor(store: SessionStore, clock: Clock, redaction?: Redaction) {
    this.store = store;
    this.#clock = clock;
    this.#redaction = redaction;
  }

  /** Brings the index for searches up to date, beside everything else. Resolves when it is, or was closed. */
  index(): Promise<void> {
    this.#indexing ??= indexSessions(this.store, {
      signal: this.#closing.signal,
      rest: () => setTimeout(REST_MS),
    }).finally(() => {
      this.#indexing = undefined;
    });
    return this.#indexing;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#indexing;
  }

  /** The session of exactly this id. Throws `journal` for folders that are links. */
  file(id: string): SessionFile | undefined {
    if (!isSessionId(id)) return undefined;
    const known = this.#paths.get(id);
    const stats = known === undefined ? undefined : statsOf(known);
    if (known !== undefined && stats?.isFile() === true)
      return { sessionId: id, path: known, bytes: stats.size, changedAt: stats.mtimeMs };
    const found = this.store.named(id);
    if (found !== undefined) this.#paths.set(id, found.path);
    return found;
  }

  async page({ cwd, q, limit, before }: ListQuery): Promise<FilePage> {
    const { found, searched } =
      q === undefined ? { found: this.store.list(cwd), searched: undefined } : await this.#search(q, cwd);
    const placed = found.map((file) => ({ ...file, id: file.sessionId, updatedAt: file.changedAt }));
    const { page, next } = cut(placed, { limit, before });
    return { files: page, next, searched };
  }

  /** The facts of a session as its file is now; of one that cannot be read, what is known without. */
  factsOf({ path }: SessionFile): SessionFacts {
    let reader = this.#facts.get(path);
    if (reader === undefined) this.#facts.set(path, (reader = new FactsReader(path, this.#redaction)));
    return reader.read();
  }

  /** The facts of all sessions; others work between one and the next. */
  async *facts(): AsyncIterable<SessionFacts> {
    for (const file of this.store.list()) {
      yield this.factsOf(file);
      await setImmediate();
    }
  }

  /** Sessions that were left with a question, and that nobody works on. */
  async *waiting(): AsyncIterable<SessionFile> {
    for (const file of this.store.list()) {
      if (this.factsOf(file).run === "waiting" && !this.isWritten(file)) yield file;
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

  /** Resolves when the index is up to date, or has taken longer than a person waits for an answer. */
  #indexed(): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = startTimer(this.#clock, PATIENCE_MS, () => resolve());
      this.index().then(resolve, reject).finally(stop);
    });
  }

  /** True while another process, or a session of this one, writes to it; also where nobody can tell. */
  isWritten({ path }: SessionFile): boolean {
    try {
      return isLocked(lockPath(path));
    } catch {
      // Whoever wants to write to it is told what is wrong with the lock.
      return true;
    }
  }

  /** The process that writes to it, where that can be told. */
  writer({ path }: SessionFile): ReturnType<typeof lockHolder> {
    try {
      return lockHolder(lockPath(path));
    } catch {
      // As above.
      return undefined;
    }
  }
}

/** Where they cannot be had, the list of sessions tells why. */
function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

import { join } from "node:path";
import { errorMessage } from "../../core/base/errors.ts";
import type { Redaction } from "../../core/base/text.ts";
import { isDamagedDatabase } from "../../system/sqlite.ts";
import { isFolder } from "../session-file.ts";
import type { SessionFile, SessionStore } from "../session-store.ts";
import { SearchIndex, setIndexAside, type UpdateOptions, withoutCutWord } from "./search-index.ts";
import { excerptOf, searchWords } from "./search-words.ts";

/** A session in which a text was found. */
export interface FoundSession extends SessionFile {
  /** Step of the passage that fits best. */
  readonly step: number;
  /** A piece of that passage, around the text. */
  readonly excerpt: string;
  /** Passages that were found in the session. */
  readonly passages: number;
}

/** Outcome of a search. */
export interface SessionSearch {
  readonly sessions: readonly FoundSession[];
  /** How many sessions were looked at, and how many there are. */
  readonly searched: { readonly sessions: number; readonly of: number };
  /** How it was searched. */
  readonly by: "index" | "scan";
  /** Notices for a person: an index that was set aside, files that were not looked at. */
  readonly notices: readonly string[];
}

/** How sessions are searched. */
export interface FindOptions {
  /** Working folder whose sessions are searched. Default: all. */
  readonly cwd?: string | undefined;
  /** Sessions at most. Default 50. */
  readonly limit?: number;
  /** True: the index is searched as it is, for somebody else brings it up to date. Default false. */
  readonly asItIs?: boolean;
  /** Bytes that are read at most where there is no index. Default 256 MB. */
  readonly maxScanBytes?: number;
  /** Takes secrets out of what is shown. Default: they stay. */
  readonly redaction?: Pick<Redaction, "text"> | undefined;
}

/**
 * Finds the sessions that hold all words of a text, each as the beginning of a word; of Chinese and other
 * scripts without blanks any part. Uses an index beside the sessions, brought up to date first. An index that
 * is damaged is set aside, named and made anew; where none can be used the files themselves are read, newest
 * first. Throws where Node has no SQLite.
 */
export async function findSessions(
  store: SessionStore,
  text: string,
  options: FindOptions = {},
): Promise<SessionSearch> {
  const { cwd, limit = 50, asItIs = false, maxScanBytes = 256 * 1024 * 1024, redaction } = options;
  const sessions = store.list(cwd);
  const of = sessions.length;
  const notices: string[] = [];
  if (sessions.length === 0 || searchWords(text).length === 0)
    return { sessions: [], searched: { sessions: of, of }, by: "index", notices };
  const search: Search = { text, sessions, isComplete: cwd === undefined, limit, redaction };
  const found = isFolder(store.root)
    ? await withIndex(store, notices, async (index) => ({
        sessions: await searchIn(index, { ...search, asItIs }),
        searched: { sessions: index.count(sessions), of },
      }))
    : undefined;
  if (found !== undefined) return { ...found, by: "index", notices };
  return { ...(await byScan(search, maxScanBytes, notices)), by: "scan", notices };
}

/**
 * Brings the index of all sessions up to date, so that the next search need not, until the signal. Where it
 * cannot be used nothing is done: a search tells why.
 */
export async function indexSessions(
  store: SessionStore,
  options: Pick<UpdateOptions, "signal" | "rest">,
): Promise<void> {
  if (!isFolder(store.root)) return;
  await withIndex(store, [], (index) => index.update(store.list(), { ...options, isComplete: true }));
}

interface Search {
  readonly text: string;
  readonly sessions: readonly SessionFile[];
  readonly isComplete: boolean;
  readonly asItIs?: boolean;
  readonly limit: number;
  readonly redaction: FindOptions["redaction"];
}

/** The result of work with the index beside the sessions; `undefined` where it cannot be used. */
async function withIndex<T>(
  store: SessionStore,
  notices: string[],
  work: (index: SearchIndex) => Promise<T>,
): Promise<T | undefined> {
  const path = join(store.root, "search.sqlite");
  for (let attempt = 1; ; attempt++) {
    try {
      using index = new SearchIndex(path);
      return await work(index);
    } catch (error) {
      if (attempt === 1 && isDamagedDatabase(error)) {
        notices.push(
          `the search index was damaged and is made anew; the old one is ${setIndexAside(path, Date.now())}`,
        );
        continue;
      }
      notices.push(
        `the search index cannot be used (${errorMessage(error)}); the session files themselves were searched`,
      );
      return undefined;
    }
  }
}

/** Searches an index of the moment: of the newest sessions that have at most `maxBytes` together. */
async function byScan(
  search: Search,
  maxBytes: number,
  notices: string[],
): Promise<Pick<SessionSearch, "sessions" | "searched">> {
  let bytes = 0;
  const sessions = search.sessions.filter((session) => (bytes += session.bytes) <= maxBytes);
  const left = search.sessions.length - sessions.length;
  if (left > 0) notices.push(`${left} older sessions were not looked at`);
  using index = new SearchIndex();
  const searched = { sessions: sessions.length, of: search.sessions.length };
  return { sessions: await searchIn(index, { ...search, sessions }), searched };
}

async function searchIn(
  index: SearchIndex,
  { text, sessions, isComplete, limit, redaction, asItIs = false }: Search,
): Promise<readonly FoundSession[]> {
  if (!asItIs) await index.update(sessions, { isComplete });
  const byPath = new Map(sessions.map((session) => [session.path, session]));
  const found = new Map<string, FoundSession>();
  for (const { path, step, text: passage } of index.find(text, 5_000)) {
    const session = byPath.get(path);
    if (session === undefined) continue;
    const before = found.get(path);
    if (before !== undefined) found.set(path, { ...before, passages: before.passages + 1 });
    else if (found.size < limit) {
      const excerpt = excerptOf(withoutCutWord(passage), text, redaction);
      found.set(path, { ...session, step, excerpt, passages: 1 });
    }
  }
  return [...found.values()];
}

import { join } from "node:path";
import { errorMessage } from "../../core/base/errors.ts";
import { isDamagedDatabase, loadSqlite } from "../../system/sqlite.ts";
import { isFolder } from "../session-file.ts";
import type { SessionFile, SessionStore } from "../session-store.ts";
import { SearchIndex, setIndexAside } from "./search-index.ts";
import { searchWords, wordSegmenter, wordsIn } from "./search-words.ts";
import { sessionPassages } from "./session-passages.ts";

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
  /** Bytes that are read at most where there is no index. Default 256 MB. */
  readonly maxScanBytes?: number;
}

/**
 * Finds the sessions that hold all words of a text, each as the beginning of a word; of Chinese and other scripts without blanks any
 * part. Uses an index beside the sessions, brought up to date first. An index that is damaged is set aside, named and made anew; where
 * none can be used the files themselves are read, newest first.
 */
export async function findSessions(
  store: SessionStore,
  text: string,
  options: FindOptions = {},
): Promise<SessionSearch> {
  const sessions = store.list(options.cwd);
  const notices: string[] = [];
  if (sessions.length === 0 || searchWords(text).length === 0) return { sessions: [], by: "index", notices };
  const search: Search = {
    text,
    sessions,
    notices,
    isComplete: options.cwd === undefined,
    limit: options.limit ?? 50,
  };
  const found = isFolder(store.root) ? byIndex(join(store.root, "search.sqlite"), search) : undefined;
  if (found !== undefined) return { sessions: found, by: "index", notices };
  return { sessions: byScan(search, options.maxScanBytes ?? 256 * 1024 * 1024), by: "scan", notices };
}

interface Search {
  readonly text: string;
  readonly sessions: readonly SessionFile[];
  readonly notices: string[];
  /** True when these are all sessions there are. */
  readonly isComplete: boolean;
  readonly limit: number;
}

function byIndex(path: string, search: Search): readonly FoundSession[] | undefined {
  const sqlite = loadSqlite();
  if (sqlite === undefined) {
    search.notices.push("this Node has no SQLite; the session files themselves were searched");
    return undefined;
  }
  for (let attempt = 1; ; attempt++) {
    try {
      return withIndex(new SearchIndex(path, sqlite.DatabaseSync), search);
    } catch (error) {
      if (attempt === 1 && isDamagedDatabase(error)) {
        search.notices.push(
          `the search index was damaged and is made anew; the old one is ${setIndexAside(path, Date.now())}`,
        );
        continue;
      }
      search.notices.push(
        `the search index cannot be used (${errorMessage(error)}); the session files themselves were searched`,
      );
      return undefined;
    }
  }
}

function withIndex(
  index: SearchIndex,
  { text, sessions, isComplete, limit }: Search,
): readonly FoundSession[] {
  try {
    index.update(sessions, isComplete);
    const byPath = new Map(sessions.map((session) => [session.path, session]));
    const found = new Map<string, FoundSession>();
    for (const { path, step, text: passage } of index.find(text, 5_000)) {
      const session = byPath.get(path);
      if (session === undefined) continue;
      const before = found.get(path);
      if (before !== undefined) found.set(path, { ...before, passages: before.passages + 1 });
      else if (found.size < limit)
        found.set(path, { ...session, step, excerpt: excerptOf(passage, text), passages: 1 });
    }
    return [...found.values()];
  } finally {
    index.close();
  }
}

function byScan({ text, sessions, notices, limit }: Search, maxBytes: number): readonly FoundSession[] {
  const words = searchWords(text);
  const segmenter = wordSegmenter();
  const found: FoundSession[] = [];
  let bytes = 0;
  for (const [at, session] of sessions.entries()) {
    bytes += session.bytes;
    if (bytes > maxBytes || found.length >= limit) {
      notices.push(`${sessions.length - at} older sessions were not looked at`);
      break;
    }
    const first = firstIn(session, words, segmenter);
    if (first !== undefined) found.push({ ...session, ...first, excerpt: excerptOf(first.excerpt, text) });
  }
  return found;
}

/** The passage with most of the words, of a session that has all of them. */
function firstIn(
  { path }: SessionFile,
  words: readonly (readonly string[])[],
  segmenter: Intl.Segmenter,
): Pick<FoundSession, "step" | "excerpt" | "passages"> | undefined {
  const seen = new Set<readonly string[]>();
  let best = { step: 0, excerpt: "", count: 0 };
  let passages = 0;
  try {
    for (const { step, text } of sessionPassages(path)) {
      const found = wordsIn(text, words, segmenter);
      if (found.length === 0) continue;
      for (const word of found) seen.add(word);
      if (found.length > best.count) best = { step, excerpt: text, count: found.length };
      passages++;
    }
  } catch {
    // What cannot be read has no text to be found; whoever opens it is told why.
    return undefined;
  }
  return seen.size < words.length ? undefined : { step: best.step, excerpt: best.excerpt, passages };
}

const AROUND = 60;

/** A piece of a text around the first of the words looked for. */
function excerptOf(passage: string, wanted: string): string {
  const plain = passage.toLowerCase();
  const places = [wanted.toLowerCase(), ...searchWords(wanted).map((word) => word.join(""))]
    .map((word) => plain.indexOf(word))
    .filter((place) => place >= 0);
  const at = places[0] ?? 0;
  const start = Math.max(0, at - AROUND);
  const end = Math.min(passage.length, at + AROUND * 2);
  const piece = passage.slice(start, end).toWellFormed().replaceAll(/\s+/g, " ").trim();
  return `${start > 0 ? "…" : ""}${piece}${end < passage.length ? "…" : ""}`;
}

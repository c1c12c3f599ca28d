import { appendFileSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FileVersion, Omission } from "../../core/agent/file-change.ts";
import { newUuid } from "../../core/base/ids.ts";
import { isRecord, safeParse } from "../../core/base/json.ts";
import { systemCode } from "../session-error.ts";
import type { FileState } from "./file-state.ts";
import type { PathKey } from "./path-key.ts";

/** What is known of a workspace: the newest state of every path that was looked at. */
export interface FileIndex {
  readonly states: Map<PathKey, FileState>;
  /** True when all of the workspace was looked at, so that what is not in `states` was not there. */
  isComplete: boolean;
  /** What was not looked into. */
  omitted: readonly Omission[];
  /** Session that saw it last. */
  sessionId: string;
}

/** An index that knows nothing. */
export function emptyIndex(sessionId: string): FileIndex {
  return { states: new Map(), isComplete: false, omitted: [], sessionId };
}

const VERSION = 1;
const FILE = "index";
const LOG_PREFIX = "index-log-";

/**
 * Keeps an index on disk between runs: a whole file, and a log of what changed since. It only spares work: whatever in it does not match
 * the facts of the file system, or cannot be read, is looked at again.
 */
export class IndexFile {
  readonly #folder: string;
  #base: string | undefined;
  #baseEntries = 0;
  #logged = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Reads the index; undefined when there is none, or it refers to packs that `hasPack` does not know. */
  load(root: string, hasPack: (name: string) => boolean): FileIndex | undefined {
    const [head, ...lines] = linesOf(join(this.#folder, FILE)) ?? [];
    const header = parsed(head);
    if (!isRecord(header) || header["v"] !== VERSION || header["root"] !== root) return undefined;
    const { base, packs, omitted, sessionId, isComplete, count } = header as unknown as Header;
    if (count !== lines.length || !packs.every(hasPack)) return undefined;
    const states = new Map<PathKey, FileState>();
    for (const line of lines) if (!readState(states, line)) return undefined;
    const index: FileIndex = { states, isComplete, omitted, sessionId };
    const log = linesOf(this.#logPath(base)) ?? [];
    for (const line of log) if (!readLogLine(index, line, hasPack)) return undefined;
    this.#base = base;
    this.#baseEntries = lines.length;
    this.#logged = log.length;
    return index;
  }

  /** Stores what changed: `changed` paths behind the log, or everything when the log has grown long. */
  save(
    root: string,
    index: FileIndex,
    { changed, packs }: { readonly changed: Iterable<PathKey>; readonly packs: readonly string[] },
  ): void {
    const lines = [...changed].map((key) => stateLine(key, index.states.get(key)));
    const isLong = this.#logged + lines.length > 200 + this.#baseEntries / 4;
    if (this.#base === undefined || isLong) this.saveWhole(root, index, packs);
    else {
      const { sessionId, isComplete, omitted } = index;
      const facts = JSON.stringify({ packs, sessionId, isComplete, omitted });
      appendFileSync(this.#logPath(this.#base), `${[...lines, facts].join("\n")}\n`, { mode: 0o600 });
      this.#logged += lines.length + 1;
    }
  }

  /** Writes the whole index in place of the old one. */
  saveWhole(root: string, { states, ...facts }: FileIndex, packs: readonly string[]): void {
    const base = newUuid();
    const header: Header & { readonly root: string } = {
      v: VERSION,
      root,
      base,
      packs,
      count: states.size,
      ...facts,
    };
    const lines = [JSON.stringify(header)];
    for (const [key, state] of states) lines.push(stateLine(key, state));
    const draft = join(this.#folder, `${FILE}.${base}.tmp`);
    try {
      writeFileSync(draft, `${lines.join("\n")}\n`, { flag: "wx", mode: 0o600 });
      renameSync(draft, join(this.#folder, FILE));
    } catch (error) {
      rmSync(draft, { force: true });
      throw error;
    }
    for (const name of readdirSync(this.#folder))
      if (name.startsWith(LOG_PREFIX)) rmSync(join(this.#folder, name), { force: true });
    this.#base = base;
    this.#baseEntries = states.size;
    this.#logged = 0;
  }

  #logPath(base: string): string {
    return join(this.#folder, `${LOG_PREFIX}${base}`);
  }
}

interface Header {
  readonly v: number;
  /** Names the log that belongs to the file. */
  readonly base: string;
  readonly packs: readonly string[];
  readonly count: number;
  readonly isComplete: boolean;
  readonly omitted: readonly Omission[];
  readonly sessionId: string;
}

function linesOf(path: string): string[] | undefined {
  try {
    const lines = readFileSync(path, "utf8").split("\n");
    lines.pop();
    return lines;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

function parsed(line: string | undefined): unknown {
  const result = line === undefined ? undefined : safeParse(line);
  return result?.ok === true ? result.value : undefined;
}

function stateLine(key: PathKey, state: FileState | undefined): string {
  if (state === undefined) return JSON.stringify([key]);
  const { mode, size, mtimeMs, ctimeMs, ino, checkedAt, version } = state;
  return JSON.stringify([key, mode, size, mtimeMs, ctimeMs, ino, checkedAt, version]);
}

type StateLine = readonly [
  key: string,
  mode: number,
  size: number,
  mtimeMs: number,
  ctimeMs: number,
  ino: number,
  checkedAt: number,
  version: FileVersion | null,
];

function readState(states: Map<PathKey, FileState>, line: string): boolean {
  const value = parsed(line);
  if (!Array.isArray(value) || typeof value[0] !== "string") return false;
  if (value.length === 1) {
    states.delete(value[0]);
    return true;
  }
  if (value.length !== 8) return false;
  const [key, mode, size, mtimeMs, ctimeMs, ino, checkedAt, version] = value as unknown as StateLine;
  states.set(key, { mode, size, mtimeMs, ctimeMs, ino, checkedAt, version });
  return true;
}

function readLogLine(index: FileIndex, line: string, hasPack: (name: string) => boolean): boolean {
  const value = parsed(line);
  if (!isRecord(value)) return readState(index.states, line);
  const { packs, sessionId, isComplete, omitted } = value as unknown as Header;
  Object.assign(index, { sessionId, isComplete, omitted });
  return packs.every(hasPack);
}

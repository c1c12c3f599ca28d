import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { ConfigFile } from "../coding/settings/config-schema.ts";
import { sessionStore } from "../coding/setup/open-session.ts";
import { errorMessage, invalidArgument, NanoAgentError } from "../core/base/errors.ts";
import { isRecord, safeParse } from "../core/base/json.ts";
import type { StopReason } from "../core/base/stop-reason.ts";
import { SpendingTally } from "../journal/session-usage.ts";
import { readSession } from "../session/read-session.ts";
import { makePrivateFolders } from "../system/private-folders.ts";
import { isWithin, realPath } from "../system/real-path.ts";
import { replaceFile } from "../system/replace-file.ts";
import { isNotFound, systemCode } from "../system/system-error.ts";

/** Prefix of all scratch folders that are not kept. */
export const SCRATCH_PREFIX = "nano-agent-eval-";

interface Results {
  /** All runs in the order of writing, including those replaced by a later line of the same run. */
  readonly records: readonly RunRecord[];
  /** Numbers of unreadable lines, from 1. */
  readonly damaged: readonly number[];
}

/** The folder an evaluation writes to: results, the report page, sessions, outputs of checks. */
export class ResultsFolder {
  readonly path: string;
  readonly results: string;
  readonly page: string;
  readonly lock: string;
  readonly checks: string;
  /** The folder of sessions: with `XDG_STATE_HOME` at {@link path}, every command finds them there. */
  readonly history: string;
  /** The folder for copies of the judging programs, each deleted after use. */
  readonly judges: string;

  constructor(path: string) {
    this.path = path;
    this.results = join(path, "results.jsonl");
    this.page = join(path, "report.html");
    this.lock = join(path, "lock");
    this.checks = join(path, "checks");
    this.history = join(path, "nano-agent");
    this.judges = join(path, "judges");
  }

  /** Makes a new one in a folder, named after the time; simultaneous commands each get their own. */
  static create(parent: string, now: Date): ResultsFolder {
    const stamp = now
      .toISOString()
      .replaceAll(/[-:]|\..*$/g, "")
      .replace("T", "-");
    const base = join(parent, `evaluation-${stamp}`);
    let path = base;
    for (let count = 2; !madeFolder(path); count++) path = `${base}-${count}`;
    return new ResultsFolder(path);
  }

  /** Prefix of its scratch folders in the system's temporary folder. */
  get scratchPrefix(): string {
    return `${SCRATCH_PREFIX}${digest(realPath(this.path))}-`;
  }

  /**
   * The folders with records of runs, links resolved: this one, and siblings with results, except one that
   * contains `workplace`, which agents need.
   */
  foldersToHide(workplace: string): readonly string[] {
    const path = realPath(this.path);
    const siblings = foldersIn(dirname(path)).filter((each) => existsSync(new ResultsFolder(each).results));
    return [...new Set([path, ...siblings.map(realPath).filter((each) => !isWithin(workplace, each))])];
  }

  /** Throws `invalid_argument` if it cannot be made. */
  ensure(): void {
    try {
      makePrivateFolders(this.checks);
      closeSync(openFile(this.results, APPEND));
    } catch (error) {
      throw invalidArgument(
        `The folder for results ${this.path} cannot be written: ${errorMessage(error)}. Name another one with -o.`,
        { cause: error },
      );
    }
  }

  /** Makes the folder for the judging programs. Throws `journal` if that fails. */
  makeJudges(): void {
    this.#write(() => makePrivateFolders(this.judges));
  }

  /** The results so far. Throws `invalid_argument` if they are missing or cannot be read. */
  read(): Results {
    let text: string;
    try {
      text = textIn(this.results);
    } catch (error) {
      const why = isNotFound(error) ? "holds no results.jsonl" : `cannot be read: ${errorMessage(error)}`;
      throw invalidArgument(`${this.path} ${why}. Name a folder that nano-agent eval has written to.`, {
        cause: error,
      });
    }
    const records: RunRecord[] = [];
    const damaged: number[] = [];
    for (const [at, line] of text.split("\n").entries()) {
      if (line.trim() === "") continue;
      const parsed = safeParse(line);
      if (parsed.ok && isRunRecord(parsed.value)) records.push(parsed.value);
      else damaged.push(at + 1);
    }
    return { records, damaged };
  }

  /**
   * Adds a line, which is on disk on return. Keeps it apart from a torn line before it. Throws `journal` if
   * it cannot be written.
   */
  append(record: RunRecord): void {
    this.#write(() => {
      const file = openFile(this.results, APPEND);
      try {
        writeSync(file, `${hasTornEnd(file) ? "\n" : ""}${JSON.stringify(record)}\n`);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
    });
  }

  /** Stores a check's output under the id of its session. Throws `journal` if it cannot be written. */
  saveOutput({ session }: Pick<RunRecord, "session">, output: string): void {
    this.#write(() => writeFileSync(join(this.checks, `${session}.txt`), output, { mode: 0o600 }));
  }

  writePage(page: string): void {
    this.#write(() => replaceFile(this.page, page));
  }

  #write(work: () => unknown): void {
    try {
      work();
    } catch (error) {
      throw new NanoAgentError(
        "journal",
        `Results cannot be written to ${this.path}: ${errorMessage(error)}.`,
        { cause: error },
      );
    }
  }

  /**
   * Compares the options and settings of runs with those the folder was started with; a new folder stores
   * them. Throws `invalid_argument`, naming the differing ones: runs under different conditions must not be
   * mixed.
   */
  assertOptions(options: { readonly [name: string]: unknown }): void {
    const path = join(this.path, "evaluation.json");
    const now = Object.fromEntries(
      Object.entries(options).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, digest(value)]],
      ),
    );
    const before = optionsIn(path);
    if (before === undefined) {
      this.#write(() => replaceFile(path, `${JSON.stringify({ v: 1, options: now })}\n`, { isSynced: true }));
      return;
    }
    const names = new Set([...Object.keys(before), ...Object.keys(now)]);
    const other = [...names].filter((name) => before[name] !== now[name]).sort();
    if (other.length === 0) return;
    throw invalidArgument(
      `The runs in ${this.path} were made with other options or settings (${other.join(", ")}). Give the same ones to continue, or name another folder with -o.`,
    );
  }
}

export function latestOfEach(records: readonly RunRecord[]): readonly RunRecord[] {
  const newest = new Map<string, RunRecord>();
  for (const record of records) {
    newest.delete(keyOf(record));
    newest.set(keyOf(record), record);
  }
  return [...newest.values()];
}

/** Makes a folder; false if it already exists. Other errors show when it is written to. */
function madeFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    return systemCode(error) !== "EEXIST";
  }
  return true;
}

function hasTornEnd(file: number): boolean {
  const { size } = fstatSync(file);
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  readSync(file, last, 0, 1, size - 1);
  return last[0] !== 0x0a;
}

/** Values may be private, so only hashes are stored, to compare them. */
function digest(value: unknown): string {
  const text = JSON.stringify(value, (_name, each: unknown) =>
    // The order of keys does not matter.
    isRecord(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each,
  );
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

function optionsIn(path: string): { readonly [name: string]: unknown } | undefined {
  let cause: unknown;
  try {
    const parsed = safeParse(textIn(path));
    const options = parsed.ok && isRecord(parsed.value) ? parsed.value["options"] : undefined;
    if (isRecord(options)) return options;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    cause = error;
  }
  const why = cause === undefined ? "" : `: ${errorMessage(cause)}`;
  throw invalidArgument(
    `${path} cannot be read${why}. Remove it if you know that the options are the same, or use another -o.`,
    { cause },
  );
}

const { O_APPEND, O_CREAT, O_NONBLOCK, O_RDONLY, O_RDWR } = constants;
const APPEND = O_RDWR | O_APPEND | O_CREAT;

/** Opens a regular file and nothing else: opening a pipe would wait for its other end. */
function openFile(path: string, flags: number): number {
  const file = openSync(path, flags | (O_NONBLOCK ?? 0), 0o600);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw new Error(`${path} is not a regular file`);
}

function textIn(path: string): string {
  const file = openFile(path, O_RDONLY);
  try {
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}

function foldersIn(parent: string): readonly string[] {
  try {
    return readdirSync(parent).map((name) => join(parent, name));
  } catch {
    // A folder we cannot list cannot be listed by our agents either.
    return [];
  }
}

/**
 * US dollars spent by runs that were interrupted before they had a result, according to their sessions;
 * undefined if a price is unknown. `known`: the sessions that have results.
 */
export function spentByInterrupted(
  { history: historyFolder }: ResultsFolder,
  known: ReadonlySet<string>,
): number | undefined {
  const left = sessionStore({ historyFolder })
    .list()
    .filter(({ sessionId }) => !known.has(sessionId));
  const spent = new SpendingTally();
  for (const { path } of left) readSession(path).entries.forEach((entry) => spent.add(entry));
  return spent.total.costUsd;
}

/** Settings that do not affect runs, are recorded with each, or may be raised to continue. */
const IGNORED_SETTINGS: ReadonlySet<string> = new Set<keyof ConfigFile>([
  "model",
  "maxBudgetUsd",
  "network",
  "memory",
  "undo",
  "undoLimits",
  "openTelemetry",
  "theme",
  "notifications",
  "keys",
]);

/** The settings that affect runs, wherever they come from. */
export function runSettingsOf(values: ConfigFile): { readonly [name: string]: unknown } {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !IGNORED_SETTINGS.has(name)));
}

/** One run of an evaluation: a line of `results.jsonl`. */
export interface RunRecord {
  readonly v: 1;
  readonly task: string;
  readonly hash: string;
  /** `provider/id[:effort]`, as requested. */
  readonly model: string;
  /** Number of the run for this task and model, from 1. */
  readonly repeat: number;
  readonly solved: boolean;
  /** The last line of the check's output, or how it ended. */
  readonly reason: string;
  /** If present, the run does not count for or against the model, and is repeated. */
  readonly error?: string;
  readonly stop: StopReason | "not_started";
  /** Answered model requests of the conversation. */
  readonly turns: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Part of `inputTokens` that was served from the provider's cache. */
  readonly cachedTokens: number;
  /** US dollars; `null` if a price is unknown. */
  readonly costUsd: number | null;
  readonly ms: number;
  readonly checkMs: number;
  readonly refused: number;
  readonly session: string;
  /** Time of its end in ISO 8601. */
  readonly time: string;
}

export type RunKey = Pick<RunRecord, "task" | "model" | "repeat">;

export function keyOf({ task, model, repeat }: RunKey): string {
  return JSON.stringify([task, model, repeat]);
}

const STRINGS = ["task", "hash", "model", "reason", "stop", "session", "time"] as const;
const NUMBERS = ["turns", "inputTokens", "outputTokens", "cachedTokens", "ms", "checkMs", "refused"] as const;

function isAmount(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/** True for a line of results. Ignores fields that a later version may add. */
function isRunRecord(value: unknown): value is RunRecord {
  if (!isRecord(value)) return false;
  const { v, repeat, solved, error = "", costUsd } = value;
  return (
    v === 1 &&
    Number.isSafeInteger(repeat) &&
    Number(repeat) >= 1 &&
    typeof solved === "boolean" &&
    typeof error === "string" &&
    (costUsd === null || isAmount(costUsd)) &&
    STRINGS.every((name) => typeof value[name] === "string") &&
    NUMBERS.every((name) => isAmount(value[name]))
  );
}

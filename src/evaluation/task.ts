import { createHash, type Hash } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { basename, join } from "node:path";
import { DURATION, parseDuration } from "../coding/settings/setting.ts";
import { findProblem, objectSchema } from "../core/base/check-options.ts";
import { errorMessage, invalidArgument } from "../core/base/errors.ts";
import { omitUndefined } from "../core/base/json.ts";
import { namesIn, textField } from "../extensions/markdown/fields.ts";
import { parseMarkdown } from "../extensions/markdown/front-matter.ts";
import { readTextFile } from "../extensions/markdown/read-text-file.ts";
import { isWithin } from "../system/real-path.ts";

export const TASK_FILE = "task.md";

const MAX_BYTES = 1_000_000;
/** `limits` as written in the front matter. */
interface GivenLimits {
  readonly turns?: number;
  readonly time?: string;
  readonly tokens?: number;
  readonly usd?: number;
  readonly check?: string;
}

const COUNT = { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const;
/** Refuses unknown names: a misspelled limit would silently not apply. */
const FRONT_MATTER = objectSchema({
  title: {},
  tags: {},
  limits: {
    type: ["object", "null"],
    properties: {
      turns: COUNT,
      time: DURATION,
      tokens: COUNT,
      usd: { type: "number", exclusiveMinimum: 0 },
      check: DURATION,
    },
    additionalProperties: false,
    "x-say": "lines of name: value below it, such as turns: 20",
  },
});
const DEFAULT_TIME_MS = 600_000;
const DEFAULT_CHECK_MS = 60_000;

export async function readTask(folder: string): Promise<Task | InvalidTask> {
  const name = basename(folder);
  const problems: string[] = [];
  const head = await readHead(folder, problems);
  const programs = { check: programProblem(folder, "check"), setup: programProblem(folder, "setup") };
  if (programs.check === undefined)
    problems.push(
      `has no check: add a program ${join(folder, "check")} that exits with 0 when the task is solved`,
    );
  else if (programs.check !== "") problems.push(programs.check);
  if (programs.setup !== undefined && programs.setup !== "") problems.push(programs.setup);
  const has = {
    files: hasFolder(folder, "files", problems),
    setup: programs.setup === "",
    reference: hasFolder(folder, "reference", problems),
  };
  const hash = hashOf(folder, problems);
  const referenceAnswer = readAnswer(folder, problems);
  if (head === undefined || hash === undefined || problems.length > 0) return { name, folder, problems };
  return { name, folder, has, ...head, hash, referenceAnswer };
}

type Head = Pick<Task, "title" | "tags" | "prompt" | "limits">;

async function readHead(folder: string, faults: string[]): Promise<Head | undefined> {
  const file = readTextFile(join(folder, TASK_FILE), { maxBytes: MAX_BYTES, boundary: folder });
  if (file === undefined) {
    faults.push(`has no ${TASK_FILE}: write one, with the prompt in it, or take the folder out of the suite`);
    return undefined;
  }
  const read = "fault" in file ? { fault: `${TASK_FILE} ${file.fault}` } : await parseMarkdown(file.text);
  if ("fault" in read) {
    faults.push("fault" in file ? read.fault : `${TASK_FILE}: ${read.fault}`);
    return undefined;
  }
  const { fields, body } = read;
  // A blank before a slash means that it is not a command.
  const prompt = body.replace(/^(?:[^\S\n]*\n)+/, "").trimEnd();
  if (prompt === "") faults.push(`${TASK_FILE} holds no prompt: write it below the front matter`);
  const problem = findProblem(fields, FRONT_MATTER, TASK_FILE);
  if (problem !== undefined) faults.push(`${TASK_FILE}: ${problem.message.replace(/\.$/, "")}`);
  const title = textField(fields, "title") ?? basename(folder);
  const tags = fields["tags"] === undefined ? [] : namesIn(fields["tags"]);
  if (tags === undefined) faults.push(`${TASK_FILE}: tags must be a list of texts, such as [small, shell]`);
  return { title, tags: tags ?? [], prompt, limits: limitsOf(fields["limits"] as GivenLimits) };
}

function limitsOf(given: GivenLimits | null | undefined): TaskLimits {
  const { time = "", check = "", turns, tokens, usd } = given ?? {};
  return {
    timeMs: parseDuration(time) ?? DEFAULT_TIME_MS,
    checkMs: parseDuration(check) ?? DEFAULT_CHECK_MS,
    ...omitUndefined({ turns, tokens, usd }),
  };
}

/** Why a program cannot be run. Empty: it can. Undefined: it does not exist. */
function programProblem(folder: string, name: "check" | "setup"): string | undefined {
  try {
    return problemOfProgram(folder, name);
  } catch (error) {
    return `${name} cannot be read: ${errorMessage(error)}`;
  }
}

function problemOfProgram(folder: string, name: "check" | "setup"): string | undefined {
  const path = join(folder, name);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (!stats.isFile()) return `${name} is not a file: make it a program`;
  if (!isWithin(realpathSync(path), realpathSync(folder)))
    return `${name} is a link that leads out of the task: put the program there itself`;
  if (/^#!.*\r\n/.test(firstBytes(path)))
    return `${name} has the line ends of Windows, with which no system finds its interpreter: save it with those of Unix`;
  try {
    accessSync(path, constants.X_OK);
    return "";
  } catch {
    return `${name} may not be executed: chmod +x ${path}`;
  }
}

function firstBytes(path: string): string {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(256);
    return bytes.toString("latin1", 0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}

function hasFolder(folder: string, name: string, faults: string[]): boolean {
  const stats = lstatSync(join(folder, name), { throwIfNoEntry: false });
  if (stats?.isSymbolicLink() === true)
    faults.push(
      `${name} is a link, and what it leads to is not a part of the task: put the folder itself there`,
    );
  else if (stats !== undefined && !stats.isDirectory())
    faults.push(`${name} is not a folder: make it one, or take it out`);
  return stats?.isDirectory() === true;
}

function hashOf(folder: string, faults: string[]): string | undefined {
  try {
    return hashFolder(folder);
  } catch (error) {
    faults.push(`cannot be read: ${errorMessage(error)}`);
    return undefined;
  }
}

function readAnswer(folder: string, faults: string[]): string | undefined {
  const name = "reference.md";
  const file = readTextFile(join(folder, name), { maxBytes: MAX_BYTES, boundary: folder });
  if (file === undefined || "text" in file) return file?.text;
  faults.push(`${name} ${file.fault}`);
  return undefined;
}

/**
 * SHA-256, in hexadecimal, of everything in a folder: names, contents, link targets, and executable bits.
 * Throws `invalid_argument` for anything but files, folders and links.
 */
export function hashFolder(folder: string): string {
  const hash = createHash("sha256");
  addFolder(hash, folder, "");
  return hash.digest("hex");
}

function addFolder(hash: Hash, folder: string, inside: string): void {
  const entries = readdirSync(folder, { withFileTypes: true });
  for (const entry of entries.sort((left, right) => (left.name < right.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    const name = `${inside}${entry.name}`;
    if (entry.isDirectory()) {
      addParts(hash, "folder", name);
      addFolder(hash, path, `${name}/`);
    } else if (entry.isSymbolicLink()) addParts(hash, "link", name, readlinkSync(path));
    else if (entry.isFile()) addFile(hash, path, name);
    else
      throw invalidArgument(
        `${path} is neither a file, a folder nor a link: take it out, or make it in a setup program.`,
      );
  }
}

/** Prefixes lengths, so that no two folders give the same bytes. */
function addParts(hash: Hash, ...parts: readonly string[]): void {
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:${part}`);
}

const CHUNK = 1024 * 1024;

function addFile(hash: Hash, path: string, name: string): void {
  const { mode, size } = statSync(path);
  addParts(hash, (mode & 0o100) === 0 ? "file" : "program", name, String(size));
  const descriptor = openSync(path, "r");
  try {
    const buffer = Buffer.alloc(Math.min(CHUNK, Math.max(1, size)));
    for (let read = readSync(descriptor, buffer); read > 0; read = readSync(descriptor, buffer))
      hash.update(buffer.subarray(0, read));
  } finally {
    closeSync(descriptor);
  }
}

interface TaskLimits {
  readonly turns?: number;
  /** Milliseconds the agent may take. */
  readonly timeMs: number;
  /** Input and output tokens together. */
  readonly tokens?: number;
  readonly usd?: number;
  /** Milliseconds that `setup` and `check` may each take. */
  readonly checkMs: number;
}

/** A task of a suite: a prompt, its files, and a program that checks whether it was solved. */
export interface Task {
  readonly name: string;
  readonly title: string;
  readonly tags: readonly string[];
  readonly prompt: string;
  readonly limits: TaskLimits;
  readonly folder: string;
  readonly hash: string;
  readonly has: { readonly files: boolean; readonly setup: boolean; readonly reference: boolean };
  /** An answer that solves it, passed to `check` on standard input. */
  readonly referenceAnswer: string | undefined;
}

/** The faults that make a folder unusable as a task: one sentence each, with the remedy. */
export interface InvalidTask {
  readonly name: string;
  readonly folder: string;
  readonly problems: readonly string[];
}

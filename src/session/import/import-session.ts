import { closeSync, rmSync } from "node:fs";
import type { NewEntry } from "../../core/agent/entries.ts";
import { misuse } from "../../core/base/errors.ts";
import { newUuid } from "../../core/base/ids.ts";
import { defined, type Fields, isRecord, safeParse } from "../../core/base/json.ts";
import type { Usage } from "../../core/message/message.ts";
import { SYSTEM_CALLS } from "../append-file.ts";
import { readLines } from "../read-lines.ts";
import type { DamagedLine } from "../scan-journal.ts";
import { openSessionFile } from "../session-file.ts";
import type { SessionStore } from "../session-store.ts";
import { type ForeignEntries, foreignEntries, type ImportRepairs } from "./foreign-entries.ts";
import {
  type ForeignProgram,
  type ForeignRecord,
  type ForeignSession,
  KindCount,
  type ParseForeign,
} from "./foreign-session.ts";
import { parseClaudeCode } from "./parse-claude-code.ts";
import { parseCodex } from "./parse-codex.ts";
import { parsePi } from "./parse-pi.ts";
import { readForeignLines } from "./read-foreign-lines.ts";

/** How a file is imported. */
export interface ImportOptions {
  /** Working folder the new session belongs to. */
  readonly cwd: string;
  /** Id of the new session. Default: made up. */
  readonly sessionId?: string;
  /** Also what is a session of that folder already. Default: true. */
  readonly again?: boolean;
  /** USD for usage of a model; undefined for an unknown price, which is the default for all. */
  readonly costOf?: (model: string, usage: Usage) => number | undefined;
}

/** Outcome of an imported file. */
export interface ImportReport {
  readonly file: string;
  readonly program: ForeignProgram;
  readonly sessionId: string;
  /** The session file that was made. */
  readonly path: string;
  readonly inputs: number;
  readonly answers: number;
  readonly calls: number;
  /** Lines that could not be used. */
  readonly damaged: readonly DamagedLine[];
  /** Records left out on purpose, by kind. */
  readonly leftOut: { readonly [kind: string]: number };
  /** Records and blocks of kinds that are not known, by kind; they were left out. */
  readonly unknown: { readonly [kind: string]: number };
  readonly repairs: Readonly<ImportRepairs>;
}

/**
 * Makes a session of a session file of Claude Code, Codex or pi, told apart by its records. Nothing in the
 * file is executed, opened or followed. Throws `invalid_argument` for a file that cannot be read, is of none
 * of the three, holds no message, or was imported before and is not to be `again`; `journal` when the session
 * cannot be written.
 */
export async function importSession(
  store: SessionStore,
  file: string,
  options: ImportOptions,
): Promise<ImportReport> {
  const { records, damaged } = readForeignLines(file);
  const session = parseForeign(file, records);
  const before = options.again === false ? importedBefore(store, session, options.cwd) : undefined;
  if (before !== undefined)
    throw misuse(
      `${file} was imported already, as the session ${before}. Go on with it with --resume ${before}, or import it once more with --again.`,
    );
  const sessionId = options.sessionId ?? newUuid();
  const { entries, repairs } = foreignEntries(session, {
    sessionId,
    costOf: options.costOf ?? (() => undefined),
  });
  const count = (fits: (entry: NewEntry) => boolean): number =>
    entries.filter(({ entry }) => fits(entry)).length;
  const answers = count(({ type }) => type === "assistant_message");
  const inputs = count(({ type }) => type === "user_message");
  if (answers + inputs === 0) throw misuse(`${file} holds no message that could be imported.`);
  const path = await write(store, { session, sessionId, entries, cwd: options.cwd });
  return {
    file,
    program: session.program,
    sessionId,
    path,
    inputs,
    answers,
    calls: count(({ type }) => type === "tool_result"),
    damaged,
    leftOut: Object.fromEntries(session.leftOut),
    unknown: Object.fromEntries(session.unknown),
    repairs,
  };
}

function foreignId({ sessionId }: ForeignSession): string | undefined {
  return sessionId?.slice(0, 200);
}

/** The session of a folder that was made of the same session of the other program. */
function importedBefore(store: SessionStore, session: ForeignSession, cwd: string): string | undefined {
  const id = foreignId(session);
  const isSame = ({ path }: { readonly path: string }): boolean => {
    try {
      const { program, sessionId } = originOf(path);
      return program === session.program && sessionId === id;
    } catch {
      // One that is removed at this moment keeps nothing from being imported.
      return false;
    }
  };
  return id === undefined ? undefined : store.list(cwd).find(isSame)?.sessionId;
}

/** The origin of an imported session, in its first record. */
function originOf(path: string): Fields {
  const descriptor = openSessionFile(path, "read");
  try {
    const [first] = readLines(descriptor);
    const header = safeParse(Buffer.from(first?.bytes ?? []).toString());
    const origin = header.ok && isRecord(header.value) ? header.value["importedFrom"] : undefined;
    return isRecord(origin) ? origin : {};
  } finally {
    closeSync(descriptor);
  }
}

/** Reads the records of a file of one of the programs. Throws `invalid_argument` for any other. */
export function parseForeign(file: string, records: readonly ForeignRecord[]): ForeignSession {
  if (records.some(({ fields }) => fields["v"] === 1 && typeof fields["sum"] === "string"))
    throw misuse(
      `${file} is a session of nano-agent already. Go on with it with --resume, or put it beside the others.`,
    );
  const program = foreignProgram(records);
  if (program === undefined)
    throw misuse(
      `${file} is not a session file of Claude Code, Codex or pi. Name one of their .jsonl files.`,
    );
  const counts = { leftOut: new KindCount(), unknown: new KindCount() };
  const parsed = PARSERS[program](records, counts);
  return { program, ...parsed, leftOut: counts.leftOut.counts, unknown: counts.unknown.counts };
}

const PARSERS: { readonly [program in ForeignProgram]: ParseForeign } = {
  "claude-code": parseClaudeCode,
  codex: parseCodex,
  pi: parsePi,
};

const CODEX_LINES: ReadonlySet<unknown> = new Set([
  "session_meta",
  "response_item",
  "event_msg",
  "turn_context",
  "compacted",
]);
const CODEX_ITEMS: ReadonlySet<unknown> = new Set([
  "function_call",
  "function_call_output",
  "reasoning",
  "local_shell_call",
  "custom_tool_call",
]);

/** The program whose records most of these are. */
function foreignProgram(records: readonly ForeignRecord[]): ForeignProgram | undefined {
  const votes = { "claude-code": 0, codex: 0, pi: 0 };
  for (const { fields } of records) {
    const program = programOf(fields);
    if (program !== undefined) votes[program]++;
  }
  const [best] = Object.entries(votes).sort(([, left], [, right]) => right - left);
  return best === undefined || best[1] === 0 ? undefined : (best[0] as ForeignProgram);
}

function programOf(fields: ForeignRecord["fields"]): ForeignProgram | undefined {
  const { type } = fields;
  if (CODEX_LINES.has(type) && "payload" in fields) return "codex";
  if (CODEX_ITEMS.has(type) || (type === "message" && "role" in fields)) return "codex";
  if ((type === "user" || type === "assistant") && "message" in fields) return "claude-code";
  if (type === "message" && "message" in fields) return "pi";
  return type === "session" && "timestamp" in fields ? "pi" : undefined;
}

interface NewImport {
  readonly session: ForeignSession;
  readonly sessionId: string;
  readonly entries: ForeignEntries["entries"];
  readonly cwd: string;
}

/** Writes the entries with their own times; all of them reach the disk together, before this resolves. */
async function write(store: SessionStore, { session, sessionId, entries, cwd }: NewImport): Promise<string> {
  const clock = { time: entries.find(({ time }) => time !== undefined)?.time ?? Date.now() };
  const disk = { waits: false };
  const journal = await store.start(cwd, {
    sessionId,
    now: () => clock.time,
    importedFrom: {
      program: session.program,
      ...defined({ sessionId: foreignId(session), cwd: session.cwd?.slice(0, 4_000) }),
    },
    calls: {
      write: SYSTEM_CALLS.write,
      sync: (descriptor) => (disk.waits ? SYSTEM_CALLS.sync(descriptor) : Promise.resolve()),
    },
  });
  try {
    for (const [at, { entry, time }] of entries.entries()) {
      clock.time = time ?? clock.time;
      disk.waits = at === entries.length - 1;
      await journal.append(entry);
    }
  } catch (error) {
    await journal.close().catch(() => undefined);
    rmSync(journal.path, { force: true });
    throw error;
  }
  await journal.close();
  return journal.path;
}

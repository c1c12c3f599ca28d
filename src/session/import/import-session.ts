import { rmSync } from "node:fs";
import type { NewEntry } from "../../core/agent/entries.ts";
import { invalidArgument } from "../../core/base/errors.ts";
import { newUuid } from "../../core/base/ids.ts";
import { omitUndefined } from "../../core/base/json.ts";
import type { StopReason } from "../../core/base/stop-reason.ts";
import {
  type AssistantBlock,
  addUsage,
  NO_USAGE,
  type ToolResultBlock,
  type ToolUseBlock,
  type Usage,
} from "../../core/message/message.ts";
import { OUTCOME_UNKNOWN } from "../../core/message/transcript.ts";
import { type DamagedLine, summarizeSession } from "../read-session.ts";
import type { SessionStore } from "../session-store.ts";
import {
  type ForeignAnswer,
  type ForeignItem,
  type ForeignProgram,
  type ForeignRecord,
  type ForeignSession,
  KindCount,
  type MutableAnswer,
  type ParseForeign,
  readForeignLines,
} from "./foreign-session.ts";
import { parseClaudeCode } from "./parse-claude-code.ts";
import { parseCodex } from "./parse-codex.ts";
import { parsePi } from "./parse-pi.ts";

/** Options for importing a file. */
export interface ImportOptions {
  /** Working folder the new session belongs to. */
  readonly cwd: string;
  /** Id of the new session. Default: generated. */
  readonly sessionId?: string;
  /** False: refuses a file that is already a session of that folder. Default: true. */
  readonly again?: boolean;
  /** USD for usage of a model; undefined for an unknown price, which is the default for all. */
  readonly costOf?: (model: string, usage: Usage) => number | undefined;
}

/** Outcome of an import. */
export interface ImportReport {
  readonly file: string;
  readonly program: ForeignProgram;
  readonly sessionId: string;
  /** The new session file. */
  readonly path: string;
  readonly inputs: number;
  readonly answers: number;
  readonly calls: number;
  /** Lines that could not be used. */
  readonly damaged: readonly DamagedLine[];
  /** Records left out on purpose, by kind. */
  readonly leftOut: { readonly [kind: string]: number };
  /** Records and blocks of unknown kinds, by kind; they were left out. */
  readonly unknown: { readonly [kind: string]: number };
  readonly repairs: Readonly<ImportRepairs>;
}

/**
 * Creates a session from a session file of Claude Code, Codex or pi, told apart by its records. Nothing in
 * the file is executed, opened or followed. Throws `invalid_argument` for a file that cannot be read, is from
 * none of the three, has no messages, or was imported before while `again` is false; `journal` if the session
 * cannot be written.
 */
export async function importSession(
  store: SessionStore,
  file: string,
  options: ImportOptions,
): Promise<ImportReport> {
  const { records, damaged } = readForeignLines(file);
  const session = parseForeign(file, records);
  const before = options.again === false ? previousImport(store, session, options.cwd) : undefined;
  if (before !== undefined)
    throw invalidArgument(
      `${file} was imported already, as the session ${before}. Resume it with --resume ${before}, or import it again with --again.`,
    );
  const sessionId = options.sessionId ?? newUuid();
  const { entries, repairs } = foreignEntries(session, sessionId, options.costOf);
  const count = (fits: (entry: NewEntry) => boolean): number =>
    entries.filter(({ entry }) => fits(entry)).length;
  const answers = count(({ type }) => type === "assistant_message");
  const inputs = count(({ type }) => type === "user_message");
  if (answers + inputs === 0) throw invalidArgument(`${file} holds no message that could be imported.`);
  const path = await writeSession(store, session, sessionId, entries, options.cwd);
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

function previousImport(store: SessionStore, session: ForeignSession, cwd: string): string | undefined {
  const id = foreignId(session);
  const isSame = ({ path }: { readonly path: string }): boolean => {
    const origin = summarizeSession(path).header?.importedFrom;
    return origin?.program === session.program && origin.sessionId === id;
  };
  return id === undefined ? undefined : store.list(cwd).find(isSame)?.sessionId;
}

/** Parses the records of a file from one of the programs. Throws `invalid_argument` for any other. */
export function parseForeign(file: string, records: readonly ForeignRecord[]): ForeignSession {
  if (records.some(({ fields }) => fields["v"] === 1 && typeof fields["sum"] === "string"))
    throw invalidArgument(
      `${file} is a session of nano-agent already. Resume it with --resume, or move it to the others.`,
    );
  const program = foreignProgram(records);
  if (program === undefined)
    throw invalidArgument(
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

/** Writes the entries with their own times; all of them are on the disk before this resolves. */
async function writeSession(
  store: SessionStore,
  session: ForeignSession,
  sessionId: string,
  entries: ForeignEntries["entries"],
  cwd: string,
): Promise<string> {
  const clock = { time: entries.find(({ time }) => time !== undefined)?.time ?? Date.now() };
  const journal = await store.start(cwd, {
    sessionId,
    now: () => clock.time,
    importedFrom: {
      program: session.program,
      ...omitUndefined({ sessionId: foreignId(session), cwd: session.cwd?.slice(0, 4_000) }),
    },
  });
  try {
    // Written in one go, in order; they share a sync.
    const stored = entries.map(async ({ entry, time }) => {
      clock.time = time ?? clock.time;
      await journal.append(entry);
    });
    await Promise.all(stored);
  } catch (error) {
    await journal.close().catch(() => undefined);
    rmSync(journal.path, { force: true });
    throw error;
  }
  await journal.close();
  return journal.path;
}

interface TimedEntry {
  readonly entry: NewEntry;
  readonly time: number | undefined;
}

interface ImportRepairs {
  /** Calls without a result, which got one that says so. */
  unansweredCalls: number;
  /** Results without a call, or duplicates, which were dropped. */
  strayResults: number;
  /** Calls whose id was missing or already used. */
  renamedCalls: number;
  /** Answers without content, which were dropped. */
  emptyAnswers: number;
}

interface ForeignEntries {
  readonly entries: readonly TimedEntry[];
  readonly repairs: ImportRepairs;
}

type UserItem = Extract<ForeignItem, { readonly type: "user" }>;
type ResultItem = Extract<ForeignItem, { readonly type: "result" }>;

/** The entries of a foreign conversation: runs with input, answers, calls; every call answered once. */
export function foreignEntries(
  session: ForeignSession,
  sessionId: string,
  costOf: ImportOptions["costOf"] = () => undefined,
): ForeignEntries {
  const writer = new EntryWriter(session, sessionId, costOf);
  for (const item of joinAnswers(session.items)) {
    if (item.type === "user") writer.user(item);
    else if (item.type === "assistant") writer.assistant(item);
  }
  return writer.end();
}

function joinAnswers(items: readonly ForeignItem[]): readonly ForeignItem[] {
  const list: ForeignItem[] = [];
  let last: MutableAnswer | undefined;
  for (const item of items) {
    const before = last;
    if (item.type !== "assistant") last = undefined;
    else if (before === undefined || before.finish === "interrupted" || before.model !== item.model)
      last = { ...item, content: [...item.content] };
    else {
      last = mergeAnswers(before, item);
      list.pop();
    }
    list.push(last ?? item);
  }
  return list;
}

/** Appends to the first's list: copying it each time would take quadratic time. */
function mergeAnswers(first: MutableAnswer, second: ForeignAnswer): MutableAnswer {
  for (const block of second.content) first.content.push(block);
  const usage =
    first.usage === undefined && second.usage === undefined
      ? undefined
      : addUsage(first.usage ?? NO_USAGE, second.usage ?? NO_USAGE);
  const costs = [first.costUsd, second.costUsd].filter((cost) => cost !== undefined);
  const costUsd = costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0);
  return { ...second, content: first.content, usage, costUsd, time: first.time ?? second.time };
}

class EntryWriter {
  readonly #sessionId: string;
  readonly #costOf: NonNullable<ImportOptions["costOf"]>;
  readonly #tools: readonly string[];
  /** By the id of their call, the first one last. */
  readonly #results = new Map<string, ResultItem[]>();
  readonly #usedIds = new Set<string>();
  /** By id: the number for its next copy. */
  readonly #copies = new Map<string, number>();
  readonly #entries: TimedEntry[] = [];
  readonly #repairs: ImportRepairs = {
    unansweredCalls: 0,
    strayResults: 0,
    renamedCalls: 0,
    emptyAnswers: 0,
  };
  #isOpen = false;
  #iterations = 0;
  #last: ForeignAnswer | undefined;

  constructor({ items }: ForeignSession, sessionId: string, costOf: NonNullable<ImportOptions["costOf"]>) {
    this.#sessionId = sessionId;
    this.#costOf = costOf;
    const names = items.flatMap((item) =>
      item.type === "assistant"
        ? item.content.flatMap((block) => (block.type === "tool_use" ? [block.name] : []))
        : [],
    );
    this.#tools = [...new Set(names)];
    for (const item of items.toReversed()) {
      if (item.type !== "result") continue;
      const id = item.result.tool_use_id;
      const later = this.#results.get(id);
      if (later === undefined) this.#results.set(id, [item]);
      else later.push(item);
    }
  }

  user({ content, isInput, time }: UserItem): void {
    const message = { role: "user", content } as const;
    const isInRun = this.#last !== undefined && hasCalls(this.#last.content);
    if (isInRun) {
      this.#write({ type: "user_message", message, source: isInput ? "steering" : "system" }, time);
      return;
    }
    if (this.#last !== undefined) this.#endRun(time);
    this.#startRun(undefined, time);
    this.#write({ type: "user_message", message, source: isInput ? "input" : "observed" }, time);
  }

  assistant(item: ForeignAnswer): void {
    const content = this.#withUniqueIds(item.content);
    if (content.length === 0) {
      this.#repairs.emptyAnswers++;
      return;
    }
    if (this.#last !== undefined && !hasCalls(this.#last.content)) this.#endRun(item.time);
    this.#startRun(item.model, item.time);
    const { model, usage = NO_USAGE, time, finish } = item;
    const costUsd = item.costUsd ?? (item.usage === undefined ? undefined : this.#costOf(model, item.usage));
    const isCut =
      finish === "interrupted" && !hasCalls(content) && content.every(({ type }) => type === "text");
    this.#write(
      {
        type: "assistant_message",
        message: { role: "assistant", content },
        model,
        finishReason: { unified: unifiedFinish(finish, content), raw: finish },
        usage,
        durationMs: 0,
        ...omitUndefined({ costUsd }),
        ...(isCut ? { interrupted: true } : {}),
      },
      time,
    );
    this.#iterations++;
    this.#last = { ...item, content };
    this.#writeCalls(item, content);
  }

  end(): ForeignEntries {
    this.#endRun(undefined);
    for (const left of this.#results.values()) this.#repairs.strayResults += left.length;
    return { entries: this.#entries, repairs: this.#repairs };
  }

  #writeCalls(item: ForeignAnswer, content: readonly AssistantBlock[]): void {
    const origins = item.content.filter((block) => block.type === "tool_use");
    const calls = content.filter((block) => block.type === "tool_use");
    calls.forEach((call, at) => {
      const found = this.#results.get(origins[at]?.id ?? call.id)?.pop();
      if (found === undefined) this.#repairs.unansweredCalls++;
      const time = found?.time ?? item.time;
      this.#write({ type: "tool_intent", callId: call.id, name: call.name, input: call.input }, time);
      this.#write(resultEntry(call, found?.result), time);
    });
  }

  #withUniqueIds(content: readonly AssistantBlock[]): readonly AssistantBlock[] {
    return content.map((block) => {
      if (block.type !== "tool_use") return block;
      let { id } = block;
      for (let n = this.#copies.get(block.id) ?? 2; id === "" || this.#usedIds.has(id); n++) {
        id = `${block.id === "" ? "call" : block.id}_${n}`;
        this.#copies.set(block.id, n + 1);
      }
      this.#usedIds.add(id);
      if (id === block.id) return block;
      this.#repairs.renamedCalls++;
      return { ...block, id };
    });
  }

  #startRun(model: string | undefined, time: number | undefined): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    const facts = { sessionId: this.#sessionId, model: model ?? "imported/unknown", tools: this.#tools };
    this.#write({ type: "run_start", ...facts }, time);
  }

  #endRun(time: number | undefined): void {
    if (!this.#isOpen) return;
    this.#write(
      { type: "run_end", stopReason: stopReasonOf(this.#last), iterations: this.#iterations },
      time,
    );
    this.#isOpen = false;
    this.#iterations = 0;
    this.#last = undefined;
  }

  #write(entry: NewEntry, time: number | undefined): void {
    this.#entries.push({ entry, time });
  }
}

function hasCalls(content: readonly AssistantBlock[]): boolean {
  return content.some(({ type }) => type === "tool_use");
}

function unifiedFinish(
  finish: ForeignAnswer["finish"],
  content: readonly AssistantBlock[],
): "stop" | "tool_use" | "length" | "refusal" | "other" {
  if (hasCalls(content)) return "tool_use";
  if (finish === "interrupted") return "other";
  return finish === "length" || finish === "refusal" ? finish : "stop";
}

function stopReasonOf(last: ForeignAnswer | undefined): StopReason {
  if (last === undefined || last.finish === "interrupted" || hasCalls(last.content)) return "aborted";
  if (last.finish === "length") return "output_limit";
  return last.finish === "refusal" ? "refusal" : "completed";
}

function resultEntry({ id, name }: ToolUseBlock, found: ToolResultBlock | undefined): NewEntry {
  const missing = { content: OUTCOME_UNKNOWN, is_error: true };
  const result: ToolResultBlock = { ...(found ?? missing), type: "tool_result", tool_use_id: id };
  const status = result.is_error === true ? "error" : "ok";
  return { type: "tool_result", callId: id, name, status, result, durationMs: 0 };
}

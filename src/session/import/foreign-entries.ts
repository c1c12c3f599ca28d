import type { NewEntry } from "../../core/agent/entries.ts";
import { defined } from "../../core/base/json.ts";
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
import type { ForeignAnswer, ForeignItem, ForeignSession, GrowingAnswer } from "./foreign-session.ts";

/** An entry to be written, and when it happened; undefined where the file does not say. */
export interface TimedEntry {
  readonly entry: NewEntry;
  readonly time: number | undefined;
}

/** Repairs that were needed so that the conversation can be sent. */
export interface ImportRepairs {
  /** Calls without a result, which got one that says so. */
  unansweredCalls: number;
  /** Results without a call, or a second one of a call, which were dropped. */
  strayResults: number;
  /** Calls whose id was missing or used before. */
  renamedCalls: number;
  /** Answers without content, which were dropped. */
  emptyAnswers: number;
}

/** A conversation as it can be written. */
export interface ForeignEntries {
  readonly entries: readonly TimedEntry[];
  readonly repairs: ImportRepairs;
}

/** Options of the entries. */
export interface EntryOptions {
  readonly sessionId: string;
  /** USD for usage of a model; undefined for an unknown price. */
  readonly costOf: (model: string, usage: Usage) => number | undefined;
}

type User = Extract<ForeignItem, { readonly type: "user" }>;
type Result = Extract<ForeignItem, { readonly type: "result" }>;

/** The entries of a foreign conversation: runs with input, answers, calls; every call answered once. */
export function foreignEntries(session: ForeignSession, options: EntryOptions): ForeignEntries {
  const writer = new EntryWriter(session, options);
  for (const item of joined(session.items)) {
    if (item.type === "user") writer.user(item);
    else if (item.type === "assistant") writer.assistant(item);
  }
  return writer.end();
}

function joined(items: readonly ForeignItem[]): readonly ForeignItem[] {
  const list: ForeignItem[] = [];
  /** The answer at the end of the list. */
  let last: GrowingAnswer | undefined;
  for (const item of items) {
    const before = last;
    if (item.type !== "assistant") last = undefined;
    else if (before === undefined || before.finish === "interrupted" || before.model !== item.model)
      last = { ...item, content: [...item.content] };
    else {
      last = joinedAnswer(before, item);
      list.pop();
    }
    list.push(last ?? item);
  }
  return list;
}

/** The list of the first goes on in both: a copy for each would take quadratic time. */
function joinedAnswer(first: GrowingAnswer, second: ForeignAnswer): GrowingAnswer {
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
  readonly #options: EntryOptions;
  readonly #tools: readonly string[];
  /** By the id of their call, the first one last. */
  readonly #results = new Map<string, Result[]>();
  readonly #usedIds = new Set<string>();
  /** By id: the number its next copy may bear. */
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

  constructor({ items }: ForeignSession, options: EntryOptions) {
    this.#options = options;
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

  user({ content, isInput, time }: User): void {
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
    const costUsd =
      item.costUsd ?? (item.usage === undefined ? undefined : this.#options.costOf(model, item.usage));
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
        ...defined({ costUsd }),
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
    const { sessionId } = this.#options;
    this.#write(
      { type: "run_start", sessionId, model: model ?? "imported/unknown", tools: this.#tools },
      time,
    );
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

import type { NewEntry } from "../../core/agent/entry.ts";
import { defined } from "../../core/base/defined.ts";
import type { StopReason } from "../../core/base/stop-reason.ts";
import type { AssistantBlock, ToolResultBlock, ToolUseBlock } from "../../core/message/block.ts";
import { OUTCOME_UNKNOWN } from "../../core/message/transcript.ts";
import { addUsage, NO_USAGE, type Usage } from "../../core/message/usage.ts";
import type { ForeignItem, ForeignSession } from "./foreign-session.ts";

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

/** Options of the entries. */
export interface EntryOptions {
  readonly sessionId: string;
  /** USD for usage of a model; undefined for an unknown price. */
  readonly costOf: (model: string, usage: Usage) => number | undefined;
}

type Assistant = Extract<ForeignItem, { readonly type: "assistant" }>;
type User = Extract<ForeignItem, { readonly type: "user" }>;
type Result = Extract<ForeignItem, { readonly type: "result" }>;

/** The entries of a foreign conversation: runs with input, answers, calls; every call answered once. */
export function foreignEntries(
  session: ForeignSession,
  options: EntryOptions,
): { readonly entries: readonly TimedEntry[]; readonly repairs: ImportRepairs } {
  const writer = new EntryWriter(session, options);
  for (const item of joined(session.items)) {
    if (item.type === "user") writer.user(item);
    else if (item.type === "assistant") writer.assistant(item);
  }
  return writer.end();
}

function joined(items: readonly ForeignItem[]): readonly ForeignItem[] {
  const list: ForeignItem[] = [];
  for (const item of items) {
    const last = list.at(-1);
    const joins = item.type === "assistant" && last?.type === "assistant";
    if (!joins || last.finish === "interrupted" || last.model !== item.model) list.push(item);
    else {
      const usage =
        last.usage === undefined && item.usage === undefined
          ? undefined
          : addUsage(last.usage ?? NO_USAGE, item.usage ?? NO_USAGE);
      const costs = [last.costUsd, item.costUsd].filter((cost) => cost !== undefined);
      const costUsd = costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0);
      list[list.length - 1] = {
        ...item,
        content: [...last.content, ...item.content],
        usage,
        costUsd,
        time: last.time ?? item.time,
      };
    }
  }
  return list;
}

class EntryWriter {
  readonly #options: EntryOptions;
  readonly #tools: readonly string[];
  readonly #results = new Map<string, Result[]>();
  readonly #usedIds = new Set<string>();
  readonly #entries: TimedEntry[] = [];
  readonly #repairs: ImportRepairs = {
    unansweredCalls: 0,
    strayResults: 0,
    renamedCalls: 0,
    emptyAnswers: 0,
  };
  #isOpen = false;
  #iterations = 0;
  #last: Assistant | undefined;

  constructor({ items }: ForeignSession, options: EntryOptions) {
    this.#options = options;
    const names = items.flatMap((item) =>
      item.type === "assistant"
        ? item.content.flatMap((block) => (block.type === "tool_use" ? [block.name] : []))
        : [],
    );
    this.#tools = [...new Set(names)];
    for (const item of items) {
      if (item.type !== "result") continue;
      const id = item.result.tool_use_id;
      this.#results.set(id, [...(this.#results.get(id) ?? []), item]);
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

  assistant(item: Assistant): void {
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

  end(): { readonly entries: readonly TimedEntry[]; readonly repairs: ImportRepairs } {
    this.#endRun(undefined);
    for (const left of this.#results.values()) this.#repairs.strayResults += left.length;
    return { entries: this.#entries, repairs: this.#repairs };
  }

  #writeCalls(item: Assistant, content: readonly AssistantBlock[]): void {
    const origins = item.content.filter((block) => block.type === "tool_use");
    const calls = content.filter((block) => block.type === "tool_use");
    calls.forEach((call, at) => {
      const found = this.#takeResult(origins[at]?.id ?? call.id);
      if (found === undefined) this.#repairs.unansweredCalls++;
      const time = found?.time ?? item.time;
      this.#write({ type: "tool_intent", callId: call.id, name: call.name, input: call.input }, time);
      this.#write(resultEntry(call, found?.result), time);
    });
  }

  #takeResult(id: string): Result | undefined {
    const left = this.#results.get(id) ?? [];
    const [found, ...rest] = left;
    if (rest.length > 0) this.#results.set(id, rest);
    else this.#results.delete(id);
    return found;
  }

  #withUniqueIds(content: readonly AssistantBlock[]): readonly AssistantBlock[] {
    return content.map((block) => {
      if (block.type !== "tool_use") return block;
      let { id } = block;
      for (let n = 2; id === "" || this.#usedIds.has(id); n++)
        id = `${block.id === "" ? "call" : block.id}_${n}`;
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
  finish: Assistant["finish"],
  content: readonly AssistantBlock[],
): "stop" | "tool_use" | "length" | "refusal" | "other" {
  if (hasCalls(content)) return "tool_use";
  if (finish === "interrupted") return "other";
  return finish === "length" || finish === "refusal" ? finish : "stop";
}

function stopReasonOf(last: Assistant | undefined): StopReason {
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

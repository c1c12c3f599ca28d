import type { JournalEntry, ToolResultEntry } from "../core/agent/entries.ts";
import type { Fold } from "../core/agent/ports.ts";
import type { LoopCircle } from "../core/agent/result.ts";
import { equalJson } from "../core/base/json.ts";
import { type ToolUseBlock, textOf, toolCallsOf } from "../core/message/message.ts";
import { CallOrder } from "../journal/call-order.ts";

/** When a model that repeats itself is warned and stopped. */
export interface LoopGuardOptions {
  /** Equal rounds after which the model is told, from 2. Default 3. */
  readonly warnAt?: number;
  /** Equal rounds after which the run ends with `loop_detected`; more than `warnAt`. Default 5. */
  readonly stopAt?: number;
  /** Calls after which a cycle of two to four different ones ends the run; 0 looks for none. Default 12. */
  readonly window?: number;
}

/** {@link LoopGuardOptions} with the defaults filled in. */
export type LoopGuardSettings = Required<LoopGuardOptions>;

/** The verdict of a guard after a round of calls. */
export interface LoopVerdict {
  readonly type: "warn" | "stop";
  readonly circle: LoopCircle;
}

/** The longest cycle that is looked for. */
const MAX_PERIOD = 4;

/** A result that only says that the call was done: done again, it may well have an effect again. */
const ACKNOWLEDGEMENT = /^(?:ok|okay|done|success|true|null|\{\}|\(no output\))[.!]?$/i;

interface Circle {
  readonly period: number;
  /** Calls in it so far. */
  readonly length: number;
  readonly stop: boolean;
}

/** A call with its result, of which `said` is what counts. */
interface SeenCall extends Pick<ToolResultEntry, "status" | "result"> {
  readonly call: ToolUseBlock;
  readonly said: string;
  /** The same number for calls that are the same. */
  readonly kind: number;
}

/**
 * Watches the calls of one transcript for going in circles: the same call (equal arguments, whatever the
 * order of their keys) with the same result again and again, or a cycle of two to four such calls. Any call
 * that is different, and any result that is, ends a circle. A fold over the journal in the order of the
 * calls; keeps the newest four, however long the session is.
 */
export class LoopGuard implements Fold {
  /** Calls of the newest answer. */
  #calls: readonly ToolUseBlock[] = [];
  readonly #order = new CallOrder<ToolResultEntry>();
  /** The newest calls, newest first. */
  readonly #last: SeenCall[] = [];
  /** For each period from 1: how many calls in a row were like the one that many calls before. */
  readonly #repeats: number[] = [0, 0, 0, 0];
  #kinds = 0;
  #warned = false;

  apply(entry: JournalEntry): void {
    if (entry.type === "run_start") this.begin();
    else if (entry.type === "assistant_message") this.answer(toolCallsOf(entry.message));
    else if (entry.type === "tool_result" && entry.parentCallId === undefined) this.result(entry);
  }

  /** A run begins: before it is stopped the model is warned in it. */
  begin(): void {
    this.#warned = false;
  }

  /** The calls of an answer. Those of the answer before that were never answered do not count. */
  answer(calls: readonly ToolUseBlock[]): void {
    this.#calls = calls;
    this.#order.begin(calls.map(({ id }) => id));
  }

  /** The result of one of them, in any order: it counts when those before it are there. */
  result(entry: ToolResultEntry): void {
    for (const result of this.#order.add(entry.callId, entry)) {
      const call = this.#calls.find(({ id }) => id === result.callId);
      if (call !== undefined) this.#count(call, result);
    }
  }

  /**
   * The step to take now that a round of calls has its results; none most of the time. A run is stopped only
   * after the model was warned in it and went on all the same. `bounded`: something else ends the run in the
   * end; then calls that are answered with a bare acknowledgement count as work, for the guard cannot know.
   */
  judge(settings: LoopGuardSettings, { bounded }: { readonly bounded: boolean }): LoopVerdict | undefined {
    const circle = this.#circle(settings, bounded);
    if (circle === undefined) {
      this.#warned = false;
      return undefined;
    }
    const { period, length, stop } = circle;
    const tools = this.#last.slice(0, period).map(({ call }) => call.name);
    const found = { tools: tools.reverse(), calls: length };
    if (this.#warned) return stop ? { type: "stop", circle: found } : undefined;
    this.#warned = true;
    return { type: "warn", circle: found };
  }

  /** The circle of the newest calls to be spoken of: one that is to be stopped, else the shortest. */
  #circle(settings: LoopGuardSettings, bounded: boolean): Circle | undefined {
    let found: Circle | undefined;
    for (let period = 1; period <= MAX_PERIOD; period++) {
      const repeats = this.#repeats[period - 1] ?? 0;
      if (repeats === 0 || (period > 1 && settings.window < 2 * period)) continue;
      if (bounded && this.#last.slice(0, period).every(isBare)) continue;
      const length = repeats + period;
      const { warnAt, stopAt } = countsFor(period, settings);
      if (length >= stopAt) return { period, length, stop: true };
      if (length >= warnAt) found ??= { period, length, stop: false };
    }
    return found;
  }

  #count(call: ToolUseBlock, result: ToolResultEntry): void {
    if (result.status === "aborted") {
      // Nobody knows what it would have said.
      this.#last.length = 0;
      this.#repeats.fill(0);
      return;
    }
    const outcome = { status: result.status, result: result.result, said: saidBy(result) };
    const same = this.#last.find((each) => isSame(each, call, outcome));
    const kind = same?.kind ?? ++this.#kinds;
    for (let at = 0; at < MAX_PERIOD; at++)
      this.#repeats[at] = this.#last[at]?.kind === kind ? (this.#repeats[at] ?? 0) + 1 : 0;
    this.#last.unshift({ call, ...outcome, kind });
    if (this.#last.length > MAX_PERIOD) this.#last.pop();
  }
}

/** Calls in a circle of `period` calls after which the model is warned, and the run stopped. */
export function countsFor(
  period: number,
  { warnAt, stopAt, window }: LoopGuardSettings,
): { readonly warnAt: number; readonly stopAt: number } {
  if (period === 1) return { warnAt, stopAt };
  const stop = Math.min(stopAt * period, window);
  return { warnAt: Math.min(warnAt * period, stop - period), stopAt: stop };
}

function saidBy({ result: { content }, fingerprint }: ToolResultEntry): string {
  return fingerprint ?? (typeof content === "string" ? content : JSON.stringify(content));
}

/** Results differ in most cases, and cost less to compare than arguments. */
function isSame(
  seen: SeenCall,
  call: ToolUseBlock,
  { status, said }: Pick<SeenCall, "status" | "said">,
): boolean {
  return (
    seen.said === said &&
    seen.status === status &&
    seen.call.name === call.name &&
    seen.call.invalid_input?.raw === call.invalid_input?.raw &&
    equalJson(seen.call.input, call.input)
  );
}

function isBare({ status, result }: SeenCall): boolean {
  return status === "ok" && ACKNOWLEDGEMENT.test(textOf(result.content).trim());
}

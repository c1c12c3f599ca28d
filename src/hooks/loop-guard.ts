import type { JournalEntry, ToolResultEntry } from "../core/agent/entries.ts";
import type { Fold } from "../core/agent/ports.ts";
import type { Ending, LoopCircle } from "../core/agent/result.ts";
import { AbortedAnswer, type Run, type RunPlugin, recordSystemMessage } from "../core/agent/run.ts";
import { check, objectSchema } from "../core/base/check-options.ts";
import { invalidArgument } from "../core/base/errors.ts";
import { equalJson } from "../core/base/json.ts";
import { type ToolUseBlock, textOf, toolCallsOf } from "../core/message/message.ts";
import type { StreamPart } from "../core/model/model.ts";
import { CallOrder } from "../journal/call-order.ts";

/** When a model that repeats itself is warned and stopped. */
export interface LoopGuardOptions {
  /** Identical rounds before the model is warned, from 2. Default 3. */
  readonly warnAt?: number;
  /** Identical rounds before the run ends with `loop_detected`; more than `warnAt`. Default 5. */
  readonly stopAt?: number;
  /** Calls after which a cycle of two to four different calls ends the run; 0 disables it. Default 12. */
  readonly window?: number;
}

export type LoopGuardSettings = Required<LoopGuardOptions>;

const ADVICE =
  "Going on like this will not change anything: work with what you know, try something else, or say what is in the way.";

/**
 * Warns a model that repeats itself, in its calls or within one answer, and ends the run if it continues.
 * Throws `invalid_argument` for invalid options.
 */
export function loopGuardPlugin(options: LoopGuardOptions = {}): RunPlugin {
  const settings = loopGuardSettings(options);
  return {
    fold: LoopGuard,
    watchAnswer: () => {
      const repeated = new RepetitionDetector();
      return (part) => repeated.add(part);
    },
    afterTurn: (run) => {
      const bounded = Number.isFinite(run.until.maxIterations);
      const verdict = run.state.fold(LoopGuard)?.judge(settings, { bounded });
      return verdict === undefined ? undefined : warnOrStop(run, verdict);
    },
  };
}

async function warnOrStop(run: Run, { type, circle }: LoopVerdict): Promise<Ending | undefined> {
  const finding = loopText(circle);
  if (type === "stop")
    return { stopReason: "loop_detected", circle, detail: `${finding} The model was warned and continued.` };
  await recordSystemMessage(run, `${finding} ${ADVICE}`, { code: "loop_warning", circle });
  return undefined;
}

const OPTIONS = objectSchema<LoopGuardOptions>({
  warnAt: { type: "integer", minimum: 2 },
  stopAt: { type: "integer", minimum: 3 },
  window: { type: "integer", minimum: 0 },
});

export function loopGuardSettings(options: LoopGuardOptions): LoopGuardSettings {
  check(options, OPTIONS, "loopGuard");
  const { warnAt, stopAt = 5, window = 12 } = options;
  const settings = { stopAt, warnAt: warnAt ?? Math.min(3, stopAt - 1), window };
  if (settings.warnAt < settings.stopAt) return settings;
  throw invalidArgument(
    `loopGuard.warnAt is ${settings.warnAt} and stopAt ${settings.stopAt}: the model must be warned before it is stopped. Pass a lower warnAt.`,
  );
}

export function loopText({ tools, calls }: LoopCircle): string {
  const [only, ...others] = tools;
  if (others.length === 0)
    return `The last ${calls} calls of ${only ?? "the tool"} had the same arguments and the same result.`;
  return `The last ${calls} tool calls repeat the same ${tools.length} (${tools.join(", ")}) with the same arguments and the same results.`;
}

export interface LoopVerdict {
  readonly type: "warn" | "stop";
  readonly circle: LoopCircle;
}

const MAX_PERIOD = 4;

/** A result that only confirms the call: doing it again may well have another effect. */
const ACKNOWLEDGEMENT = /^(?:ok|okay|done|success|true|null|\{\}|\(no output\))[.!]?$/i;

interface Repetition {
  readonly period: number;
  readonly length: number;
  readonly stop: boolean;
}

/** A call and its result; `comparison` is the part of the result that counts. */
interface CallOutcome extends Pick<ToolResultEntry, "status" | "result"> {
  readonly call: ToolUseBlock;
  readonly comparison: string;
  /** A hash that is equal for equal calls. */
  readonly kind: number;
}

/**
 * Detects repetition in the calls of one transcript: the same call (equal arguments in any key order) with
 * the same result, or a cycle of two to four such calls. Any different call or result ends a repetition. A
 * fold over the journal in call order; it keeps only the newest four calls.
 */
export class LoopGuard implements Fold {
  /** Calls of the newest answer. */
  #calls: readonly ToolUseBlock[] = [];
  readonly #order = new CallOrder<ToolResultEntry>();
  readonly #last: CallOutcome[] = [];
  /** For each period from 1: how many calls in a row equal the call that many places before. */
  readonly #repeats: number[] = [0, 0, 0, 0];
  #kinds = 0;
  #warned = false;

  apply(entry: JournalEntry): void {
    if (entry.type === "run_start") this.startRun();
    else if (entry.type === "assistant_message") this.startAnswer(toolCallsOf(entry.message));
    else if (entry.type === "tool_result" && entry.parentCallId === undefined) this.addResult(entry);
  }

  /** A run starts: it must warn before it stops. */
  startRun(): void {
    this.#warned = false;
  }

  /** The calls of an answer. Unanswered calls of the previous one do not count. */
  startAnswer(calls: readonly ToolUseBlock[]): void {
    this.#calls = calls;
    this.#order.begin(calls.map(({ id }) => id));
  }

  /** The result of a call, in any order: it counts once all results before it are there. */
  addResult(entry: ToolResultEntry): void {
    for (const result of this.#order.add(entry.callId, entry)) {
      const call = this.#calls.find(({ id }) => id === result.callId);
      if (call !== undefined) this.#count(call, result);
    }
  }

  /**
   * What to do now that a round of calls has its results; usually nothing. A run is stopped only if the model
   * was warned in it and continued. `bounded`: something else will end the run; then calls answered by a bare
   * confirmation count as progress, because the guard cannot know.
   */
  judge(settings: LoopGuardSettings, { bounded }: { readonly bounded: boolean }): LoopVerdict | undefined {
    const circle = this.#findRepetition(settings, bounded);
    if (circle === undefined) {
      this.#warned = false;
      return undefined;
    }
    const { period, length, stop } = circle;
    const tools = this.#last.slice(0, period).map(({ call }) => call.name);
    const finding = { tools: tools.reverse(), calls: length };
    if (this.#warned) return stop ? { type: "stop", circle: finding } : undefined;
    this.#warned = true;
    return { type: "warn", circle: finding };
  }

  /** The repetition to report: one that must be stopped, otherwise the shortest. */
  #findRepetition(settings: LoopGuardSettings, bounded: boolean): Repetition | undefined {
    let finding: Repetition | undefined;
    for (let period = 1; period <= MAX_PERIOD; period++) {
      const repeats = this.#repeats[period - 1] ?? 0;
      if (repeats === 0 || (period > 1 && settings.window < 2 * period)) continue;
      if (bounded && this.#last.slice(0, period).every(isBareConfirmation)) continue;
      const length = repeats + period;
      const { warnAt, stopAt } = thresholdsFor(period, settings);
      if (length >= stopAt) return { period, length, stop: true };
      if (length >= warnAt) finding ??= { period, length, stop: false };
    }
    return finding;
  }

  #count(call: ToolUseBlock, result: ToolResultEntry): void {
    if (result.status === "aborted") {
      // Its result is unknown.
      this.#last.length = 0;
      this.#repeats.fill(0);
      return;
    }
    const outcome = { status: result.status, result: result.result, comparison: resultText(result) };
    const same = this.#last.find((each) => isSame(each, call, outcome));
    const kind = same?.kind ?? ++this.#kinds;
    for (let at = 0; at < MAX_PERIOD; at++)
      this.#repeats[at] = this.#last[at]?.kind === kind ? (this.#repeats[at] ?? 0) + 1 : 0;
    this.#last.unshift({ call, ...outcome, kind });
    if (this.#last.length > MAX_PERIOD) this.#last.pop();
  }
}

/** How many calls in a cycle of `period` warn the model, and how many stop the run. */
export function thresholdsFor(
  period: number,
  { warnAt, stopAt, window }: LoopGuardSettings,
): { readonly warnAt: number; readonly stopAt: number } {
  if (period === 1) return { warnAt, stopAt };
  const stop = Math.min(stopAt * period, window);
  return { warnAt: Math.min(warnAt * period, stop - period), stopAt: stop };
}

function resultText({ result: { content }, fingerprint }: ToolResultEntry): string {
  return fingerprint ?? (typeof content === "string" ? content : JSON.stringify(content));
}

/** Compare results first: they usually differ and are cheaper to compare than arguments. */
function isSame(
  seen: CallOutcome,
  call: ToolUseBlock,
  { status, comparison }: Pick<CallOutcome, "status" | "comparison">,
): boolean {
  return (
    seen.comparison === comparison &&
    seen.status === status &&
    seen.call.name === call.name &&
    seen.call.invalid_input?.raw === call.invalid_input?.raw &&
    equalJson(seen.call.input, call.input)
  );
}

function isBareConfirmation({ status, result }: CallOutcome): boolean {
  return status === "ok" && ACKNOWLEDGEMENT.test(textOf(result.content).trim());
}

/** Characters of pure repetition, and how often the repeated text occurs in them. */
const MIN_REPEATED_CHARS = 8_000;
const MIN_REPEATS = 20;
/** Three words. Rulers, padding, tables of figures and encoded data have none. */
const WORDS = /\p{L}\P{L}*\s\P{L}*\p{L}+\P{L}*\s\P{L}*\p{L}/u;
/** Letters of scripts without spaces, and many others. */
const OTHER_LETTERS = /(?![A-Za-z])\p{L}/gu;
/** This many distinct letters count as three words. */
const MIN_LETTERS = 6;
/** New characters between two checks. */
const CHECK_INTERVAL = 1_024;
/** Characters by which repeated text is recognized. */
const PROBE = 48;

/**
 * Detects text that one answer repeats without end, in text or reasoning, as small models do. Only
 * exact repetition counts: at least twenty times within at least 8,000 characters. Arguments of calls are
 * ignored: file contents may look like that.
 */
export class RepetitionDetector {
  readonly #tails = { text_delta: "", thinking_delta: "" };
  #unchecked = 0;

  /** Takes a part. Throws {@link AbortedAnswer}. */
  add(part: StreamPart): void {
    if (part.type !== "text_delta" && part.type !== "thinking_delta") return;
    const tail = this.#tails[part.type] + part.text;
    this.#tails[part.type] = tail;
    this.#unchecked += part.text.length;
    if (this.#unchecked < CHECK_INTERVAL) return;
    this.#unchecked = 0;
    this.#tails[part.type] = tail.slice(-MIN_REPEATED_CHARS);
    const finding = repetitionIn(this.#tails[part.type]);
    if (finding === undefined) return;
    const { repeatedText, times, surplus } = finding;
    const message = `The model wrote ${JSON.stringify(repeatedText)} ${times} times in a row.`;
    // Repetition in reasoning is not part of the text, so nothing there is surplus.
    throw new AbortedAnswer(message, part.type === "text_delta" ? surplus : 0);
  }
}

/** The text repeated at the end of a text, and how many trailing characters add nothing new. */
export function repetitionIn(
  text: string,
): { readonly repeatedText: string; readonly times: number; readonly surplus: number } | undefined {
  const probe = text.slice(-PROBE);
  const before = text.lastIndexOf(probe, text.length - PROBE - 1);
  if (before === -1) return undefined;
  const period = text.length - PROBE - before;
  const repeatedText = text.slice(-period);
  if (text.length < MIN_REPEATED_CHARS || period * MIN_REPEATS > MIN_REPEATED_CHARS) return undefined;
  if (!WORDS.test(repeatedText) && new Set(repeatedText.match(OTHER_LETTERS)).size < MIN_LETTERS)
    return undefined;
  const end = text.slice(-MIN_REPEATED_CHARS);
  if (end.slice(period) !== end.slice(0, -period)) return undefined;
  return {
    repeatedText: rotateToSentence(repeatedText).slice(0, 200).toWellFormed(),
    times: Math.floor(MIN_REPEATED_CHARS / period),
    surplus: MIN_REPEATED_CHARS - period,
  };
}

/** The repeated text, rotated to start with a sentence if it has one. */
function rotateToSentence(repeatedText: string): string {
  const end = /[.!?:;\n]\s+|[。！？；]\s*/u.exec(repeatedText + repeatedText);
  const from = end === null ? 0 : (end.index + end[0].length) % repeatedText.length;
  return repeatedText.slice(from) + repeatedText.slice(0, from);
}

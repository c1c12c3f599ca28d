import type { AgentEvent } from "../core/agent/entries.ts";
import type { DecisionCode, RunResult } from "../core/agent/result.ts";
import type { NanoAgentError } from "../core/base/errors.ts";
import { omitUndefined } from "../core/base/json.ts";
import type { StopReason } from "../core/base/stop-reason.ts";
import { quoteShellArgument, TextBuffer } from "../core/base/text.ts";
import type { ToolInput, Usage } from "../core/message/message.ts";
import type { BudgetLimit } from "../core/model/budget.ts";
import { type ModelSpending, SpendingTally } from "../journal/session-usage.ts";
import { callTitle } from "./call-text.ts";
import { type Evidence, NO_EVIDENCE } from "./evidence.ts";
import { type EndingSignal, EXIT, exitCodeOfError, SIGNAL_EXITS } from "./exit-code.ts";
import { ENDING_TEXTS, endReason } from "./words.ts";

/** A refused call. */
export interface Denial {
  readonly callId: string;
  readonly name: string;
  readonly input: ToolInput;
  readonly reason: string;
  /** The reason for programs; absent if the gate gave none. */
  readonly code?: DecisionCode;
  /** Why it needed approval, if there was no one to ask. */
  readonly questionCode?: DecisionCode;
  /** The rule that would allow it. */
  readonly suggestion?: string;
}

/** How a run ended, in one word, for programs and for choosing the next step. */
export type OutcomeCode =
  | "success"
  | "error_during_execution"
  | "error_max_turns"
  | "error_max_budget_usd"
  | "error_max_wall_time"
  | "error_max_structured_output_retries"
  | "error_loop_detected"
  | "error_output_limit"
  | "error_refusal"
  | "error_denied"
  | "error_until"
  | "error_interrupted";

/** One line for people: what stopped the run and how to continue. */
export interface Advice {
  readonly code: OutcomeCode;
  readonly text: string;
}

/** How a run ended, the same for every frontend. */
export interface Outcome {
  readonly stopReason: StopReason;
  readonly code: OutcomeCode;
  /** The answer; for a failed run, the partial text of the last attempt. */
  readonly text: string;
  /** The value for the requested schema. */
  readonly output?: unknown;
  readonly error?: NanoAgentError;
  /** The limit reached, if `stopReason` is `budget`. */
  readonly limit?: BudgetLimit;
  readonly denials: readonly Denial[];
  /** The files that changed, and the commands run afterwards to check them. */
  readonly evidence: Evidence;
  /** Cost of the run in USD; `undefined` if a price is unknown. */
  readonly cost: number | undefined;
  /** Tokens of the run, including subagents. */
  readonly usage: Usage;
  /** Usage and cost of each model, by `provider/id`. */
  readonly models: readonly ModelSpending[];
  /** Answered model requests of the conversation. */
  readonly turns: number;
  readonly durationMs: number;
  /** Time spent in requests. */
  readonly apiDurationMs: number;
  /** The exit code the program ends with; see `EXIT`. */
  readonly exitCode: number;
  /** Options that continue the session; absent if nothing is stored. */
  readonly goOn?: string;
  /** Absent for plain success. */
  readonly advice?: Advice;
}

/** Facts about a run besides its result. */
export interface OutcomeFacts extends TalliedFacts {
  readonly signal?: EndingSignal | undefined;
  /** The command that continues the session; absent if nothing is stored. */
  readonly goOn?: string | undefined;
  readonly wantsOutput: boolean;
  /** True if commands can be confined, so that `auto` lets them run. */
  readonly hasSandbox?: boolean;
  readonly durationMs: number;
  /** Default: nothing was done. */
  readonly evidence?: Evidence;
}

/** The outcome of a run that produced a result. */
export function outcomeOf(result: RunResult, facts: OutcomeFacts): Outcome {
  const { stopReason, text, limit, error, output } = result;
  const { signal, denials } = facts;
  const missesOutput = facts.wantsOutput && output === undefined;
  const code = signal === undefined ? codeOf(result, missesOutput) : "error_interrupted";
  const advice = adviceFor(result, facts, code);
  const isRefused = denials.length > 0 && CODES[stopReason] === "success";
  const exitCode = isRefused
    ? EXIT.refused
    : (EXITS[code] ?? (error ? exitCodeOfError(error.code) : EXIT.failed));
  return toOutcome(facts, { stopReason, code, exitCode, text, output, limit, error, advice });
}

/** The outcome of a run whose answer was rejected by its required command. `wrong`: the reason. */
export function untilFailedOutcome(result: RunResult, failure: string, facts: OutcomeFacts): Outcome {
  if (facts.signal !== undefined) return outcomeOf(result, facts);
  const { stopReason, text, output } = result;
  const advice = `${failure} What was changed so far is kept; ${nextStep(facts, "run again to continue")}.`;
  return toOutcome(facts, { stopReason, code: "error_until", exitCode: EXIT.failed, text, output, advice });
}

/** The outcome of a run that threw, was abandoned, or never began. */
export function failedOutcome(error: NanoAgentError, facts: OutcomeFacts, text = ""): Outcome {
  const hasFailed = facts.signal === undefined;
  return toOutcome(facts, {
    stopReason: error.code === "aborted" ? "aborted" : "error",
    code: hasFailed ? "error_during_execution" : "error_interrupted",
    exitCode: exitCodeOfError(error.code),
    text,
    error,
    advice: hasFailed ? error.message : interruptedAdvice(facts),
  });
}

/** The outcome of a message that hooks or rules blocked. */
export function refusedOutcome(reason: string, facts: OutcomeFacts): Outcome {
  const advice = `The message was not sent: ${reason}`;
  const refused = { stopReason: "denied", code: "error_denied", exitCode: EXIT.refused } as const;
  return toOutcome(facts, { ...refused, text: "", advice });
}

/** The outcome of a message handled by a command. */
export function doneOutcome(facts: OutcomeFacts): Outcome {
  return toOutcome(facts, { stopReason: "completed", code: "success", exitCode: EXIT.done, text: "" });
}

type Ending = Pick<Outcome, "stopReason" | "code" | "exitCode" | "text"> & {
  readonly [F in "output" | "limit" | "error"]?: Outcome[F] | undefined;
} & { readonly advice?: string | undefined };

/** The exit code of the ending applies unless a signal ended the run. */
function toOutcome(
  {
    signal,
    wantsOutput: _wantsOutput,
    hasSandbox: _hasSandbox,
    lastFailure: _lastFailure,
    evidence = NO_EVIDENCE,
    goOn,
    ...tallied
  }: OutcomeFacts,
  { exitCode, advice: text, output, limit, error, ...ending }: Ending,
): Outcome {
  const advice = text === undefined ? undefined : { code: ending.code, text };
  return {
    ...tallied,
    ...ending,
    evidence,
    exitCode: signal === undefined ? exitCode : SIGNAL_EXITS[signal],
    ...omitUndefined({ output, limit, error, goOn, advice }),
  };
}

/** A further sentence on how to continue; empty if nothing is stored. */
export function resumeText(goOn: string | undefined): string {
  return goOn === undefined ? "" : ` Go on with ${goOn}.`;
}

function interruptedAdvice(facts: OutcomeFacts): string {
  const next = nextStep(facts, "run again and say what is left to do");
  return `Interrupted. What was changed so far is kept; ${next}.`;
}

function codeOf({ stopReason, limit, error }: RunResult, missesOutput: boolean): OutcomeCode {
  if (stopReason === "budget" && limit === "wall_time") return "error_max_wall_time";
  const code = CODES[stopReason];
  const isMissing = code === "success" || error?.details["neverCalled"] !== undefined;
  return missesOutput && isMissing ? "error_max_structured_output_retries" : code;
}

const CODES: { readonly [reason in RunResult["stopReason"]]: OutcomeCode } = {
  completed: "success",
  finish_tool: "success",
  structured_output: "success",
  max_iterations: "error_max_turns",
  budget: "error_max_budget_usd",
  denied: "error_denied",
  awaiting_approval: "error_denied",
  awaiting_external: "error_during_execution",
  loop_detected: "error_loop_detected",
  output_limit: "error_output_limit",
  refusal: "error_refusal",
  aborted: "error_interrupted",
  error: "error_during_execution",
};

const EXITS: { readonly [C in OutcomeCode]?: number } = {
  success: EXIT.done,
  error_denied: EXIT.refused,
  error_max_turns: EXIT.turnLimit,
  error_max_budget_usd: EXIT.budget,
  error_max_wall_time: EXIT.wallTime,
  error_loop_detected: EXIT.loop,
};

/** Advice that ends with what to change for the next run. */
const RETRY_ADVICE: { readonly [C in OutcomeCode]?: string } = {
  error_max_turns: "with a higher --max-turns",
  error_max_budget_usd: "with a higher --max-budget-usd",
  error_max_wall_time: "with a longer --max-wall-time",
  error_loop_detected: "and say what to do differently, or use another model",
  error_output_limit: "and ask for less at once",
};

function adviceFor(result: RunResult, facts: OutcomeFacts, code: OutcomeCode): string | undefined {
  const how = `${ENDING_TEXTS[endReason(result.stopReason, result.limit)]}.`;
  const next = RETRY_ADVICE[code];
  if (next !== undefined) {
    const detail = code === "error_max_wall_time" ? failureOf(facts) : detailOf(result);
    return `${how}${detail} What was changed so far is kept; ${nextStep(facts, "run again to continue")}, ${next}.`;
  }
  const goOn = resumeText(facts.goOn);
  switch (code) {
    case "success":
      return facts.denials.length === 0 ? undefined : denialAdvice(facts);
    case "error_denied":
      return denialAdvice(facts);
    case "error_max_structured_output_retries":
      return `The model gave no value that fits the schema. Run again, simplify --json-schema, or use another model.${goOn}`;
    case "error_refusal":
      return `${how}${refusalWords(result)} Rephrase the prompt or use another model.${goOn}`;
    case "error_interrupted":
      return interruptedAdvice(facts);
    default:
      return result.error?.message ?? how;
  }
}

function refusalWords({ detail }: RunResult): string {
  return detail === undefined ? "" : ` It says: ${/[.!?]$/.test(detail) ? detail : `${detail}.`}`;
}

/** Further detail of the ending as a sentence. */
function detailOf({ detail }: RunResult): string {
  return detail === undefined ? "" : ` ${detail}`;
}

/** Why the current request was to be retried, as a further sentence. */
function failureOf({ lastFailure }: Pick<OutcomeFacts, "lastFailure">): string {
  return lastFailure === undefined ? "" : ` The last attempt had failed: ${lastFailure}`;
}

/** Advice for the next step: continue if the session is stored, else `otherwise`. */
function nextStep({ goOn }: Pick<OutcomeFacts, "goOn">, otherwise: string): string {
  return goOn === undefined ? otherwise : `continue with ${goOn}`;
}

function denialAdvice({ denials, goOn, hasSandbox = false }: OutcomeFacts): string {
  const count =
    denials.length === 1 ? "A tool call was refused" : `${denials.length} tool calls were refused`;
  const calls = [...new Set(denials.map(refusedCall))].join("; ");
  const next = nextStep({ goOn }, "run again");
  // Obstacles that no flag removes come first: otherwise the next run would be refused again.
  const help = denials.map(helpBeyondFlags).find((each) => each !== undefined);
  const flag = flagFor(denials, hasSandbox);
  return `${count}: ${calls}. ${help ?? `${flag} would allow ${denials.length === 1 ? "it" : "all of them"}`}; ${next}.`;
}

/** A refused call in one line, with the reason unless there was simply no one to ask. */
function refusedCall({ name, input, reason, code }: Denial): string {
  const title = callTitle(input);
  const call = title === "" ? name : `${name} ${title}`;
  return code === "nobody_to_ask" ? call : `${call}: ${reason.replace(/\.$/, "")}`;
}

/** One flag that would allow all of the calls. */
function flagFor(denials: readonly Denial[], hasSandbox: boolean): string {
  const isEdit = ({ name, suggestion = "" }: Denial): boolean =>
    (name === "write" || name === "edit") && !/^\w+\([/~]/.test(suggestion);
  const isConfined = ({ name, input }: Denial): boolean => name === "bash" && input["access"] === undefined;
  if (denials.every(isEdit)) return "--permission-mode acceptEdits";
  if (hasSandbox && denials.every((each) => isEdit(each) || isConfined(each)))
    return "--permission-mode auto";
  const rules = [...new Set(denials.map(({ suggestion }) => suggestion))];
  const isListed = rules.every((rule) => rule !== undefined && !rule.includes(","));
  return isListed ? `--allowed-tools ${quoteShellArgument(rules.join(","))}` : "--yolo";
}

/** The remedy for a refusal that no allowing flag helps with: a rule of the user, plan mode, a person. */
function helpBeyondFlags({ code: decided, questionCode }: Denial): string | undefined {
  const code: DecisionCode | undefined = questionCode ?? decided;
  switch (code) {
    // A person who has just said no is not told how to say yes.
    case "person":
      return "Say what to do instead";
    case "plan_mode":
      return "To let it change things, choose another --permission-mode";
    case "deny_rule":
    case "ask_rule":
      return "What allows it does not help against such a rule: take that rule away (nano-agent config shows the settings)";
    case "protected_path":
      return "No flag allows that: do it yourself, or say yes on the screen";
    case "hook":
      return "A hook refused it, which no flag changes: change the hook, or say what to do instead";
    default:
      return undefined;
  }
}

/** The fields of an {@link Outcome} that come from the events of its run. */
type TalliedFacts = Pick<Outcome, "denials" | "usage" | "cost" | "models" | "turns" | "apiDurationMs"> & {
  /** Why the current request is to be retried. */
  readonly lastFailure: string | undefined;
};

/** Maximum characters of an answer kept here. */
const MAX_PARTIAL_CHARS = 200_000;

/** The totals of a run so far; a fold over its events, valid at any moment. */
export class RunTally {
  readonly #denials: Denial[] = [];
  readonly #spent = new SpendingTally();
  #partialText = new TextBuffer();
  #partialChars = 0;
  #turns = 0;
  #lastFailure: string | undefined;

  /** Text of the newest answer so far, or its start. */
  get partialText(): string {
    return this.#partialText.toString();
  }

  get facts(): TalliedFacts {
    const { usage, costUsd: cost, durationMs: apiDurationMs } = this.#spent.total;
    const { models } = this.#spent;
    const [denials, turns, lastFailure] = [this.#denials, this.#turns, this.#lastFailure];
    return { denials, usage, cost, models, turns, apiDurationMs, lastFailure };
  }

  add(event: AgentEvent): void {
    switch (event.type) {
      case "turn_start":
      case "retry":
        this.#partialText = new TextBuffer();
        this.#partialChars = 0;
        this.#lastFailure = event.type === "retry" ? event.error.message : undefined;
        return;
      case "text_delta":
        if (this.#partialChars < MAX_PARTIAL_CHARS) this.#partialText.add(event.text);
        this.#partialChars += event.text.length;
        return;
      default:
        if (event.type === "assistant_message") {
          this.#turns++;
          this.#lastFailure = undefined;
        }
        this.#count(event);
    }
  }

  /** A subagent's spending and refusals count; its turns and text do not. */
  #count(event: AgentEvent): void {
    if (event.type === "subagent") return this.#count(event.event);
    this.#spent.add(event);
    if (event.type !== "permission_decision" || event.action !== "deny") return;
    const { name, callId, input, reason, code, questionCode, suggestion } = event;
    this.#denials.push({ callId, name, input, reason, ...omitUndefined({ code, questionCode, suggestion }) });
  }
}

import type { RunResult } from "../../core/agent/result.ts";
import type { NanoAgentError } from "../../core/base/errors.ts";
import { type EndingSignal, exitCodeOfError, exitCodeOfRun } from "./exit-code.ts";
import type { Outcome, OutcomeCode } from "./outcome.ts";
import type { TalliedFacts } from "./run-tally.ts";

/** What is known about a run beside its result. */
export interface OutcomeFacts extends TalliedFacts {
  readonly signal?: EndingSignal | undefined;
  /** The command that goes on with the session; absent when nothing is kept. */
  readonly goOn?: string | undefined;
  /** Whether a value for a schema was asked for. */
  readonly wantsOutput: boolean;
  readonly durationMs: number;
}

/** The outcome of a run that came to a result. */
export function outcomeOf(result: RunResult, facts: OutcomeFacts): Outcome {
  const { stopReason, limit, error, output } = result;
  const missesOutput = facts.wantsOutput && output === undefined;
  const exitCode = exitCodeOfRun({
    stopReason,
    limit,
    errorCode: error?.code,
    signal: facts.signal,
    denials: facts.denials.length,
    missesOutput,
  });
  const code = facts.signal === undefined ? codeOf(result, missesOutput) : "error_interrupted";
  const advice = adviceFor({ result, facts, code });
  return {
    ...common(facts),
    stopReason,
    code,
    exitCode,
    text: result.text,
    ...(output === undefined ? {} : { output }),
    ...(limit === undefined ? {} : { limit }),
    ...(error === undefined ? {} : { error }),
    ...(advice === undefined ? {} : { advice: { code, text: advice } }),
  };
}

/** The outcome of a run that threw, was given up, or never began. */
export function failedOutcome(error: NanoAgentError, facts: OutcomeFacts, text = ""): Outcome {
  const { signal } = facts;
  const code = signal === undefined ? "error_during_execution" : "error_interrupted";
  return {
    ...common(facts),
    stopReason: error.code === "aborted" ? "aborted" : "error",
    code,
    exitCode: signal === undefined ? exitCodeOfError(error.code) : signalExit(signal),
    text,
    error,
    advice: { code, text: signal === undefined ? error.message : interrupted(facts) },
  };
}

/** The outcome of a message that hooks or rules kept from being sent. */
export function refusedOutcome(reason: string, facts: OutcomeFacts): Outcome {
  const exitCode = exitCodeOfRun({
    stopReason: "denied",
    signal: facts.signal,
    denials: 1,
    missesOutput: false,
  });
  const code = "error_denied";
  return {
    ...common(facts),
    stopReason: "denied",
    code,
    exitCode,
    text: "",
    advice: { code, text: `The message was not sent: ${reason}` },
  };
}

/** The outcome of a message that a command has dealt with. */
export function doneOutcome(facts: OutcomeFacts): Outcome {
  const exitCode = exitCodeOfRun({
    stopReason: "completed",
    signal: facts.signal,
    denials: 0,
    missesOutput: false,
  });
  return { ...common(facts), stopReason: "completed", code: "success", exitCode, text: "" };
}

function common({
  signal: _signal,
  wantsOutput: _wantsOutput,
  goOn,
  ...tallied
}: OutcomeFacts): Omit<Outcome, "stopReason" | "code" | "exitCode" | "text"> {
  return { ...tallied, ...(goOn === undefined ? {} : { goOn }) };
}

/** One more sentence that says how to go on; empty when nothing is kept. */
export function goOnText(goOn: string | undefined): string {
  return goOn === undefined ? "" : ` Go on with ${goOn}.`;
}

function interrupted({ goOn }: Pick<OutcomeFacts, "goOn">): string {
  const next = nextStep({ goOn }, "run again and say what is left to do");
  return `Interrupted. What was changed so far is kept; ${next}.`;
}

function signalExit(signal: EndingSignal): number {
  return exitCodeOfRun({ stopReason: "aborted", signal, denials: 0, missesOutput: false });
}

function codeOf({ stopReason, limit, error }: RunResult, missesOutput: boolean): OutcomeCode {
  if (stopReason === "budget" && limit === "wall_time") return "error_max_wall_time";
  const code = CODES[stopReason];
  const neverCame = code === "success" || error?.details["neverCalled"] !== undefined;
  return missesOutput && neverCame ? "error_max_structured_output_retries" : code;
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

interface RunEnd {
  readonly result: RunResult;
  readonly facts: OutcomeFacts;
  readonly code: OutcomeCode;
}

function adviceFor({ result, facts, code }: RunEnd): string | undefined {
  const again = `What was changed so far is kept; ${nextStep(facts, "run again to go on")}`;
  const goOn = goOnText(facts.goOn);
  switch (code) {
    case "success":
      return facts.denials.length === 0 ? undefined : denialAdvice(facts);
    case "error_denied":
      return denialAdvice(facts);
    case "error_max_turns":
      return `Turn limit: ${requestsMade(facts.turns)}. ${again}, with a higher --max-turns.`;
    case "error_max_budget_usd":
      return `The budget is used up.${detailOf(result)} ${again}, with a higher --max-budget-usd.`;
    case "error_max_wall_time":
      return `The time is over. ${again}, with a longer --max-wall-time.`;
    case "error_max_structured_output_retries":
      return `The model gave no value that fits the schema. Run again, simplify --json-schema, or use another model.${goOn}`;
    case "error_loop_detected":
      return `The model kept repeating itself.${detailOf(result)} ${again}, and say what to do differently, or use another model.`;
    case "error_output_limit":
      return `${cutText(result)} ${again}, and ask for less at once.`;
    case "error_refusal":
      return `The model refused, or a filter of its provider did. Rephrase the prompt or use another model.${goOn}`;
    case "error_interrupted":
      return interrupted(facts);
    case "error_during_execution":
      return result.error?.message ?? "The run failed.";
  }
}

function cutText(result: RunResult): string {
  const detail = detailOf(result);
  return detail === "" ? "The answer was cut at the model's output limit." : `The answer was cut.${detail}`;
}

function requestsMade(turns: number): string {
  return turns === 1 ? "1 model request was made" : `${turns} model requests were made`;
}

/** What is known of the end beyond its kind, as one more sentence. */
function detailOf({ detail }: RunResult): string {
  return detail === undefined ? "" : ` ${detail}`;
}

/** What to do next: go on where something is kept, else `otherwise`. */
function nextStep({ goOn }: Pick<OutcomeFacts, "goOn">, otherwise: string): string {
  return goOn === undefined ? otherwise : `go on with ${goOn}`;
}

function denialAdvice({ denials, goOn }: OutcomeFacts): string {
  const count =
    denials.length === 1 ? "A tool call was refused" : `${denials.length} tool calls were refused`;
  const [first] = denials;
  const firstDenial = first && `${first.name}: ${first.reason}`;
  const why = firstDenial === undefined ? "" : `: ${firstDenial.replace(/\.$/, "")}`;
  return `${count}${why}. ${wayOut(firstDenial ?? "")}, and ${nextStep({ goOn }, "run again")}.`;
}

/** What helps against a refusal: no flag that allows does against a deny rule, or in plan mode. */
function wayOut(why: string): string {
  // A person who has just said no is not told how to say yes.
  if (/\bthe user (?:refused it|said: )/.test(why)) return "Say what to do instead";
  if (why.includes("Plan mode only reads"))
    return "To let it change things, choose another --permission-mode";
  if (/The rule \S.* forbids /.test(why))
    return "What allows it does not help against a rule that forbids it: take that rule away (nano-agent config shows the settings)";
  if (why.includes("Nothing is asked in this mode"))
    return "Allow what you want with --allowed-tools, or choose another --permission-mode";
  return "Allow what you want with --allowed-tools, --permission-mode acceptEdits or --yolo";
}

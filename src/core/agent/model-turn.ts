import { abortError, raceAbort } from "../base/async.ts";
import { NanoAgentError, recordedError, toNanoAgentError } from "../base/errors.ts";
import { omitUndefined } from "../base/json.ts";
import {
  type AssistantMessage,
  cleanUsage,
  type Message,
  messageText,
  NO_USAGE,
  toolCallsOf,
  type Usage,
} from "../message/message.ts";
import { AnswerCollector, type CollectedAnswer } from "../model/answer.ts";
import { type BudgetLimit, costOf, type Reservation, worstCasePrices } from "../model/budget.ts";
import { estimateOutput, estimateTokens, InputEstimates, type MeasuredContext } from "../model/estimate.ts";
import type {
  FinishPart,
  FinishReason,
  Model,
  ModelRequest,
  RetryPart,
  StreamPart,
  TokenPrices,
  ToolChoice,
} from "../model/model.ts";
import { redactError } from "../tool/tool-output.ts";
import type { AssistantEntry } from "./entries.ts";
import type { Answer } from "./ports.ts";
import {
  AbortedAnswer,
  applyPlugins,
  beforeTurn,
  type Run,
  record,
  requestDefaults,
  watchAnswer,
  whenRecorded,
} from "./run.ts";

const GRACE_MS = 500;

/**
 * The outcome of one model request. `cappedBy`: the limit that capped the answer at what the budget still
 * covered · `exhausted`: not sent, because the budget is used up or does not cover it.
 */
export type ModelTurn =
  | {
      readonly type: "answer";
      readonly message: AssistantMessage;
      readonly finishReason: FinishReason;
      readonly cappedBy?: BudgetLimit;
    }
  | { readonly type: "aborted" }
  | { readonly type: "exhausted"; readonly limit: BudgetLimit }
  | { readonly type: "failed"; readonly error: NanoAgentError };

type FailedTurn = Extract<ModelTurn, { readonly type: "aborted" | "failed" }>;

/** The next answer of the model; plugins may have a request repeated. Throws only when the journal fails. */
export async function askModel(run: Run, toolChoice?: ToolChoice): Promise<ModelTurn> {
  await beforeTurn(run);
  const turn = reasonToStop(run) ?? (await askOnce(run, toolChoice, recordUnlessFull));
  if (turn.type !== "failed") return turn;
  const done = await repairAfter(run, turn.error);
  if (done === undefined) return turn;
  return reasonToStop(run) ?? (done === "again" ? askOnce(run, toolChoice) : turn);
}

/**
 * A model request outside the conversation. Its answer and deltas stay out of it; retries are published. Its
 * cost is recorded under `purpose` and counts for the budget, which is checked first. Throws only when the
 * journal fails.
 */
export async function askSeparately(run: Run, request: ModelRequest, purpose: string): Promise<ModelTurn> {
  const recordUsage: typeof recordAnswer = async (_run, cost, { message, finish }) => {
    const { durationMs } = cost.timing();
    const { responseId, finishReason } = finish;
    const charge = cost.ofAnswer(finish, message);
    await record(run, {
      type: "model_usage",
      purpose,
      ...charge,
      durationMs,
      ...omitUndefined({ responseId }),
    });
    return { type: "answer", message, finishReason };
  };
  return (
    reasonToStop(run) ??
    sendRequest(run, request, recordUsage, (cost, why) =>
      cost.chargeFailedAttempt(why === "aborted" ? why : "failed"),
    )
  );
}

/** The budget limit that is used up, if any. Checked before each model request. */
export function usedUpLimit(run: Run): BudgetLimit | undefined {
  const { usd, tokens, wallTimeMs, shared } = run.settings.budget;
  const spent = run.state.session;
  if (wallTimeMs !== undefined && run.settings.clock.elapsed() - run.shared.startedAt >= wallTimeMs)
    return "wall_time";
  if (tokens !== undefined && spent.usage.inputTokens + spent.usage.outputTokens >= tokens) return "tokens";
  // An answer without a known price may have cost anything: fail closed.
  if (usd !== undefined && (spent.costUsd === undefined || spent.costUsd >= usd)) return "usd";
  return shared !== undefined && shared.spentUsd >= shared.usd ? "usd" : undefined;
}

/** Why no further request can be made, if so. */
function reasonToStop(run: Run): ModelTurn | undefined {
  if (run.signal.aborted) return { type: "aborted" };
  const limit = usedUpLimit(run);
  return limit === undefined ? undefined : { type: "exhausted", limit };
}

/**
 * Records an answer. If the window had no room for it and a plugin may make some, the answer is void, as if
 * the request had been refused as too long.
 */
async function recordUnlessFull(run: Run, cost: RequestCost, answer: CollectedAnswer): Promise<ModelTurn> {
  const { message, finish } = answer;
  const mayRepair = run.shared.plugins.some((plugin) => "afterFailure" in plugin);
  if (!mayRepair || !isWindowFull(cost.model, answer)) return recordAnswer(run, cost, answer);
  const { durationMs } = cost.timing();
  const charge = cost.ofAnswer(finish, message);
  await record(run, { type: "model_usage", purpose: "retry", ...charge, durationMs });
  const error = windowFullError(cost.model, finish.finishReason);
  await record(run, { type: "retry", attempt: 2, delayMs: 0, error: recordedError(error) });
  return { type: "failed", error };
}

async function repairAfter(run: Run, error: NanoAgentError): Promise<"again" | "in_vain" | undefined> {
  for (const plugin of run.shared.plugins) {
    const done = await plugin.afterFailure?.(run, error);
    if (done !== undefined) return done;
  }
  return undefined;
}

/**
 * One model request of the conversation: runs plugins, publishes the parts as they arrive, and records the
 * answer with its cost. The text of an interrupted answer is recorded as far as it came.
 */
async function askOnce(
  run: Run,
  toolChoice: ToolChoice | undefined,
  answered: typeof recordAnswer = recordAnswer,
): Promise<ModelTurn> {
  const tools = run.tools.specs();
  let request: ModelRequest = {
    ...requestDefaults(run),
    messages: run.state.transcript.messages.slice(),
    ...(tools.length === 0 ? {} : omitUndefined({ tools, toolChoice })),
  };
  try {
    request = await applyPlugins(run.shared.plugins, request, (plugin, made) =>
      plugin.beforeRequest?.(run, made),
    );
  } catch (error) {
    return failedTurn(run, error);
  }
  const cut = (cost: RequestCost, why: "aborted" | AbortedAnswer): Promise<void> =>
    recordPartialAnswer(run, cost, why);
  return sendRequest(run, request, answered, cut, (part) => {
    if (part.type !== "block" && part.type !== "finish" && part.type !== "retry") run.emit(part);
  });
}

/** If a plugin fails, the model's own answer is kept: it was paid for. */
async function recordAnswer(
  run: Run,
  cost: RequestCost,
  { message: said, finish }: CollectedAnswer,
): Promise<ModelTurn> {
  const own: Answer = { message: said, finishReason: finish.finishReason };
  let answer = own;
  let failure: unknown;
  try {
    const changed = await applyPlugins(run.shared.plugins, own, (plugin, made) =>
      plugin.afterRequest?.(run, made, cost.reservation.request),
    );
    if (changed !== own) answer = checkReplacement(run, own, changed);
  } catch (error) {
    failure = error;
  }
  const { message, finishReason } = answer;
  await record(run, {
    type: "assistant_message",
    message,
    finishReason,
    ...cost.ofAnswer(finish, said),
    ...cost.timing(),
    ...omitUndefined({ responseId: finish.responseId }),
  });
  if (failure !== undefined) return failedTurn(run, toNanoAgentError(failure));
  const { cappedBy } = cost.reservation;
  return { type: "answer", message, finishReason, ...omitUndefined({ cappedBy }) };
}

/** The answer that plugins substituted. Throws if its call ids are empty or taken. */
function checkReplacement(run: Run, own: Answer, changed: Answer): Answer {
  const { callIds } = run.state.transcript;
  const given = new Set(toolCallsOf(own.message).map(({ id }) => id));
  const seen = new Set([""]);
  for (const { id, name } of toolCallsOf(changed.message)) {
    // If two calls shared an id, one of them would never get a result.
    if (seen.has(id) || (callIds.has(id) && !given.has(id)))
      throw new NanoAgentError(
        "internal",
        `A hook of post_reasoning gave the call of ${name} the id "${id}", which is empty or in use: give it a unique one.`,
      );
    seen.add(id);
  }
  // A copy: a plugin may return the same message every time.
  return changed.message === own.message ? changed : { ...changed, message: { ...changed.message } };
}

async function recordPartialAnswer(
  run: Run,
  cost: RequestCost,
  why: "aborted" | AbortedAnswer,
): Promise<void> {
  const partial = cost.collector.partialMessage();
  const message = why === "aborted" || why.surplus === 0 ? partial : withoutRepetition(partial, why.surplus);
  if (message.content.length === 0) return cost.chargeFailedAttempt(why === "aborted" ? why : "failed");
  await record(run, {
    type: "assistant_message",
    message,
    finishReason: { unified: "other", raw: why === "aborted" ? "aborted" : "repetition" },
    ...cost.ofPartialAnswer(),
    ...cost.timing(),
    interrupted: true,
  });
}

/** The answer without its repetitions, which would only invite the model to go on. */
function withoutRepetition({ role, content }: AssistantMessage, surplus: number): AssistantMessage {
  const kept = content.map((block, at) =>
    block.type === "text" && at === content.length - 1
      ? { ...block, text: `${block.text.slice(0, -surplus).toWellFormed()} …` }
      : block,
  );
  return { role, content: kept };
}

/**
 * One model request with its reservation. Waits for other requests on a shared budget. If a plugin aborts the
 * answer, the error is an {@link AbortedAnswer}. Throws only when the journal fails.
 */
async function sendRequest(
  run: Run,
  request: ModelRequest,
  answered: typeof recordAnswer,
  cut: (cost: RequestCost, why: "aborted" | AbortedAnswer) => Promise<void>,
  show?: (part: StreamPart) => void,
): Promise<ModelTurn> {
  await whenRecorded(run);
  const { model } = run.model();
  let reservation: Reservation | BudgetLimit;
  try {
    reservation = await reserve(run, model, request);
  } catch (error) {
    return failedTurn(run, error);
  }
  if (typeof reservation === "string") return { type: "exhausted", limit: reservation };
  const cost = new RequestCost(run, model, reservation);
  try {
    await raceAbort(receive(run, cost, show), run.signal, GRACE_MS);
    return await answered(run, cost, cost.collector.result());
  } catch (error) {
    if (error instanceof AbortedAnswer) {
      await cut(cost, error);
      return { type: "failed", error };
    }
    const failure = failedTurn(run, error);
    await (failure.type === "aborted" ? cut(cost, "aborted") : cost.chargeFailedAttempt("failed"));
    return failure;
  } finally {
    reservation.release();
  }
}

function failedTurn(run: Run, error: unknown): FailedTurn {
  const failure = redactError(run.settings.redact, toNanoAgentError(error, "internal"));
  if (failure.code === "journal") throw failure;
  return run.signal.aborted ? { type: "aborted" } : { type: "failed", error: failure };
}

/** Receives the answer part by part. A model that ignores the abort signal is abandoned. */
async function receive(run: Run, cost: RequestCost, show?: (part: StreamPart) => void): Promise<void> {
  const { signal } = run;
  let watch = watchAnswer(run);
  for await (const part of cost.model.stream(cost.reservation.request, { signal })) {
    // The caller has stopped waiting.
    if (signal.aborted) throw abortError(signal);
    if (part.type === "retry") {
      await recordRetry(run, cost, part);
      watch = watchAnswer(run);
    } else {
      const taken = cost.take(part);
      show?.(taken);
      watch(part);
    }
    if (signal.aborted) throw abortError(signal);
  }
}

/** Records a retry with its reason and delay, and charges what the failed attempt used. */
async function recordRetry(run: Run, cost: RequestCost, part: RetryPart): Promise<void> {
  await cost.chargeFailedAttempt("retry");
  cost.take(part);
  const { type, attempt, delayMs, error } = part;
  await record(run, {
    type,
    attempt,
    delayMs,
    error: recordedError(redactError(run.settings.redact, error)),
  });
}

/** Reserves the most a request may cost. Rejects if the run is aborted while waiting for other requests. */
function reserve(
  run: Run,
  model: Model,
  request: ModelRequest,
): Reservation | Promise<Reservation | BudgetLimit> {
  const { state, signal } = run;
  const { ledger } = run.shared;
  if (ledger === undefined) return { request, cappedBy: undefined, release: () => undefined };
  const inputTokens = ledger.estimates.ofRequest(request, measuredOf(run, request));
  return ledger.reserve({ model, request, inputTokens, spent: () => state.session, signal });
}

/** The provider's token count, if it covers the beginning of this request. */
function measuredOf({ state }: Run, { messages }: ModelRequest): MeasuredContext | undefined {
  const { measured, transcript } = state;
  if (measured === undefined) return undefined;
  const last = measured.messages - 1;
  return messages[last] !== undefined && messages[last] === transcript.messages[last] ? measured : undefined;
}

/** Share of the window above which a cut answer counts as cut by the window. */
const NEARLY_FULL = 0.8;

/** Finish reasons by which providers report a full window. */
const FULL_WINDOW_REASONS =
  /context_window_exceeded|context_length_exceeded|^model_length$|^context_(?:length|window)$/i;

/**
 * True if the window cut the answer: the provider says so, or prompt and reasoning filled it and nothing was
 * written.
 */
function isWindowFull(model: Model, { message, finish }: CollectedAnswer): boolean {
  const { unified, raw } = finish.finishReason;
  if (FULL_WINDOW_REASONS.test(raw)) return true;
  if (unified !== "length" || messageText(message).trim() !== "" || toolCallsOf(message).length > 0)
    return false;
  const { inputTokens, outputTokens } = finish.usage;
  return fillsWindow(model, inputTokens + outputTokens);
}

export function fillsWindow({ info }: Model, tokens: number): boolean {
  const window = info?.contextWindow;
  return window !== undefined && tokens >= NEARLY_FULL * window;
}

function windowFullError({ provider, id }: Model, { raw }: FinishReason): NanoAgentError {
  return new NanoAgentError(
    "context_overflow",
    `${provider} ended the answer of ${id} with ${JSON.stringify(raw)}: the conversation fills the context window. Shorten or compact it, or use a model with a larger window.`,
    { details: { provider, model: id, finishReason: raw } },
  );
}

interface Charge {
  readonly model: string;
  readonly usage: Usage;
  readonly costUsd?: number;
}

/**
 * What one model request costs. What providers charge but do not report is estimated: attempts that failed or
 * were cut after the model had started writing, and answers with missing or negative usage.
 */
class RequestCost {
  readonly model: Model;
  readonly reservation: Reservation;
  readonly collector: AnswerCollector;
  readonly #run: Run;
  readonly #measured: MeasuredContext | undefined;
  /** Arguments of calls still streaming in: the collector only has complete ones. */
  readonly #arguments: string[] = [];
  #hasBegun = false;
  readonly #startedAt: number;
  #firstPartAt: number | undefined;

  constructor(run: Run, model: Model, reservation: Reservation) {
    this.#run = run;
    this.model = model;
    this.#startedAt = run.settings.clock.elapsed();
    this.#measured = measuredOf(run, reservation.request);
    this.reservation = reservation;
    this.collector = new AnswerCollector(run.state.transcript.callIds);
  }

  /** Takes a part and returns it as it should be shown. Charge a failed attempt before its `retry`. */
  take(part: StreamPart): StreamPart {
    if (part.type === "tool_call_delta") this.#arguments.push(part.json);
    this.#hasBegun = part.type !== "retry";
    if (part.type === "retry") this.#firstPartAt = undefined;
    else if (part.type !== "finish") this.#firstPartAt ??= this.#run.settings.clock.elapsed();
    return this.collector.add(part);
  }

  /** Duration of the request so far, and time to the first part of the answer that counts. */
  timing(): Pick<AssistantEntry, "durationMs" | "firstTokenMs"> {
    const durationMs = Math.round(this.#run.settings.clock.elapsed() - this.#startedAt);
    if (this.#firstPartAt === undefined) return { durationMs };
    return { durationMs, firstTokenMs: Math.round(this.#firstPartAt - this.#startedAt) };
  }

  ofAnswer(finish: FinishPart, message: Message): Charge {
    const answering = finish.answeredBy ?? this.model;
    const price = answering.info?.price;
    const reported = cleanUsage(finish.usage);
    const usage = this.#isCounted(price) ? this.#complete(reported, message) : reported;
    return {
      model: `${answering.provider}/${finish.model ?? answering.id}`,
      usage,
      ...omitUndefined({ costUsd: finish.costUsd ?? (price && costOf(usage, price)) }),
    };
  }

  ofPartialAnswer(): Charge {
    const model = `${this.model.provider}/${this.model.id}`;
    if (!this.#isCounted(worstCasePrices(this.model, 0))) return { model, usage: NO_USAGE };
    const outputTokens = estimateTokens(this.collector.receivedText() + this.#arguments.join(""));
    const usage: Usage = { inputTokens: this.#inputTokens(), outputTokens, estimated: true };
    const price = worstCasePrices(this.model, usage.inputTokens);
    return { model, usage, ...omitUndefined({ costUsd: price && costOf(usage, price) }) };
  }

  /**
   * Charges an attempt without an answer, if the model had started. Under a budget an aborted attempt is
   * always charged: the model may have been reasoning.
   */
  async chargeFailedAttempt(purpose: "retry" | "aborted" | "failed"): Promise<void> {
    const isLimited = this.#run.shared.ledger !== undefined;
    const mayHaveBegun = this.#hasBegun || (purpose === "aborted" && isLimited);
    const charge = this.ofPartialAnswer();
    this.#hasBegun = false;
    this.#arguments.length = 0;
    if (mayHaveBegun && charge.usage.estimated === true)
      await record(this.#run, { type: "model_usage", purpose, ...charge, durationMs: 0 });
  }

  /** True if usage matters: there is a budget, or the model costs money. */
  #isCounted(price: TokenPrices | undefined): boolean {
    if (price === undefined) return this.#run.shared.ledger !== undefined;
    return price.input > 0 || price.output > 0;
  }

  #complete(usage: Usage, message: Message): Usage {
    const missesInput = usage.inputTokens === 0;
    const missesOutput = usage.outputTokens === 0 && message.content.length > 0;
    if (!missesInput && !missesOutput) return usage;
    return {
      ...usage,
      ...(missesInput ? { inputTokens: this.#inputTokens() } : {}),
      ...(missesOutput ? { outputTokens: estimateOutput(message) } : {}),
      estimated: true,
    };
  }

  #inputTokens(): number {
    const { estimates = new InputEstimates() } = this.#run.shared.ledger ?? {};
    return estimates.ofRequest(this.reservation.request, this.#measured);
  }
}

import { defined } from "../base/defined.ts";
import type { Message } from "../message/message.ts";
import { cleanUsage, NO_USAGE, type Usage } from "../message/usage.ts";
import { AnswerCollector } from "../model/collect.ts";
import { costOf } from "../model/cost.ts";
import { estimateOutput, estimateTokens, type MeasuredContext } from "../model/estimate.ts";
import { type BudgetLimit, type Grant, highestPrices } from "../model/ledger.ts";
import type { FinishPart, ModelRequest, StreamPart, TokenPrices } from "../model/model.ts";
import type { AssistantEntry } from "./entry.ts";
import { type RunContext, record } from "./run-context.ts";

/** The charge of a request, as an entry says it. */
export interface Charge {
  /** `provider/id` of the model that answered. */
  readonly model: string;
  readonly usage: Usage;
  readonly costUsd?: number;
}

/**
 * The account of one model request: what was set aside for it, and what it is charged with. What providers
 * charge for and do not report is estimated: attempts that broke off, failed or were cut after the model had
 * begun to write, and answers whose usage is missing or negative.
 */
export class RequestAccount {
  /** The request to send, and what is set aside for it: to be released when everything is recorded. */
  readonly grant: Grant;
  /** Takes in what the model answers. */
  readonly collector: AnswerCollector;
  readonly #run: RunContext;
  readonly #measured: MeasuredContext | undefined;
  /** Arguments of calls as they come: the collector has them when they are complete. */
  readonly #arguments: string[] = [];
  #hasBegun = false;
  readonly #startedAt: number;
  #firstPartAt: number | undefined;

  constructor(run: RunContext, grant: Grant) {
    this.#run = run;
    this.#startedAt = run.clock.elapsed();
    this.#measured = measuredOf(run, grant.request);
    this.grant = grant;
    this.collector = new AnswerCollector(run.state.transcript.callIds);
  }

  /** Takes a part and returns it as it is to be shown. Before `retry` comes {@link RequestAccount.void}. */
  take(part: StreamPart): StreamPart {
    if (part.type === "tool_call_delta") this.#arguments.push(part.json);
    this.#hasBegun = part.type !== "retry";
    if (part.type === "retry") this.#firstPartAt = undefined;
    else if (part.type !== "finish") this.#firstPartAt ??= this.#run.clock.elapsed();
    return this.collector.add(part);
  }

  /** How long the request has taken by now, and how long until the first part of the answer that stands. */
  timing(): Pick<AssistantEntry, "durationMs" | "firstTokenMs"> {
    const durationMs = Math.round(this.#run.clock.elapsed() - this.#startedAt);
    if (this.#firstPartAt === undefined) return { durationMs };
    return { durationMs, firstTokenMs: Math.round(this.#firstPartAt - this.#startedAt) };
  }

  /** The charge of an answer. */
  answered(finish: FinishPart, message: Message): Charge {
    const answering = finish.answeredBy ?? this.#run.model;
    const price = answering.info?.price;
    const reported = cleanUsage(finish.usage);
    const usage = this.#isCounted(price) ? this.#complete(reported, message) : reported;
    return {
      model: `${answering.provider}/${finish.model ?? answering.id}`,
      usage,
      ...defined({ costUsd: finish.costUsd ?? (price && costOf(usage, price)) }),
    };
  }

  /** The charge of an answer that was cut. */
  cut(): Charge {
    const { provider, id } = this.#run.model;
    const model = `${provider}/${id}`;
    if (!this.#isCounted(highestPrices(this.#run.model, 0))) return { model, usage: NO_USAGE };
    const outputTokens = estimateTokens(this.collector.written() + this.#arguments.join(""));
    const usage: Usage = { inputTokens: this.#inputTokens(), outputTokens, estimated: true };
    const price = highestPrices(this.#run.model, usage.inputTokens);
    return { model, usage, ...defined({ costUsd: price && costOf(usage, price) }) };
  }

  /**
   * Charges an attempt that brought no answer, if the model had begun. Under a budget an aborted one is
   * charged in any case: a model may have been thinking.
   */
  async void(purpose: "retry" | "aborted" | "failed"): Promise<void> {
    const mayHaveBegun = this.#hasBegun || (purpose === "aborted" && this.#run.ledger.isLimited);
    const charge = this.cut();
    this.#hasBegun = false;
    this.#arguments.length = 0;
    if (mayHaveBegun && charge.usage.estimated === true)
      await record(this.#run, { type: "model_usage", purpose, ...charge, durationMs: 0 });
  }

  /** True when it matters to somebody what was used: to a budget, or because the model costs money. */
  #isCounted(price: TokenPrices | undefined): boolean {
    if (price === undefined) return this.#run.ledger.isLimited;
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
    return this.#run.ledger.estimates.ofRequest(this.grant.request, this.#measured);
  }
}

/** Sets aside what a request may cost. Rejects when the run is aborted while it waits for others. */
export function setAside(run: RunContext, request: ModelRequest): Grant | Promise<Grant | BudgetLimit> {
  const { ledger, model, state, signal } = run;
  const inputTokens = ledger.isLimited ? ledger.estimates.ofRequest(request, measuredOf(run, request)) : 0;
  return ledger.reserve({ model, request, inputTokens, spent: () => state.session, signal });
}

/** The provider's count for the beginning of this very request. */
function measuredOf({ state }: RunContext, { messages }: ModelRequest): MeasuredContext | undefined {
  const { measured, transcript } = state;
  if (measured === undefined) return undefined;
  const last = measured.messages - 1;
  return messages[last] !== undefined && messages[last] === transcript.messages[last] ? measured : undefined;
}

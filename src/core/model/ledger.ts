import { orAborted } from "../base/abort.ts";
import type { Usage } from "../message/usage.ts";
import { InputEstimates } from "./estimate.ts";
import type { Model, ModelPrice, ModelRequest } from "./model.ts";

/** Tokens an answer is taken to have at most where nobody knows the limit of the model. */
const UNKNOWN_OUTPUT_LIMIT = 8_192;
/** A shorter answer is not worth its request. */
const LEAST_ANSWER = 64;
/** Room for most answers: with less, a request waits while others at work may leave more. */
const AMPLE_ANSWER = 8_192;

/**
 * Limits on use. Money and tokens are those of the session: all runs, those of a session that was resumed
 * included, nested runs, compactions, retries. Before each request what it may cost at most is set aside;
 * where the rest does not pay for it, its answer is held to what is paid for, or it is not sent and the run
 * ends with `stopReason: "budget"`.
 */
export interface Budget {
  /** US dollars. A run refuses to start (`invalid_argument`) with a model or fallback of unknown price. */
  readonly usd?: number;
  /** Input and output tokens together. */
  readonly tokens?: number;
  /** Milliseconds of one run, from its beginning; also stops what is at work when it is reached. */
  readonly wallTimeMs?: number;
}

/** The limits of a {@link Budget}. */
export type BudgetLimit = "usd" | "tokens" | "wall_time";

/** A request that the budget pays for. */
export interface Grant {
  /** The request as it is to be sent: its answer may be held to what is left. */
  readonly request: ModelRequest;
  /** The limit the answer is held to. */
  readonly cappedBy: BudgetLimit | undefined;
  /** To be called when the request has ended and what it cost is recorded. */
  readonly release: () => void;
}

/** The most that one request may use. */
interface Ceiling {
  readonly usd: number;
  readonly tokens: number;
}

/** The request for room in a {@link Ledger}. */
export interface BudgetRequest {
  readonly model: Model;
  readonly request: ModelRequest;
  /** Tokens of its input, estimated high. */
  readonly inputTokens: number;
  /** The use of the session by now. */
  readonly spent: () => { readonly usage: Usage; readonly costUsd: number | undefined };
  readonly signal: AbortSignal;
}

/**
 * Money and tokens of a session, for everything that spends them: the conversation, nested runs, requests
 * beside it. Before a request is sent it sets aside what that may cost at most; a request the rest does not
 * pay for is held to a shorter answer, waits for others at work, or is not sent. So a budget is overspent by
 * no more than what an estimate was wrong by, in one request.
 */
export class Ledger {
  readonly #budget: Budget;
  readonly #reserved: Ceiling[] = [];
  /** Settles when a request gives room back, for those that wait. */
  #released: PromiseWithResolvers<void> | undefined;
  #estimates: InputEstimates | undefined;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** Shared by all requests, so that each message is estimated once. */
  get estimates(): InputEstimates {
    return (this.#estimates ??= new InputEstimates());
  }

  /** True when requests are looked at at all. */
  get isLimited(): boolean {
    return this.#budget.usd !== undefined || this.#budget.tokens !== undefined;
  }

  /**
   * Sets aside what a request may cost; nothing where there is no limit. Resolves to the limit that does not
   * pay for it. Rejects when the signal is aborted meanwhile.
   */
  reserve(asked: BudgetRequest): Grant | Promise<Grant | BudgetLimit> {
    return this.isLimited
      ? this.#reserve(asked)
      : { request: asked.request, cappedBy: undefined, release: () => undefined };
  }

  async #reserve(asked: BudgetRequest): Promise<Grant | BudgetLimit> {
    const { request, model, signal } = asked;
    for (;;) {
      const most = request.maxOutputTokens ?? longestAnswer(model);
      const { tokens: room, limit } = this.#room(asked);
      const mayWait = this.#reserved.length > 0 && room < Math.min(most, AMPLE_ANSWER);
      if (!mayWait) {
        if (limit === undefined || room >= most) return this.#grant(asked, most, undefined);
        return room < LEAST_ANSWER && room < most ? limit : this.#grant(asked, room, limit);
      }
      await orAborted((this.#released ??= Promise.withResolvers<void>()).promise, signal);
    }
  }

  #grant(
    { request, model, inputTokens }: BudgetRequest,
    output: number,
    cappedBy: BudgetLimit | undefined,
  ): Grant {
    const price = highestPrice(model);
    const worst: Ceiling = {
      usd: price === undefined ? 0 : (inputTokens * price.input + output * price.output) / 1_000_000,
      tokens: inputTokens + output,
    };
    this.#reserved.push(worst);
    return {
      request: cappedBy === undefined ? request : { ...request, maxOutputTokens: output },
      cappedBy,
      release: () => {
        const at = this.#reserved.indexOf(worst);
        if (at === -1) return;
        this.#reserved.splice(at, 1);
        this.#released?.resolve();
        this.#released = undefined;
      },
    };
  }

  /** Tokens of output that what is left pays for beside the input, and the limit that says so. */
  #room({ model, inputTokens, spent }: BudgetRequest): {
    readonly tokens: number;
    readonly limit?: BudgetLimit;
  } {
    const { usd, tokens } = this.#budget;
    const { usage, costUsd } = spent();
    const reserved = this.#reserved;
    let room: { tokens: number; limit?: BudgetLimit } = { tokens: Number.POSITIVE_INFINITY };
    if (tokens !== undefined) {
      const spent =
        usage.inputTokens + usage.outputTokens + reserved.reduce((sum, each) => sum + each.tokens, 0);
      room = { tokens: Math.floor(tokens - spent - inputTokens), limit: "tokens" };
    }
    if (usd !== undefined) {
      const spent = (costUsd ?? Number.POSITIVE_INFINITY) + reserved.reduce((sum, each) => sum + each.usd, 0);
      const paid = paidOutput(usd - spent, inputTokens, highestPrice(model));
      if (paid < room.tokens) room = { tokens: paid, limit: "usd" };
    }
    return room;
  }
}

/** Tokens of the longest answer of the models that may answer. */
function longestAnswer(model: Model): number {
  const limits = [model, ...(model.alternatives ?? [])].map(({ info }) => info?.maxOutputTokens);
  return Math.max(...limits.map((limit) => limit ?? UNKNOWN_OUTPUT_LIMIT));
}

/** Tokens of output that `usd` pays for beside the input. An unknown price pays for nothing. */
function paidOutput(usd: number, inputTokens: number, price: ModelPrice | undefined): number {
  if (price === undefined) return 0;
  const left = usd * 1_000_000 - inputTokens * price.input;
  if (left < 0) return 0;
  return price.output === 0 ? Number.POSITIVE_INFINITY : Math.floor(left / price.output);
}

/**
 * The highest a request to a model may be charged by: over the models that may answer, and with a cache that
 * is written where that costs more than plain input. `undefined` when the price of one of them is unknown.
 */
export function highestPrice(model: Model): ModelPrice | undefined {
  let highest: ModelPrice = { input: 0, output: 0 };
  for (const each of [model, ...(model.alternatives ?? [])]) {
    const price = each.info?.price;
    if (price === undefined) return undefined;
    highest = {
      input: Math.max(highest.input, price.input, price.cacheWrite ?? 0),
      output: Math.max(highest.output, price.output),
    };
  }
  return highest;
}

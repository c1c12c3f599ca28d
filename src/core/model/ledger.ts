import { orAborted } from "../base/abort.ts";
import type { Usage } from "../message/usage.ts";
import { pricesAt } from "./cost.ts";
import { InputEstimates } from "./estimate.ts";
import type { Model, ModelRequest, TokenPrices } from "./model.ts";
import type { SharedBudget } from "./shared-budget.ts";

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
  /** Money that runs of other agents spend too. Where it does not pay, that is the limit `usd`. */
  readonly shared?: SharedBudget;
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
  /** Of what the session has spent, what the shared budget knows. */
  #toldUsd: number | undefined;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** Shared by all requests, so that each message is estimated once. */
  get estimates(): InputEstimates {
    return (this.#estimates ??= new InputEstimates());
  }

  /** True when requests are looked at at all. */
  get isLimited(): boolean {
    const { usd, tokens, shared } = this.#budget;
    return usd !== undefined || tokens !== undefined || shared !== undefined;
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
    this.#toldUsd ??= spentUsd(asked);
    for (;;) {
      const most = request.maxOutputTokens ?? longestAnswer(model);
      const { tokens: room, limit, isShared } = this.#room(asked);
      if (room >= Math.min(most, AMPLE_ANSWER) || !this.#mayLeaveMore(isShared)) {
        if (limit === undefined || room >= most) return this.#grant(asked, most, undefined);
        return room < LEAST_ANSWER ? limit : this.#grant(asked, room, limit);
      }
      await orAborted(this.#nextRelease, signal);
    }
  }

  /** True while requests are at work that may need less than what is set aside for them. */
  #mayLeaveMore(isShared = false): boolean {
    return this.#reserved.length > 0 || (isShared && this.#budget.shared?.isAtWork === true);
  }

  /** A shared budget knows of the releases here too. */
  get #nextRelease(): Promise<void> {
    return this.#budget.shared?.released ?? (this.#released ??= Promise.withResolvers<void>()).promise;
  }

  #grant(asked: BudgetRequest, output: number, cappedBy: BudgetLimit | undefined): Grant {
    const { request, model, inputTokens } = asked;
    const price = highestPrices(model, inputTokens);
    const worst: Ceiling = {
      usd: price === undefined ? 0 : (inputTokens * price.input + output * price.output) / 1_000_000,
      tokens: inputTokens + output,
    };
    this.#reserved.push(worst);
    const giveBack = this.#budget.shared?.setAside(worst.usd);
    return {
      request: cappedBy === undefined ? request : { ...request, maxOutputTokens: output },
      cappedBy,
      release: () => {
        const at = this.#reserved.indexOf(worst);
        if (at === -1) return;
        this.#reserved.splice(at, 1);
        giveBack?.(this.#newlySpent(asked));
        this.#released?.resolve();
        this.#released = undefined;
      },
    };
  }

  /** US dollars the session has spent since this was asked the last time. */
  #newlySpent(asked: BudgetRequest): number {
    const before = this.#toldUsd ?? 0;
    const now = spentUsd(asked);
    this.#toldUsd = now;
    return now === Number.POSITIVE_INFINITY ? now : now - before;
  }

  /** Tokens of output that what is left pays for beside the input. */
  #room(asked: BudgetRequest): Room {
    const { model, inputTokens, spent } = asked;
    const { usd, tokens, shared } = this.#budget;
    const { usage } = spent();
    const reserved = this.#reserved;
    let room: Room = { tokens: Number.POSITIVE_INFINITY };
    if (tokens !== undefined) {
      const spent =
        usage.inputTokens + usage.outputTokens + reserved.reduce((sum, each) => sum + each.tokens, 0);
      room = { tokens: Math.floor(tokens - spent - inputTokens), limit: "tokens" };
    }
    const price = highestPrices(model, inputTokens);
    if (usd !== undefined) {
      const spent = spentUsd(asked) + reserved.reduce((sum, each) => sum + each.usd, 0);
      const paid = paidOutput(usd - spent, inputTokens, price);
      if (paid < room.tokens) room = { tokens: paid, limit: "usd" };
    }
    if (shared !== undefined) {
      const paid = paidOutput(shared.leftUsd, inputTokens, price);
      if (paid < room.tokens) room = { tokens: paid, limit: "usd", isShared: true };
    }
    return room;
  }
}

/** Tokens of output that are paid for, and the limit that says so. */
interface Room {
  readonly tokens: number;
  readonly limit?: BudgetLimit;
  /** True where it is the money shared with others. */
  readonly isShared?: boolean;
}

/** The spending of the session. What nobody knows the price of may have cost anything. */
function spentUsd({ spent }: BudgetRequest): number {
  return spent().costUsd ?? Number.POSITIVE_INFINITY;
}

/** Tokens of the longest answer of the models that may answer. */
function longestAnswer(model: Model): number {
  const limits = [model, ...(model.alternatives ?? [])].map(({ info }) => info?.maxOutputTokens);
  return Math.max(...limits.map((limit) => limit ?? UNKNOWN_OUTPUT_LIMIT));
}

/** Tokens of output that `usd` pays for beside the input. An unknown price pays for nothing. */
function paidOutput(usd: number, inputTokens: number, price: TokenPrices | undefined): number {
  if (price === undefined) return 0;
  const left = usd * 1_000_000 - inputTokens * price.input;
  if (left < 0) return 0;
  return price.output === 0 ? Number.POSITIVE_INFINITY : Math.floor(left / price.output);
}

/**
 * The highest a request of this length may be charged by: over the models that may answer, and with a cache
 * that is written where that costs more than plain input. `undefined` when the price of one is unknown.
 */
export function highestPrices(model: Model, inputTokens: number): TokenPrices | undefined {
  let highest: TokenPrices = { input: 0, output: 0 };
  for (const each of [model, ...(model.alternatives ?? [])]) {
    if (each.info?.price === undefined) return undefined;
    const price = pricesAt(each.info.price, inputTokens);
    highest = {
      input: Math.max(highest.input, price.input, price.cacheWrite ?? 0),
      output: Math.max(highest.output, price.output),
    };
  }
  return highest;
}

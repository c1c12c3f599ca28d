import { raceAbort } from "../base/async.ts";
import { invalidArgument } from "../base/errors.ts";
import type { JsonSchema } from "../base/schema.ts";
import type { Usage } from "../message/message.ts";
import { InputEstimates } from "./estimate.ts";
import type { Model, ModelPrice, ModelRequest, TokenPrices } from "./model.ts";

/** Assumed maximum answer, in tokens, when the model's limit is unknown. */
const UNKNOWN_OUTPUT_LIMIT = 8_192;
/** A shorter answer is not worth a request. */
const MIN_ANSWER_TOKENS = 64;
/** Enough for most answers. If less is left, a request waits for running ones, which may free more. */
const AMPLE_ANSWER_TOKENS = 8_192;

/**
 * Spending limits. Money and tokens count for the session: all its runs (also those before a resume), nested
 * runs, compactions and retries. Before each request the most it may cost is reserved. If the rest does not
 * cover that, the answer is capped at what is covered, or the request is not sent and the run ends with
 * `stopReason: "budget"`.
 */
export interface Budget {
  /** US dollars. A run refuses to start (`invalid_argument`) with a model or fallback of unknown price. */
  readonly usd?: number;
  /** Input plus output tokens. */
  readonly tokens?: number;
  /** Milliseconds of one run, from its start. At the limit, requests and tools in progress are stopped. */
  readonly wallTimeMs?: number;
  /** Money shared with the runs of other agents. When it runs out, the limit reached is `usd`. */
  readonly shared?: SharedBudget;
}

/** The limits of a {@link Budget}. */
export type BudgetLimit = "usd" | "tokens" | "wall_time";

const POSITIVE = { type: "number", exclusiveMinimum: 0 } as const;

const LIMITS = { usd: POSITIVE, tokens: POSITIVE, wallTimeMs: POSITIVE };

/** The schema of a budget, without `shared`, which exists only within one process. */
export const BUDGET_LIMITS: JsonSchema = { type: "object", properties: LIMITS, additionalProperties: false };

export const BUDGET: JsonSchema = {
  ...BUDGET_LIMITS,
  properties: {
    ...LIMITS,
    shared: { "x-has": ["setAside"], "x-say": "a SharedBudget: new SharedBudget(usd) of nano-agent/agent" },
  },
};

/** A request the budget covers. */
export interface Reservation {
  /** The request to send; its answer may be capped. */
  readonly request: ModelRequest;
  readonly cappedBy: BudgetLimit | undefined;
  /** Call it when the request has ended and its cost is recorded. */
  readonly release: () => void;
}

interface ReservedAmount {
  readonly usd: number;
  readonly tokens: number;
}

export interface BudgetRequest {
  readonly model: Model;
  readonly request: ModelRequest;
  /** Input tokens, estimated high. */
  readonly inputTokens: number;
  readonly spent: () => { readonly usage: Usage; readonly costUsd: number | undefined };
  readonly signal: AbortSignal;
}

/** Amounts reserved for running requests, and those waiting for some to be released. */
class Reservations {
  readonly #open: ReservedAmount[] = [];
  #released: PromiseWithResolvers<void> | undefined;

  get isEmpty(): boolean {
    return this.#open.length === 0;
  }

  sum(of: keyof ReservedAmount): number {
    return this.#open.reduce((sum, each) => sum + each[of], 0);
  }

  /** Resolves at the next release. */
  get released(): Promise<void> {
    return (this.#released ??= Promise.withResolvers<void>()).promise;
  }

  /**
   * Reserves an amount. The returned function releases it once `spent` is recorded; later calls do nothing.
   */
  add(amount: ReservedAmount, spent: () => void): () => void {
    this.#open.push(amount);
    return () => {
      const at = this.#open.indexOf(amount);
      if (at === -1) return;
      this.#open.splice(at, 1);
      spent();
      this.#released?.resolve();
      this.#released = undefined;
    };
  }
}

/**
 * Money that several agents share, as `budget: { shared }` of each: together they spend no more than that,
 * under the same rules as a run's own budget. Models need known prices.
 */
export class SharedBudget {
  /** US dollars. */
  readonly usd: number;
  readonly #reservations = new Reservations();
  #spentUsd: number;

  /** `spentUsd`: what was spent before. Throws `invalid_argument` for invalid amounts. */
  constructor(usd: number, { spentUsd = 0 }: { readonly spentUsd?: number } = {}) {
    if (!(usd > 0)) throw invalidArgument(`The shared budget is ${usd}; it must be a number above 0.`);
    if (!(spentUsd >= 0)) throw invalidArgument(`spentUsd is ${spentUsd}; it must be a number from 0.`);
    this.usd = usd;
    this.#spentUsd = spentUsd;
  }

  /** US dollars spent so far; infinite as soon as the price of an answer is unknown. */
  get spentUsd(): number {
    return this.#spentUsd;
  }

  /** US dollars neither spent nor reserved. */
  get leftUsd(): number {
    return this.usd - this.#spentUsd - this.#reservations.sum("usd");
  }

  /** True while money is reserved for running requests. */
  get isAtWork(): boolean {
    return !this.#reservations.isEmpty;
  }

  /** Resolves when a request releases its reservation. */
  get released(): Promise<void> {
    return this.#reservations.released;
  }

  /** Reserves money. The returned function releases it and charges what was spent. */
  setAside(usd: number): (spentUsd: number) => void {
    let spent = 0;
    const release = this.#reservations.add({ usd, tokens: 0 }, () => {
      this.#spentUsd += spent;
    });
    return (spentUsd) => {
      spent = spentUsd;
      release();
    };
  }
}

/**
 * Money and tokens of a session, for everything that spends them: the conversation, nested runs, requests
 * outside the conversation. Before a request is sent, the most it may cost is reserved. A request the rest
 * does not cover is capped, waits for running ones, or is not sent. So a budget is overspent by no more than
 * the error of one estimate.
 */
export class BudgetLedger {
  readonly #budget: Budget;
  readonly #reservations = new Reservations();
  /** How much of the session's spending the shared budget already knows. */
  #reportedUsd: number | undefined;
  /** One for all requests, so that each message is estimated once. */
  readonly estimates: InputEstimates = new InputEstimates();

  /** The ledger of a budget; `undefined` if it limits neither money nor tokens. */
  static of(budget: Budget): BudgetLedger | undefined {
    const { usd, tokens, shared } = budget;
    return (usd ?? tokens ?? shared) === undefined ? undefined : new BudgetLedger(budget);
  }

  private constructor(budget: Budget) {
    this.#budget = budget;
  }

  /**
   * Reserves the cost of a request. Resolves to the limit that does not cover it. Rejects if the signal is
   * aborted while waiting.
   */
  async reserve(planned: BudgetRequest): Promise<Reservation | BudgetLimit> {
    const { request, model, signal } = planned;
    this.#reportedUsd ??= spentUsd(planned);
    for (;;) {
      const maxOutput = request.maxOutputTokens ?? maxAnswerTokens(model);
      const { tokens: allowance, limit, isShared } = this.#allowance(planned);
      if (allowance >= Math.min(maxOutput, AMPLE_ANSWER_TOKENS) || !this.#canGrow(isShared)) {
        if (limit === undefined || allowance >= maxOutput)
          return this.#reservation(planned, maxOutput, undefined);
        return allowance < MIN_ANSWER_TOKENS ? limit : this.#reservation(planned, allowance, limit);
      }
      // The shared budget also sees releases of this session.
      await raceAbort((this.#budget.shared ?? this.#reservations).released, signal);
    }
  }

  /** True while running requests may release part of their reservations. */
  #canGrow(isShared = false): boolean {
    return !this.#reservations.isEmpty || (isShared && this.#budget.shared?.isAtWork === true);
  }

  #reservation(planned: BudgetRequest, output: number, cappedBy: BudgetLimit | undefined): Reservation {
    const { request, model, inputTokens } = planned;
    const price = worstCasePrices(model, inputTokens);
    const usd = price === undefined ? 0 : (inputTokens * price.input + output * price.output) / 1_000_000;
    const report = this.#budget.shared?.setAside(usd);
    return {
      request: cappedBy === undefined ? request : { ...request, maxOutputTokens: output },
      cappedBy,
      release: this.#reservations.add({ usd, tokens: inputTokens + output }, () =>
        report?.(this.#newlySpent(planned)),
      ),
    };
  }

  /** US dollars the session has spent since the last call. */
  #newlySpent(planned: BudgetRequest): number {
    const before = this.#reportedUsd ?? 0;
    const now = spentUsd(planned);
    this.#reportedUsd = now;
    return now === Number.POSITIVE_INFINITY ? now : now - before;
  }

  #allowance(planned: BudgetRequest): OutputAllowance {
    const { model, inputTokens, spent } = planned;
    const { usd, tokens, shared } = this.#budget;
    const price = worstCasePrices(model, inputTokens);
    const { inputTokens: input, outputTokens: output } = spent().usage;
    let allowance: OutputAllowance = { tokens: Number.POSITIVE_INFINITY };
    if (tokens !== undefined) {
      const left = tokens - (input + output + this.#reservations.sum("tokens")) - inputTokens;
      allowance = { tokens: Math.floor(left), limit: "tokens" };
    }
    if (usd !== undefined) {
      const paid = affordableOutput(
        usd - (spentUsd(planned) + this.#reservations.sum("usd")),
        inputTokens,
        price,
      );
      if (paid < allowance.tokens) allowance = { tokens: paid, limit: "usd" };
    }
    if (shared !== undefined) {
      const paid = affordableOutput(shared.leftUsd, inputTokens, price);
      if (paid < allowance.tokens) allowance = { tokens: paid, limit: "usd", isShared: true };
    }
    return allowance;
  }
}

/** How many output tokens are covered, and which limit that comes from. */
interface OutputAllowance {
  readonly tokens: number;
  readonly limit?: BudgetLimit;
  /** True if it is the shared money. */
  readonly isShared?: boolean;
}

function spentUsd({ spent }: BudgetRequest): number {
  return spent().costUsd ?? Number.POSITIVE_INFINITY;
}

function maxAnswerTokens(model: Model): number {
  const limits = [model, ...(model.alternatives ?? [])].map(({ info }) => info?.maxOutputTokens);
  return Math.max(...limits.map((limit) => limit ?? UNKNOWN_OUTPUT_LIMIT));
}

/** Output tokens that `usd` covers after the input. Nothing if the price is unknown. */
function affordableOutput(usd: number, inputTokens: number, price: TokenPrices | undefined): number {
  if (price === undefined) return 0;
  const left = usd * 1_000_000 - inputTokens * price.input;
  if (left < 0) return 0;
  return price.output === 0 ? Number.POSITIVE_INFINITY : Math.floor(left / price.output);
}

/**
 * The highest prices that may apply to a request of this length: over all models that may answer, and with a
 * cache write if that costs more than plain input. `undefined` if one price is unknown.
 */
export function worstCasePrices(model: Model, inputTokens: number): TokenPrices | undefined {
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

/** The prices of a request with this much input: those of its tier. */
export function pricesAt(price: ModelPrice, inputTokens: number): TokenPrices {
  let prices: TokenPrices = price;
  let from = -1;
  for (const tier of price.tiers ?? []) {
    if (inputTokens <= tier.above || tier.above <= from) continue;
    prices = tier;
    from = tier.above;
  }
  return prices;
}

/**
 * USD for the `usage` of one request at `price` (USD per million tokens). Cache reads and writes are part of
 * the input and charged at their own prices; a missing one means plain input (for one-hour writes: the price
 * of other writes).
 */
export function costOf(usage: Usage, modelPrice: ModelPrice): number {
  const price = pricesAt(modelPrice, usage.inputTokens);
  const read = Math.min(usage.cacheReadTokens ?? 0, usage.inputTokens);
  const write = Math.min(usage.cacheWriteTokens ?? 0, usage.inputTokens - read);
  const write1h = Math.min(usage.cacheWrite1hTokens ?? 0, write);
  const writePrice = price.cacheWrite ?? price.input;
  const millionths =
    (usage.inputTokens - read - write) * price.input +
    read * (price.cacheRead ?? price.input) +
    (write - write1h) * writePrice +
    write1h * (price.cacheWrite1h ?? writePrice) +
    usage.outputTokens * price.output;
  return millionths / 1_000_000;
}

import type { Usage } from "../message/usage.ts";
import type { ModelPrice, TokenPrices } from "./model.ts";

/** The prices of a request with so many tokens of input: those of the tier it falls in. */
export function pricesAt(price: ModelPrice, inputTokens: number): TokenPrices {
  let found: TokenPrices = price;
  let from = -1;
  for (const tier of price.tiers ?? []) {
    if (inputTokens <= tier.above || tier.above <= from) continue;
    found = tier;
    from = tier.above;
  }
  return found;
}

/**
 * USD for the `usage` of one request at `price` (USD per million tokens). Cache reads and writes are parts of
 * the input and charged at their own price; where that is missing, as plain input (writes of one hour: as
 * other writes).
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

import type { Usage } from "../message/usage.ts";
import type { ModelPrice } from "./model.ts";

/**
 * USD for `usage` at `price` (USD per million tokens). Cache reads and writes are parts of the input and
 * charged at their own price; where that is missing, as plain input (writes of one hour: as other writes).
 */
export function costOf(usage: Usage, price: ModelPrice): number {
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

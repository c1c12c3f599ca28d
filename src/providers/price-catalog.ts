import { type Fields, isRecord, omitUndefined, ownValue } from "../core/base/json.ts";
import type { ModelInfo, ModelPrice, TokenPrices } from "../core/model/model.ts";

/** Provides prices and windows from an external list. */
export interface PriceCatalog {
  /** Facts about a model; `undefined` if it is not listed. Unknown figures are absent, never 0. */
  readonly find: (provider: string, id: string) => ModelInfo | undefined;
}

/** Loads the prices from the package `@pydantic/genai-prices` (20 MB of memory). Uses no network. */
export async function loadPriceCatalog(): Promise<PriceCatalog> {
  const { calcPrice, findProvider } = await import("@pydantic/genai-prices");
  return {
    find: (provider, id) => {
      const known = findProvider({ providerId: ownValue(PROVIDER_IDS, provider) ?? provider });
      const found =
        known === undefined
          ? null
          : calcPrice({ input_tokens: 0, output_tokens: 0 }, id, { provider: known });
      return found === null ? undefined : toModelInfo(found.model.context_window, found.model_price);
    },
  };
}

const PROVIDER_IDS: { readonly [provider: string]: string | undefined } = {
  "openai-chat": "openai",
  "openai-responses": "openai",
  moonshot: "moonshotai",
  xai: "x-ai",
  zhipu: "zhipuai",
};

function toModelInfo(contextWindow: number | undefined, prices: Fields): ModelInfo {
  return omitUndefined({ contextWindow, price: toPrice(prices) });
}

function toPrice(prices: Fields): ModelPrice | undefined {
  const lowest = pricesFor(prices, 0);
  if (lowest === undefined) return undefined;
  const starts = new Set(Object.values(prices).flatMap((price) => tiersOf(price).map(({ start }) => start)));
  const tiers = [...starts].flatMap((above) => {
    const tier = pricesFor(prices, above + 1);
    return tier === undefined ? [] : [{ above, ...tier }];
  });
  return tiers.length === 0 ? lowest : { ...lowest, tiers };
}

/**
 * The prices for a request of this length; undefined without both input and output price, since a model that
 * is free for some is not free for all.
 */
function pricesFor(prices: Fields, inputTokens: number): TokenPrices | undefined {
  const price = (name: string): number | undefined => priceAt(prices[name], inputTokens);
  const input = price("input_mtok");
  const output = price("output_mtok");
  if (input === undefined || output === undefined) return undefined;
  const cacheRead = price("cache_read_mtok");
  const cacheWrite = price("cache_write_mtok");
  return {
    input,
    output,
    ...omitUndefined({ cacheRead, cacheWrite, cacheWrite1h: price("cache_write_1h_mtok") }),
  };
}

/** A price, or the price of the highest tier that a request of this length reaches. */
function priceAt(value: unknown, inputTokens: number): number | undefined {
  if (typeof value === "number") return value;
  if (!isRecord(value) || typeof value["base"] !== "number") return undefined;
  const reached = tiersOf(value).filter(({ start }) => inputTokens > start);
  return reached.toSorted((left, right) => right.start - left.start)[0]?.price ?? value["base"];
}

function tiersOf(value: unknown): readonly { readonly start: number; readonly price: number }[] {
  return isRecord(value) && Array.isArray(value["tiers"]) ? value["tiers"] : [];
}

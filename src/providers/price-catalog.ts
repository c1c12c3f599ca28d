import { defined } from "../core/base/defined.ts";
import { type Fields, ownValue } from "../core/base/json.ts";
import type { ModelInfo, ModelPrice } from "../core/model/model.ts";

/** The port to somebody's list of prices and windows. */
export interface PriceCatalog {
  /** Facts about a model; `undefined` when it is not in the list. Unknown figures are absent, never 0. */
  readonly find: (provider: string, id: string) => ModelInfo | undefined;
}

/** The prices of the package `@pydantic/genai-prices`, loaded here (20 MB of memory). No network. */
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
  return defined({ contextWindow, price: toPrice(prices) });
}

/** Without an input and an output price there is none: models that are free for some are not free for all. */
function toPrice(prices: Fields): ModelPrice | undefined {
  const input = figure(prices["input_mtok"]);
  const output = figure(prices["output_mtok"]);
  if (input === undefined || output === undefined) return undefined;
  return {
    input,
    output,
    ...defined({
      cacheRead: figure(prices["cache_read_mtok"]),
      cacheWrite: figure(prices["cache_write_mtok"]),
      cacheWrite1h: figure(prices["cache_write_1h_mtok"]),
    }),
  };
}

/** A price, or the lowest of several that depend on the length of the prompt. */
function figure(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value !== "object" || value === null || !("base" in value)) return undefined;
  return typeof value.base === "number" ? value.base : undefined;
}

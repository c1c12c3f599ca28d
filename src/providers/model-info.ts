import { invalidArgument } from "../core/base/errors.ts";
import { omitUndefined, ownValue } from "../core/base/json.ts";
import { closestMatch } from "../core/base/text.ts";
import {
  EFFORTS,
  type Effort,
  type ModelInfo,
  type PriceTier,
  type TokenPrices,
} from "../core/model/model.ts";

/**
 * Built-in facts about well-known models: context window, maximum answer, list price. `undefined` for all
 * others. Matches the id itself, dated ids (`claude-sonnet-4-5-20250929`) and `-latest`; gateways set their
 * own prices, so only the makers' providers are looked up.
 *
 * Provenance: list prices and windows from the data set of @pydantic/genai-prices 0.1.8, output limits from
 * the makers' model pages, both of November 2026, including the higher prices of long prompts.
 */
export function knownModelInfo(provider: string, id: string): ModelInfo | undefined {
  const models = ownValue(MODELS, provider) ?? {};
  const undated = id.replace(/(?:-latest|-\d{4}-?\d{2}-?\d{2})$/, "");
  const row = ownValue(models, id) ?? ownValue(models, undated);
  if (row === undefined) return undefined;
  const [contextWindow, maxOutputTokens, input, output, cacheRead, cacheWrite, cacheWrite1h] = row;
  const prices = { input, output, ...omitUndefined({ cacheRead, cacheWrite, cacheWrite1h }) };
  const above = ownValue(LONG_PROMPTS, id) ?? ownValue(LONG_PROMPTS, undated);
  const price = above === undefined ? prices : { ...prices, tiers: [longPromptTier(prices, above)] };
  return { contextWindow, maxOutputTokens, price };
}

/** All makers with such a tier charge the same surcharge: twice for input, 1.5 times for output. */
function longPromptTier(prices: TokenPrices, above: number): PriceTier {
  const { cacheRead, cacheWrite, cacheWrite1h } = prices;
  const double = (price: number | undefined): number | undefined => (price === undefined ? price : price * 2);
  const cached = {
    cacheRead: double(cacheRead),
    cacheWrite: double(cacheWrite),
    cacheWrite1h: double(cacheWrite1h),
  };
  return { above, input: prices.input * 2, output: prices.output * 1.5, ...omitUndefined(cached) };
}

/** Ids of a provider's known models, as in {@link knownModelInfo}. */
export function knownModelIds(provider: string): readonly string[] {
  return Object.keys(ownValue(MODELS, provider) ?? {});
}

/** Context window, maximum answer, then USD per million tokens. */
type Row = readonly [
  contextWindow: number,
  maxOutputTokens: number,
  input: number,
  output: number,
  cacheRead?: number,
  cacheWrite?: number,
  cacheWrite1h?: number,
];

const K = 1_000;
const M = 1_000_000;

const ANTHROPIC: { readonly [id: string]: Row | undefined } = {
  "claude-fable-5-1": [M, 128 * K, 10, 50, 0.25, 12.5, 20],
  "claude-fable-5": [M, 128 * K, 10, 50, 1, 12.5, 20],
  "claude-opus-5-5": [M, 128 * K, 4, 20, 0.2, 5, 8],
  "claude-opus-5": [M, 128 * K, 5, 25, 0.5, 6.25, 10],
  "claude-opus-4-8": [M, 128 * K, 5, 25, 0.5, 6.25, 10],
  "claude-opus-4-7": [M, 128 * K, 5, 25, 0.5, 6.25, 10],
  "claude-opus-4-6": [M, 128 * K, 5, 25, 0.5, 6.25, 10],
  "claude-opus-4-5": [200 * K, 64 * K, 5, 25, 0.5, 6.25, 10],
  "claude-opus-4-1": [200 * K, 32 * K, 15, 75, 1.5, 18.75, 30],
  "claude-sonnet-5": [M, 128 * K, 2, 10, 0.2, 2.5, 4],
  "claude-sonnet-4-6": [M, 64 * K, 3, 15, 0.3, 3.75, 6],
  "claude-sonnet-4-5": [200 * K, 64 * K, 3, 15, 0.3, 3.75, 6],
  "claude-sonnet-4": [200 * K, 64 * K, 3, 15, 0.3, 3.75, 6],
  "claude-haiku-4-5": [200 * K, 64 * K, 1, 5, 0.1, 1.25, 2],
};

const OPENAI: { readonly [id: string]: Row | undefined } = {
  "gpt-6-astra": [1_050 * K, 128 * K, 10, 50, 1, 12.5],
  "gpt-6-sol": [1_050 * K, 128 * K, 2, 10, 0.2, 2.5],
  "gpt-6-luna": [1_050 * K, 128 * K, 0.1, 0.5, 0.01, 0.125],
  "gpt-5.6-sol": [1_050 * K, 128 * K, 4, 20, 0.4, 5],
  "gpt-5.6-terra": [1_050 * K, 128 * K, 2, 12, 0.2, 2.5],
  "gpt-5.6-luna": [1_050 * K, 128 * K, 0.2, 1.2, 0.02, 0.25],
  "gpt-5.5": [1_050 * K, 128 * K, 5, 30, 0.5],
  "gpt-5.4": [1_050 * K, 128 * K, 2.5, 15, 0.25],
  "gpt-5.4-mini": [400 * K, 128 * K, 0.75, 4.5, 0.075],
  "gpt-5.4-nano": [400 * K, 128 * K, 0.2, 1.25, 0.02],
  "gpt-5.3-codex": [400 * K, 128 * K, 1.75, 14, 0.175],
  "gpt-5.2": [400 * K, 128 * K, 1.75, 14, 0.175],
  "gpt-5.1": [400 * K, 128 * K, 1.25, 10, 0.125],
  "gpt-5": [400 * K, 128 * K, 1.25, 10, 0.125],
  "gpt-5-mini": [400 * K, 128 * K, 0.25, 2, 0.025],
  "gpt-5-nano": [400 * K, 128 * K, 0.05, 0.4, 0.005],
  "gpt-4.1": [1_047_576, 32_768, 2, 8, 0.5],
  "gpt-4.1-mini": [1_047_576, 32_768, 0.4, 1.6, 0.1],
  "gpt-4o": [128 * K, 16_384, 2.5, 10, 1.25],
  "gpt-4o-mini": [128 * K, 16_384, 0.15, 0.6, 0.075],
};

const GOOGLE: { readonly [id: string]: Row | undefined } = {
  "gemini-3.8-flash": [1_048_576, 65_536, 1.5, 7.5, 0.15],
  "gemini-3.7-flash": [1_048_576, 65_536, 1.5, 7.5, 0.15],
  "gemini-3.6-flash": [1_048_576, 65_536, 1.5, 7.5, 0.15],
  "gemini-3.5-flash": [1_048_576, 65_536, 1.5, 9, 0.15],
  "gemini-3.5-flash-lite": [1_048_576, 65_536, 0.3, 2.5, 0.03],
  "gemini-3.1-pro-preview": [1_048_576, 65_536, 2, 12, 0.2],
  "gemini-2.5-pro": [1_048_576, 65_536, 1.25, 10, 0.125],
  "gemini-2.5-flash": [1_048_576, 65_536, 0.3, 2.5, 0.03],
};

/** Input tokens above which the whole request costs more. */
const LONG_PROMPTS: { readonly [id: string]: number | undefined } = {
  "claude-sonnet-4-5": 200_000,
  "gpt-6-astra": 271_999,
  "gpt-6-sol": 272_000,
  "gpt-6-luna": 272_000,
  "gpt-5.6-sol": 271_999,
  "gpt-5.6-terra": 271_999,
  "gpt-5.6-luna": 271_999,
  "gpt-5.5": 271_999,
  "gpt-5.4": 271_999,
  "gemini-3.1-pro-preview": 200_000,
  "gemini-2.5-pro": 200_000,
};

const MODELS: { readonly [provider: string]: { readonly [id: string]: Row | undefined } | undefined } = {
  anthropic: ANTHROPIC,
  openai: OPENAI,
  "openai-chat": OPENAI,
  "openai-responses": OPENAI,
  google: GOOGLE,
};

/** The parts of a model name. */
export interface ModelName {
  readonly provider: string;
  /** The provider's own id; may hold slashes and colons (`anthropic/claude-x`, `qwen2.5-coder:7b`). */
  readonly id: string;
  readonly effort?: Effort;
}

/**
 * Splits `provider/id[:effort]`. Only an effort word after the last colon is an effort; other colons belong
 * to the id. Throws `invalid_argument` if a part is missing.
 */
export function parseModelName(name: string): ModelName {
  const text = name.trim();
  const slash = text.indexOf("/");
  const effort = EFFORTS.find((each) => text.endsWith(`:${each}`));
  const provider = text.slice(0, Math.max(slash, 0)).trim();
  const id = text.slice(slash + 1, effort && -effort.length - 1).trim();
  if (provider === "" || id === "") {
    throw invalidArgument(
      `"${name}" is not a model name.${didYouMean(text)} Write provider/id, e.g. anthropic/claude-sonnet-5 or ollama/qwen3-coder, with :low, :medium or :high at the end to set the effort.`,
      { details: { name } },
    );
  }
  return { provider, id, ...omitUndefined({ effort }) };
}

/**
 * Up to three known model names that an id without its provider may mean: those that start with it, else
 * those with the most similar word.
 */
function didYouMean(id: string): string {
  const bare = id.replace(/^\/+|[/:].*$/g, "").toLowerCase();
  if (bare === "") return "";
  const known = ["anthropic", "openai", "google"].flatMap((provider) =>
    knownModelIds(provider).map((each) => ({ provider, id: each })),
  );
  const matching = known
    .filter((each) => each.id.startsWith(bare))
    .sort((left, right) => Number(right.id === bare) - Number(left.id === bare));
  const word = closestMatch(bare, new Set(known.flatMap((each) => [...each.id.split("-"), each.id])));
  const similar = known.filter((each) => word === each.id || each.id.split("-").includes(word ?? ""));
  const names = (matching.length > 0 ? matching : similar).map((each) => `${each.provider}/${each.id}`);
  return names.length === 0 ? "" : ` Did you mean ${names.slice(0, 3).join(", ")}?`;
}

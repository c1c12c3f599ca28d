import { misuse } from "../core/base/errors.ts";
import { defined } from "../core/base/json.ts";
import { nearest } from "../core/base/text.ts";
import { EFFORTS, type Effort } from "../core/model/model.ts";
import { knownModelIds } from "./model-info.ts";

/** The parts of a model name. */
export interface ModelName {
  readonly provider: string;
  /** The provider's own id; may hold slashes and colons (`anthropic/claude-x`, `qwen2.5-coder:7b`). */
  readonly id: string;
  readonly effort?: Effort;
}

/**
 * Takes `provider/id[:effort]` apart. Only one of the effort words after the last colon is an effort; every
 * other colon belongs to the id. Throws `invalid_argument` when a part is missing.
 */
export function parseModelName(name: string): ModelName {
  const text = name.trim();
  const slash = text.indexOf("/");
  const effort = EFFORTS.find((each) => text.endsWith(`:${each}`));
  const provider = text.slice(0, Math.max(slash, 0)).trim();
  const id = text.slice(slash + 1, effort && -effort.length - 1).trim();
  if (provider === "" || id === "") {
    throw misuse(
      `"${name}" is not a model name.${didYouMean(text)} Write provider/id, e.g. anthropic/claude-sonnet-5 or ollama/qwen3-coder, with :low, :medium or :high behind it to set the effort.`,
      { details: { name } },
    );
  }
  return { provider, id, ...defined({ effort }) };
}

/**
 * The names of known models that an id without its provider may mean, at most three: they begin so, or hold
 * the word that is most like it.
 */
function didYouMean(id: string): string {
  const bare = id.replace(/^\/+|[/:].*$/g, "").toLowerCase();
  if (bare === "") return "";
  const known = ["anthropic", "openai", "google"].flatMap((provider) =>
    knownModelIds(provider).map((each) => ({ provider, id: each })),
  );
  const begins = known
    .filter((each) => each.id.startsWith(bare))
    .sort((left, right) => Number(right.id === bare) - Number(left.id === bare));
  const word = nearest(bare, new Set(known.flatMap((each) => [...each.id.split("-"), each.id])));
  const alike = known.filter((each) => word === each.id || each.id.split("-").includes(word ?? ""));
  const names = (begins.length > 0 ? begins : alike).map((each) => `${each.provider}/${each.id}`);
  return names.length === 0 ? "" : ` Did you mean ${names.slice(0, 3).join(", ")}?`;
}

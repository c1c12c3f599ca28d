import type { Model } from "../core/model/model.ts";
import type { Tool } from "../core/tool/tool.ts";

/**
 * Windows up to this size, in tokens, are small: what all tools are described with takes a quarter of 16,384.
 */
const SMALL_WINDOW = 16_384;
/** What a small model does as well without. Together a third of what tools take. */
const LARGE_WINDOW_TOOLS: readonly string[] = ["job", "batch", "task"];

/** What decides about the tools of a run. */
export interface OfferedToolsOptions {
  readonly model: Model;
  /** Names of tools whose every call is refused: the model is not shown them. */
  readonly forbidden: readonly string[];
  readonly onNotice: (message: string) => void;
}

/** The tools of a run: those that leave room for a conversation, without an offer of what no rule allows. */
export function offeredTools(
  tools: readonly Tool[],
  { model, forbidden, onNotice }: OfferedToolsOptions,
): readonly Tool[] {
  const window = model.info?.contextWindow ?? Number.POSITIVE_INFINITY;
  const isSmall = window <= SMALL_WINDOW;
  if (isSmall)
    onNotice(`${model.id} has a window of ${window} tokens: ${LARGE_WINDOW_TOOLS.join(", ")} are left out.`);
  return tools
    .filter(({ name }) => !isSmall || !LARGE_WINDOW_TOOLS.includes(name))
    .map((tool) => (forbidden.includes(tool.name) ? { ...tool, offered: false } : tool));
}

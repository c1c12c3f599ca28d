import type { Model } from "../../core/model/model.ts";
import type { Tool } from "../../core/tool/tool.ts";

/** Windows up to this size, in tokens, are small: descriptions of all tools take a quarter of it. */
const SMALL_WINDOW = 16_384;
/** Tools a small model does as well without. Together a third of what tools take. */
const LARGE_WINDOW_TOOLS: readonly string[] = ["job", "batch", "task"];

/** The facts that decide about the tools of a run. */
export interface OfferedToolsOptions {
  /** True for a tool whose every call is refused: the model is not shown it. */
  readonly forbids: (name: string) => boolean;
  /** Told what a small model does without, once a model. */
  readonly onNotice: (message: string) => void;
}

/** The tools a model is offered: those that leave room for a conversation, and that a rule allows. */
export function offeredTools(
  tools: readonly Tool[],
  { forbids, onNotice }: OfferedToolsOptions,
): (model: Model) => readonly Tool[] {
  const known = new WeakMap<Model, readonly Tool[]>();
  const allowed = tools.map((tool) => (forbids(tool.name) ? { ...tool, offered: false } : tool));
  const find = ({ id, info }: Model): readonly Tool[] => {
    const window = info?.contextWindow ?? Number.POSITIVE_INFINITY;
    if (window > SMALL_WINDOW) return allowed;
    onNotice(`${id} has a window of ${window} tokens: ${LARGE_WINDOW_TOOLS.join(", ")} are left out.`);
    return allowed.filter(({ name }) => !LARGE_WINDOW_TOOLS.includes(name));
  };
  return (model) => {
    const offered = known.get(model) ?? find(model);
    known.set(model, offered);
    return offered;
  };
}

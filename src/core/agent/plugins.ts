import { NanoAgentError, toNanoAgentError } from "../base/errors.ts";
import type { StreamPart } from "../model/model.ts";
import type { Change, Fold } from "./plugin.ts";
import type { RunContext, RunPlugin } from "./run-context.ts";

/** Passes a value through the plugins, one after the other. At once where they leave it as it is. */
export function throughPlugins<T>(
  plugins: readonly RunPlugin[],
  value: T,
  step: (plugin: RunPlugin, value: T) => Change<T>,
): T | Promise<T> {
  let asked = 0;
  for (const plugin of plugins) {
    asked++;
    const making = step(plugin, value);
    if (making === undefined) continue;
    const others = plugins.slice(asked);
    return making.then((made) => throughPlugins(others, made ?? value, step));
  }
  return value;
}

/** A request of the conversation is due. Patterns call it once, for all their nested runs. */
export async function beforeTurn(run: RunContext): Promise<void> {
  for (const plugin of run.plugins) {
    const preparing = plugin.beforeTurn?.(run);
    if (preparing !== undefined) await preparing;
  }
}

/** Looks at the parts of one attempt at an answer. */
export function answerWatch({ plugins }: RunContext): (part: StreamPart) => void {
  const [first, ...others] = plugins.flatMap((plugin) => plugin.watchAnswer?.() ?? []);
  return (part) => {
    first?.(part);
    for (const watch of others) watch(part);
  };
}

/** The folds that plugins want kept for every transcript. */
export function foldsOf(plugins: readonly RunPlugin[]): readonly (new () => Fold)[] {
  return plugins.flatMap(({ fold }) => fold ?? []);
}

/** Keeps what a plugin threw, aborts left out, where it cannot end the run before the turn ends. */
export function pluginFailure(run: RunContext, error: unknown): NanoAgentError {
  const failure = toNanoAgentError(error);
  if (!run.signal.aborted) run.failure.error ??= failure;
  return failure;
}

/** Thrown to leave an answer: it is kept without its end, and the run ends with `loop_detected`. */
export class LeftAnswer extends NanoAgentError {
  /** Characters at the end of its text that are not kept. */
  readonly surplus: number;

  constructor(message: string, surplus: number) {
    super("invalid_response", message);
    this.surplus = surplus;
  }
}

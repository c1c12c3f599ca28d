/** When schemas wait behind `find_tools`: above this many tools, or tokens. */
export interface DeferLimits {
  readonly tools: number;
  readonly tokens: number;
}

/** The limits that hold where nothing else is said. */
const DEFER_LIMITS: DeferLimits = { tools: 20, tokens: 5_000 };

/** True when tools are few enough to be offered at once. Their cost is read only if their number fits. */
export function isWithinDefer(
  tools: readonly { readonly tokens: number }[],
  limits: DeferLimits | false = DEFER_LIMITS,
): boolean {
  if (limits === false) return true;
  return tools.length <= limits.tools && tools.reduce((sum, { tokens }) => sum + tokens, 0) <= limits.tokens;
}

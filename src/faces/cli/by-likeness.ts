import { nearest } from "../../core/base/text.ts";

/** `names` with those that look most like `wanted` first. */
export function byLikeness(wanted: string, names: readonly string[]): readonly string[] {
  const rest = [...names];
  const sorted: string[] = [];
  for (let next = nearest(wanted, rest); next !== undefined; next = nearest(wanted, rest)) {
    sorted.push(next);
    rest.splice(rest.indexOf(next), 1);
  }
  return [...sorted, ...rest];
}

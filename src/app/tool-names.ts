import { NanoAgentError } from "../core/base/errors.ts";
import { nearest } from "../core/base/text.ts";

/**
 * The tools a list of names means, e.g. `["bash", "Read,grep"]`: separated by commas or blanks, upper and
 * lower case alike. Throws
 * `invalid_argument` for a name that is none of `known`.
 */
export function parseToolNames(
  list: readonly string[],
  { known, option }: { readonly known: readonly string[]; readonly option: string },
): ReadonlySet<string> {
  const names = new Set<string>();
  for (const text of list) {
    for (const name of text.split(/[\s,]+/)) if (name !== "") names.add(knownName(name, known, option));
  }
  return names;
}

function knownName(name: string, known: readonly string[], option: string): string {
  const found = known.find((tool) => tool.toLowerCase() === name.toLowerCase());
  if (found !== undefined) return found;
  const guess = nearest(name.toLowerCase(), known);
  const hint = guess === undefined ? "" : ` Did you mean ${guess}?`;
  throw new NanoAgentError(
    "invalid_argument",
    `${option} ${JSON.stringify(name)}: there is no such tool.${hint} Tools: ${known.join(", ")}.`,
  );
}

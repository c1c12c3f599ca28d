import { check, ownSchema, STRING } from "../core/base/check.ts";
import { type Edit, type EditError, planEdits, type Replacement } from "./edits/plan-edits.ts";

/**
 * Applies all edits, or none. Every edit refers to `before`, not to what an earlier edit made of it.
 *
 * An `old_string` is looked for exactly, then with the line ends of the text, then folded: blanks at line
 * ends, CR LF against LF, and Unicode quotes, dashes and blanks do not count. A folded match must be the only
 * one. Nothing outside a match changes: a byte order mark stays as it is, and line ends in a `new_string`
 * become those of the text (in a text with both kinds, those around the match).
 */
export function applyEdits(
  before: string,
  edits: readonly Edit[],
): { readonly after: string } | { readonly error: EditError } {
  check(before, STRING, "before");
  check(edits, EDITS, "edits");
  const plan = planEdits(before, edits);
  return "error" in plan ? { error: plan.error } : { after: splice(before, plan.replacements) };
}

const EDITS = ownSchema({
  type: "array",
  items: {
    type: "object",
    properties: { old_string: STRING.schema, new_string: STRING.schema },
    required: ["old_string", "new_string"],
  },
});

/** Puts replacements, sorted and not overlapping, into a text. */
export function splice(before: string, replacements: readonly Replacement[]): string {
  const parts: string[] = [];
  let position = 0;
  for (const { start, end, text } of replacements) {
    parts.push(before.slice(position, start), text);
    position = end;
  }
  parts.push(before.slice(position));
  return parts.join("");
}

import { ownValue } from "../../core/base/json.ts";
/** A text with its variables put in, or the first variable that is not set. */
export type ExpandedText = { readonly text: string } | { readonly missing: string };

/**
 * Puts the values of `${NAME}` and `${NAME:-default}` into a text; a default stands for a variable that is
 * not set or empty. What is put in is not looked at again, and any other `$` stays.
 */
export function expandVariables(
  text: string,
  variables: { readonly [name: string]: string | undefined },
): ExpandedText {
  let missing: string | undefined;
  const expanded = text.replaceAll(VARIABLE, (_whole, name: string, standIn: string | undefined) => {
    const value = ownValue(variables, name);
    if (value !== undefined && (value !== "" || standIn === undefined)) return value;
    if (standIn === undefined) missing ??= name;
    return standIn ?? "";
  });
  return missing === undefined ? { text: expanded } : { missing };
}

/** The names of the variables that a text asks for. */
export function variablesIn(text: string): readonly string[] {
  return [...text.matchAll(VARIABLE)].flatMap(([, name]) => name ?? []);
}

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

import { findRedactionMark } from "../core/base/redaction-mark.ts";

/**
 * What to tell a model that wrote a mark such as `«redacted:github-token»` where the real text is needed; `undefined` when it did not.
 * Writing the mark would put it in the place of the secret.
 */
export function redactedInput(what: string, text: string): string | undefined {
  const mark = findRedactionMark(text);
  if (mark === undefined) return undefined;
  return `${what} contains ${mark}, which stands for a secret that was not shown; nothing was changed. Leave that part of the text alone (an edit of the lines around it works), or refer to the variable or file that holds the secret.`;
}

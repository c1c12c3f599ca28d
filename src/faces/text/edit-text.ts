import { isRecord } from "../../core/base/json.ts";

function prefixLines(prefix: string, text: string): string {
  return `${prefix} ${text.replaceAll("\n", `\n${prefix} `)}`;
}

/** Edits as a call gives them, old and new text line by line; `undefined` if they are not edits. */
export function editsText(edits: unknown): string | undefined {
  const texts = Array.isArray(edits) ? edits.map(editText) : [];
  return texts.length === 0 || texts.includes(undefined) ? undefined : texts.join("\n");
}

function editText(edit: unknown): string | undefined {
  const { old_string, new_string, replace_all, ...more } = isRecord(edit) ? edit : {};
  if (typeof old_string !== "string" || typeof new_string !== "string") return undefined;
  const lines = [prefixLines("-", old_string), prefixLines("+", new_string)];
  if (replace_all === true) lines.push("(everywhere in the file)");
  if (Object.keys(more).length > 0) lines.push(JSON.stringify(more));
  return lines.join("\n");
}

import { isRecord, ownValue } from "../../core/base/json.ts";

export function field(
  fields: Readonly<Record<string, unknown>>,
  ...names: readonly string[]
): { readonly name: string; readonly value: unknown } | undefined {
  for (const name of names) {
    const value = ownValue(fields, name);
    if (value !== undefined && value !== null) return { name, value };
  }
  return undefined;
}

/** A field as one line of text; undefined if it is absent, empty or not text. */
export function textField(fields: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = field(fields, name)?.value;
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const text = String(value).replaceAll(/\s+/g, " ").trim();
  return text === "" ? undefined : text;
}

/** `undefined` for the run's model. */
export function modelField(
  fields: Readonly<Record<string, unknown>>,
  note: (message: string) => void,
): string | undefined {
  const model = textField(fields, "model");
  if (model === undefined || model === "inherit") return undefined;
  if (/^[^\s/]+\/\S+$/.test(model)) return model;
  const shown = JSON.stringify(model.slice(0, 80));
  note(`the model ${shown} is not of the form provider/id: the model of the run is used`);
  return undefined;
}

/** A field that lists names, as text or as a YAML list; an unclosed bracket is kept. */
export function namesIn(value: unknown): readonly string[] | undefined {
  if (typeof value === "string")
    return (value.match(/[^\s,(]+(?:\((?:[^()]|\([^()]*\))*\)|\([^,]*)?/g) ?? []).map((name) => name.trim());
  if (!Array.isArray(value)) return undefined;
  const names: string[] = [];
  for (const item of value as readonly unknown[]) {
    if (typeof item !== "string") return undefined;
    if (item.trim() !== "") names.push(item.trim());
  }
  return names;
}

const MAX_LINE_CHARS = 250;

/** One line for each item a tool offers; those that exceed `maxChars` are only counted. */
export function itemList(
  offered: readonly { readonly name: string; readonly description: string }[],
  tool: string,
  parameter: string,
  maxChars: number,
): string {
  let list = "";
  for (const [index, { name, description }] of offered.entries()) {
    const isLong = description.length > MAX_LINE_CHARS;
    const text = isLong ? `${description.slice(0, MAX_LINE_CHARS - 1).toWellFormed()}…` : description;
    const line = `${list === "" ? "" : "\n"}- ${name}: ${text}`;
    if (list.length + line.length > maxChars)
      return `${list}\n(${offered.length - index} more without room: call ${tool} with the ${parameter} "?" for all names)`;
    list += line;
  }
  return list;
}

/** The names that a map such as `{ write: false, bash: true }` disables; else `undefined`. */
export function disabledNames(value: unknown): readonly string[] | undefined {
  if (!isRecord(value)) return undefined;
  const entries = Object.entries(value);
  if (entries.some(([, on]) => typeof on !== "boolean")) return undefined;
  return entries.filter(([, on]) => on === false).map(([name]) => name);
}

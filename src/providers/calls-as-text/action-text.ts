import { type ParsedToolInput, parseToolInput } from "../../core/base/json.ts";
import type { ToolSpec } from "../../core/model/model.ts";

/** A call as it stands in the text of an answer. */
export interface ActionText extends ParsedToolInput {
  readonly name: string;
}

const ACTION = /^[ \t]*(?:[*_]{2})?action(?:[*_]{2})?[ \t]*:(?:[*_]{2})?[ \t]*/i;
const INPUT = /^[ \t]*(?:[*_]{2})?action[ _]input(?:[*_]{2})?[ \t]*:(?:[*_]{2})?[ \t]*/im;
const OBSERVATION = /^[ \t]*(?:[*_]{2})?observation(?:[*_]{2})?[ \t]*:/im;

/** True when a line begins a call. */
export function beginsAction(line: string): boolean {
  return ACTION.test(line);
}

/** True when a line that is still being written may yet begin a call. */
export function mayBeginAction(line: string): boolean {
  const begun = line
    .trimStart()
    .replace(/^[*_]+/, "")
    .toLowerCase();
  return begun.length < 40 && ("action:".startsWith(begun.replaceAll(/[*_ ]/g, "")) || beginsAction(line));
}

/**
 * The call in a text that begins with its `Action:` line: `Action: name` with `Action Input: {…}` below it,
 * `Action: name[…]`, `Action: name(…)` or `Action: {"name": …, "arguments": …}`. What stands behind an
 * `Observation:` the model has made up. Never throws: what cannot be read is a call with `invalid_input`,
 * which its result tells the model. `cut`: the answer ended inside it.
 */
export function parseAction(text: string, tools: readonly ToolSpec[], cut: boolean): ActionText {
  const body = text.slice(0, OBSERVATION.exec(text)?.index).replace(ACTION, "");
  const input = INPUT.exec(body);
  if (input !== null)
    return call(body.slice(0, input.index), body.slice(input.index + input[0].length), { tools, cut });
  const whole = parseToolInput(unfenced(body));
  if (whole.invalid_input === undefined && body.trim() !== "") {
    const { name, tool, action, ...rest } = whole.input;
    const given = rest["arguments"] ?? rest["action_input"] ?? rest["input"] ?? rest["parameters"] ?? {};
    return call(String(name ?? tool ?? action ?? ""), given, { tools, cut });
  }
  const [, name = body, , inside = ""] = /^\s*([\w.-]+)\s*([[(])([\s\S]*)[\])]\s*$/.exec(body) ?? [];
  return call(name, inside, { tools, cut });
}

function call(
  name: string,
  input: unknown,
  { tools, cut }: { readonly tools: readonly ToolSpec[]; readonly cut: boolean },
): ActionText {
  const wanted = name.trim().replace(/^[`"'*]+|[`"'*.]+$/g, "");
  const tool = tools.find((each) => each.name.toLowerCase() === wanted.toLowerCase());
  const text = typeof input === "string" ? unfenced(input) : JSON.stringify(input);
  const parsed = parseToolInput(text, { truncated: cut && text !== "" });
  const only = parsed.invalid_input === undefined || cut ? undefined : onlyTextOf(tool);
  const value = text.replace(/^(["'])([\s\S]*)\1$/, "$2");
  return { name: tool?.name ?? wanted, ...(only === undefined ? parsed : { input: { [only]: value } }) };
}

/** The one argument of a tool that takes a single text: then the text alone is clear enough. */
function onlyTextOf(tool: ToolSpec | undefined): string | undefined {
  const properties = Object.entries(
    (tool?.parameters["properties"] ?? {}) as Record<string, { type?: unknown }>,
  );
  const required = (tool?.parameters["required"] ?? []) as readonly string[];
  const [name] = required.length === 1 ? required : properties.length === 1 ? [properties[0]?.[0]] : [];
  return properties.find(([each]) => each === name)?.[1]?.type === "string" ? name : undefined;
}

function unfenced(text: string): string {
  return text
    .trim()
    .replace(/^```\w*\n?([\s\S]*?)\n?```[\s\S]*$/, "$1")
    .trim();
}

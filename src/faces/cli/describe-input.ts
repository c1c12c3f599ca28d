import type { ToolInput } from "../../core/message/block.ts";

/** The arguments in the order given: a single text as it is, else `name: value` pairs. */
export function describeInput(input: ToolInput): string {
  const fields = Object.entries(input);
  const [first] = fields;
  if (first === undefined) return "";
  const [, value] = first;
  const rest = fields.slice(1).map(([key, item]) => `${key}: ${clipped(item)}`);
  return [typeof value === "string" ? value.slice(0, 1_000) : `${first[0]}: ${clipped(value)}`, ...rest].join(
    " ",
  );
}

function clipped(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 200));
  return (JSON.stringify(value) ?? "").slice(0, 200);
}

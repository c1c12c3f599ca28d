import { errorMessage } from "../core/base/errors.ts";
import { MAX_JSON_DEPTH } from "../core/base/json.ts";

/**
 * A copy of `value` that JSON and UTF-8 can hold: lone surrogates become U+FFFD, a cycle, a BigInt, a throwing getter or `toJSON` and
 * anything deeper than {@link MAX_JSON_DEPTH} become a text in brackets. Never throws.
 */
export function toPlainValue(value: unknown): unknown {
  return plain(value, []);
}

/** `above` holds the objects around the value. */
function plain(value: unknown, above: readonly object[]): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value === "bigint") return `${value}`;
  if (typeof value !== "object" || value === null) return value;
  if (above.includes(value)) return "[circular]";
  if (above.length >= MAX_JSON_DEPTH) return "[nested too deep]";
  const around = [...above, value];
  try {
    if ("toJSON" in value && typeof value.toJSON === "function") return plain(value.toJSON(), around);
    if (Array.isArray(value)) return value.map((item: unknown) => plain(item, around));
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key.toWellFormed(), plain(item, around)]),
    );
  } catch (error) {
    return `[not serialisable: ${errorMessage(error).toWellFormed()}]`;
  }
}

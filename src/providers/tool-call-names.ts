import { hashText } from "../core/base/text.ts";

/**
 * The id of a tool call as a vendor accepts it: unchanged where that is possible, else a hash of it. The same
 * id gives the same text for the call and for its result. A number is the longest id accepted,
 * `alphanumeric9` means nine letters or digits.
 */
export function toolCallId(id: string, format: number | "alphanumeric9"): string {
  if (format === "alphanumeric9") return /^[a-zA-Z0-9]{9}$/.test(id) ? id : hashed(id, 9);
  return id.length <= format ? id : `call_${hashed(id, 11)}`;
}

/** Letters and digits, at most 11 that differ. */
function hashed(text: string, length: number): string {
  return hashText(text).toString(36).padStart(length, "0").slice(-length);
}

/** A word of an answer (an id, a name) that should be text: a number as text, empty for anything else. */
export function wordOf(value: unknown): string {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? value : "";
}

/**
 * The name of a called tool as every vendor accepts it. Models make names up, and a conversation with one
 * that is refused could not be sent any more; names that are valid stay as they are, for others what is not
 * allowed becomes `_`. The tool itself was never found under such a name, so nothing depends on it.
 */
export function sentToolName(name: string): string {
  if (VALID.test(name)) return name;
  const mended = name.replaceAll(/[^\w-]/gu, "_").slice(0, MAX_LENGTH);
  if (mended === "") return "unnamed_tool";
  // A name that begins with a digit or a dash is refused by some.
  return /^[a-z_]/i.test(mended) ? mended : `_${mended.slice(0, MAX_LENGTH - 1)}`;
}

const MAX_LENGTH = 64;
const VALID = /^[\w-]{1,64}$/;

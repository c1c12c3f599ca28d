/**
 * The id of a tool call as a vendor accepts it: unchanged where that is possible, else a hash of it. The same id gives the same
 * text for the call and for its result. A number is the longest id accepted, `alphanumeric9` means nine letters or digits.
 */
export function toolCallId(id: string, format: number | "alphanumeric9"): string {
  if (format === "alphanumeric9") return /^[a-zA-Z0-9]{9}$/.test(id) ? id : hashText(id, 9);
  return id.length <= format ? id : `call_${hashText(id, 24)}`;
}

/** FNV-1a with several seeds, in base 36: stable, and wide enough that two calls of one conversation never meet. */
function hashText(text: string, length: number): string {
  let out = "";
  for (let seed = 0; out.length < length; seed++) {
    let hash = 0x811c9dc5 ^ Math.imul(seed, 0x9e3779b1);
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    out += (hash >>> 0).toString(36).padStart(7, "0").slice(-6);
  }
  return out.slice(0, length);
}

/** A word of an answer (an id, a name) that should be text: a number as text, empty for anything else. */
export function wordOf(value: unknown): string {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? value : "";
}

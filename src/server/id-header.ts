/**
 * The value of `Last-Event-ID` for an id. A header holds bytes, one for each character, and browsers send
 * the UTF-8 of an id.
 */
export function headerOfId(id: string): string {
  return String.fromCharCode(...new TextEncoder().encode(id));
}

/** The id behind such a value; one that is no UTF-8 stands for itself. */
export function idOfHeader(value: string | null): string | undefined {
  if (value === null) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(
      Uint8Array.from(value, (char) => char.charCodeAt(0)),
    );
  } catch {
    return value;
  }
}

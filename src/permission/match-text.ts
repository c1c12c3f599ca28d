/** True if a pattern matches the whole text: `*` is any run of characters, anything else is literal. */
export function matchesText(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}

export function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

const MAX_STEPS = 8_000_000;

/**
 * A pattern over whole paths; both use `/`. `*` is any run within one folder, `**` any run across folders,
 * `**` and a slash also match nothing; anything else is literal.
 */
export class PathPattern {
  /** A quick check before the full match. */
  readonly #tail: string;
  readonly #tokens: readonly string[];

  constructor(pattern: string) {
    this.#tail = /[^*/]*$/.exec(pattern)?.[0] ?? "";
    this.#tokens = pattern.match(/(?<![^/])\*{2,}\/|\*+|[^*]/gs) ?? [];
  }

  /** True if it matches the whole of `path`. At most pattern × path steps; false beyond eight million. */
  matches(path: string): boolean {
    const tokens = this.#tokens;
    if (!path.endsWith(this.#tail) || tokens.length * path.length > MAX_STEPS) return false;
    // For each prefix length of the path: 1 if the tokens so far match that prefix.
    let matches = Uint8Array.of(1, ...new Uint8Array(path.length));
    for (const token of tokens) {
      const next = new Uint8Array(matches.length);
      let isOpen = false;
      for (let at = 0; at < matches.length; at++) {
        const [char, fitsHere] = [path[at - 1], matches[at] === 1];
        if (!token.startsWith("*")) next[at] = Number(matches[at - 1] === 1 && char === token);
        else {
          if (token === "*" && char === "/") isOpen = false;
          isOpen ||= fitsHere;
          next[at] = Number(token.endsWith("/") ? fitsHere || (isOpen && char === "/") : isOpen);
        }
      }
      matches = next;
    }
    return matches[path.length] === 1;
  }
}

/** One spelling for all names that a lenient file system considers equal. */
export function fold(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

export function lastPart(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

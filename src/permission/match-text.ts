/** True when a pattern describes the whole of a text: `*` is any run of characters, all else is itself. */
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
 * A pattern over whole paths; both are written with `/`. `*` is any run within one folder, `**` any run
 * across folders, `**` and a slash also none at all; everything else is itself.
 */
export class PathPattern {
  /** Every path that fits ends with this: a quick look. */
  readonly #tail: string;
  readonly #tokens: readonly string[];

  constructor(pattern: string) {
    this.#tail = /[^*/]*$/.exec(pattern)?.[0] ?? "";
    this.#tokens = pattern.match(/\*+|[^*]/gsu) ?? [];
  }

  /** True when it describes the whole of `path`. At most pattern × path steps; false beyond eight million. */
  matches(path: string): boolean {
    const tokens = this.#tokens;
    if (!path.endsWith(this.#tail) || tokens.length * path.length > MAX_STEPS) return false;
    let reached = this.#enter(0, new Set());
    for (const char of path) {
      const next = new Set<number>();
      for (const at of reached) {
        const token = tokens[at] ?? "";
        if (!token.startsWith("*")) {
          if (token === char) this.#enter(at + 1, next);
        } else if (token !== "*" || char !== "/") {
          next.add(at);
          this.#enter(at + 1, next);
        }
      }
      if (next.size === 0) return false;
      reached = next;
    }
    return reached.has(tokens.length);
  }

  /** Adds a position in the pattern, and those after stars that stand for nothing. */
  #enter(at: number, reached: Set<number>): Set<number> {
    reached.add(at);
    const tokens = this.#tokens;
    if (tokens[at]?.startsWith("*") !== true) return reached;
    const isWholeFolder = at === 0 || tokens[at - 1] === "/";
    if (isWholeFolder && tokens[at] !== "*" && tokens[at + 1] === "/") this.#enter(at + 2, reached);
    return this.#enter(at + 1, reached);
  }
}

/** One spelling for all that a forgiving file system takes for the same name. */
export function fold(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

export function lastPart(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** How {@link PathPattern} compares. */
export interface MatchPathOptions {
  /** For file systems that do not tell capitals from small letters. Default false. */
  readonly ignoreCase?: boolean;
}

/** `folders` is where whole folders may begin, `inside` where one has: only a slash leads out of it. */
type Token =
  | { readonly type: "text"; readonly char: string }
  | { readonly type: "star" | "deep" | "folders" | "inside" };

const MAX_STEPS = 8_000_000;

/**
 * A pattern over whole paths; both are written with `/`. `*` is any run within one folder, `**` any run
 * across folders, `**` and a slash also none at all; everything else is itself.
 */
export class PathPattern {
  /** The beginning of every path it describes. */
  readonly head: string;
  readonly #tail: string;
  /** The longest text between stars: a quick look. */
  readonly #inner: string;
  readonly #isPlain: boolean;
  readonly #tokens: readonly Token[];
  readonly #ignoreCase: boolean;

  constructor(pattern: string, { ignoreCase = false }: MatchPathOptions = {}) {
    const wanted = ignoreCase ? fold(pattern) : pattern;
    const star = wanted.indexOf("*");
    this.#ignoreCase = ignoreCase;
    this.#isPlain = star === -1;
    this.head = this.#isPlain ? wanted : wanted.slice(0, star);
    // The slash behind `**` may stand for nothing.
    this.#tail = wanted.slice(wanted.lastIndexOf("*") + 1).replace(/^\//, "");
    this.#inner = longest(wanted.split("*").map((piece) => piece.replace(/^\//, "")));
    this.#tokens = this.#isPlain ? [] : tokensOf(wanted);
  }

  /** True when it describes the whole of `path`. At most pattern × path steps; false beyond eight million. */
  matches(path: string): boolean {
    const text = this.#ignoreCase ? fold(path) : path;
    if (this.#isPlain) return text === this.head;
    if (!text.startsWith(this.head) || !text.endsWith(this.#tail) || !text.includes(this.#inner))
      return false;
    return this.#tokens.length * text.length <= MAX_STEPS && walks(this.#tokens, text);
  }
}

function longest(texts: readonly string[]): string {
  return texts.reduce((best, text) => (text.length > best.length ? text : best), "");
}

/** One spelling for all that a forgiving file system takes for the same name. */
export function fold(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

/** Walks the path with the set of places in the pattern that can be reached. */
function walks(wanted: readonly Token[], text: string): boolean {
  let reached = new Uint8Array(wanted.length + 1);
  let next = new Uint8Array(wanted.length + 1);
  reached[0] = 1;
  skip(wanted, reached);
  for (const char of text) {
    next.fill(0);
    if (!step(wanted, char, { reached, next })) return false;
    skip(wanted, next);
    [reached, next] = [next, reached];
  }
  return reached[wanted.length] === 1;
}

function step(
  wanted: readonly Token[],
  char: string,
  { reached, next }: { readonly reached: Uint8Array; readonly next: Uint8Array },
): boolean {
  let alive = false;
  for (let place = 0; place < wanted.length; place++) {
    const token = wanted[place];
    if (reached[place] !== 1 || token === undefined) continue;
    alive = true;
    if (token.type === "text") {
      if (token.char === char) next[place + 1] = 1;
    } else if (token.type === "inside") {
      next[place] = 1;
      if (char === "/") next[place + 1] = 1;
    } else if (token.type === "deep" || (token.type === "star" && char !== "/")) next[place] = 1;
  }
  return alive;
}

function tokensOf(pattern: string): readonly Token[] {
  const tokens: Token[] = [];
  const chars = [...pattern];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? "";
    if (char !== "*") tokens.push({ type: "text", char });
    else if (chars[at + 1] !== "*") tokens.push({ type: "star" });
    else {
      const begins = at === 0 || chars[at - 1] === "/";
      while (chars[at + 1] === "*") at++;
      if (begins && chars[at + 1] === "/") {
        at++;
        tokens.push({ type: "folders" }, { type: "inside" });
      } else tokens.push({ type: "deep" });
    }
  }
  return tokens;
}

/** Passes over tokens that may stand for nothing. */
function skip(tokens: readonly Token[], reached: Uint8Array): void {
  for (let place = 0; place < tokens.length; place++) {
    const type = tokens[place]?.type;
    if (reached[place] !== 1 || type === "text" || type === "inside") continue;
    reached[place + 1] = 1;
    if (type === "folders") reached[place + 2] = 1;
  }
}

/** The last part of a path: the name of a file, or of a program. */
export function lastPart(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

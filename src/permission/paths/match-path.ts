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
  // Every path it describes begins with, ends with and holds these: a quick look.
  readonly #head: string;
  readonly #tail: string;
  readonly #inner: string;
  readonly #tokens: readonly Token[];
  readonly #ignoreCase: boolean;

  constructor(pattern: string, { ignoreCase = false }: MatchPathOptions = {}) {
    const wanted = ignoreCase ? fold(pattern) : pattern;
    this.#ignoreCase = ignoreCase;
    // The slash behind `**` may stand for nothing.
    const pieces = wanted.split("*").map((piece, index) => (index === 0 ? piece : piece.replace(/^\//, "")));
    this.#head = pieces[0] ?? "";
    this.#tail = pieces.at(-1) ?? "";
    this.#inner = pieces.reduce((one, other) => (other.length > one.length ? other : one), "");
    this.#tokens = tokensOf(wanted);
  }

  /** True when it describes the whole of `path`. At most pattern × path steps; false beyond eight million. */
  matches(path: string): boolean {
    const text = this.#ignoreCase ? fold(path) : path;
    if (!text.startsWith(this.#head) || !text.endsWith(this.#tail) || !text.includes(this.#inner))
      return false;
    return this.#tokens.length * text.length <= MAX_STEPS && walks(this.#tokens, text);
  }
}

/** One spelling for all that a forgiving file system takes for the same name. */
export function fold(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

/** The last part of a path: the name of a file, or of a program. */
export function lastPart(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Walks the path with the set of places in the pattern that can be reached. */
function walks(wanted: readonly Token[], text: string): boolean {
  let reached = skipped(wanted, new Set([0]));
  for (const char of text) {
    const next = new Set<number>();
    for (const place of reached) for (const step of stepsOver(wanted[place], char)) next.add(place + step);
    if (next.size === 0) return false;
    reached = skipped(wanted, next);
  }
  return reached.has(wanted.length);
}

const STAY: readonly number[] = [0];
const MOVE: readonly number[] = [1];
const EITHER: readonly number[] = [0, 1];
const NONE: readonly number[] = [];

/** By how many places the pattern may go on when a character is read. */
function stepsOver(token: Token | undefined, char: string): readonly number[] {
  if (token?.type === "text") return token.char === char ? MOVE : NONE;
  if (token?.type === "inside") return char === "/" ? EITHER : STAY;
  return token?.type === "deep" || (token?.type === "star" && char !== "/") ? STAY : NONE;
}

/** Adds the places behind tokens that may stand for nothing. */
function skipped(tokens: readonly Token[], reached: Set<number>): ReadonlySet<number> {
  // A set is walked in the order of insertion: places that are added here are looked at, too.
  for (const place of reached) {
    const type = tokens[place]?.type;
    if (type === undefined || type === "text" || type === "inside") continue;
    reached.add(place + 1);
    if (type === "folders") reached.add(place + 2);
  }
  return reached;
}

function tokensOf(pattern: string): readonly Token[] {
  const tokens: Token[] = [];
  for (const [text] of pattern.matchAll(/(?<=^|\/)\*\*+\/|\*+|[^*]/gu)) {
    if (text.endsWith("*/")) tokens.push({ type: "folders" }, { type: "inside" });
    else if (text === "*") tokens.push({ type: "star" });
    else if (text.startsWith("*")) tokens.push({ type: "deep" });
    else tokens.push({ type: "text", char: text });
  }
  return tokens;
}

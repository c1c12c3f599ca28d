/** How {@link matchesPath} compares. */
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
 * Whether a path pattern describes the whole of `path`; both are written with `/`. `*` is any run within one folder, `**` any run across
 * folders, `**` and a slash also none at all; everything else is itself. At most pattern × path steps; false beyond eight million.
 */
export function matchesPath(
  pattern: string,
  path: string,
  { ignoreCase = false }: MatchPathOptions = {},
): boolean {
  const wanted = tokensOf(ignoreCase ? fold(pattern) : pattern);
  const text = ignoreCase ? fold(path) : path;
  if (wanted.length * text.length > MAX_STEPS) return false;
  let reached = new Uint8Array(wanted.length + 1);
  reached[0] = 1;
  skip(wanted, reached);
  for (const char of text) {
    const next = new Uint8Array(wanted.length + 1);
    let alive = false;
    wanted.forEach((token, place) => {
      if (reached[place] !== 1) return;
      if (token.type === "text") {
        if (token.char === char) next[place + 1] = 1;
      } else if (token.type === "inside") {
        next[place] = 1;
        if (char === "/") next[place + 1] = 1;
      } else if (token.type === "deep" || (token.type === "star" && char !== "/")) next[place] = 1;
      alive = true;
    });
    if (!alive) return false;
    skip(wanted, next);
    reached = next;
  }
  return reached[wanted.length] === 1;
}

/** One spelling for all that a forgiving file system takes for the same name. */
export function fold(text: string): string {
  return text.normalize("NFC").toLowerCase();
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

/** What may stand for nothing is passed over. */
function skip(tokens: readonly Token[], reached: Uint8Array): void {
  tokens.forEach((token, place) => {
    if (reached[place] !== 1) return;
    if (token.type === "star" || token.type === "deep" || token.type === "folders") reached[place + 1] = 1;
    if (token.type === "folders") reached[place + 2] = 1;
  });
}

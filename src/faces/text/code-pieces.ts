/** A stretch of code in one colour; uncoloured without a kind. */
export interface CodePiece {
  readonly text: string;
  /** Comment, string, keyword, number or call. */
  readonly kind?: "c" | "s" | "k" | "n" | "f";
}

interface Grammar {
  readonly comment: string;
  readonly keywords: string;
  /** Quotes of strings that may span lines. */
  readonly long: string;
}

const C_LIKE: Grammar = {
  comment: String.raw`//.*|/\*[^]*?(?:\*/|$)`,
  keywords:
    "abstract as async await bool boolean break case catch char class const continue declare def default defer do double else enum export extends false final finally float fn for from func function go if impl implements import in instanceof int interface let long match mod mut namespace new nil null of package private protected pub public readonly return satisfies self static struct super switch this throw trait true try type typeof undefined use var void while yield",
  long: "`",
};
const PYTHON: Grammar = {
  comment: "#.*",
  keywords:
    "False None True and as assert async await break class continue def del elif else end except finally for from global if import in is lambda module nonlocal not or pass raise return self try while with yield",
  long: `"""|'''`,
};
const SHELL: Grammar = {
  comment: "#.*",
  keywords:
    "case do done elif else esac export fi for function if in local return set then until while true false null",
  long: "`",
};
const DATA: Grammar = { comment: "//.*", keywords: "true false null", long: "`" };
const SQL: Grammar = {
  comment: String.raw`--.*|/\*[^]*?(?:\*/|$)`,
  keywords: withCapitals(
    "add all alter and as asc by case constraint create default delete desc distinct drop else end exists foreign from group having in index inner insert into is join key left like limit not null on or order outer primary references select set table then union unique update values view when where with",
  ),
  long: "`",
};

function withCapitals(words: string): string {
  return `${words} ${words.toUpperCase()}`;
}

const GRAMMARS: { readonly [names: string]: Grammar } = {
  "ts tsx js jsx mjs cjs mts typescript javascript go golang rs rust c h cc cpp hpp java kt kotlin swift cs csharp php css scss less":
    C_LIKE,
  "py python rb ruby": PYTHON,
  "sh bash shell zsh console yaml yml toml ini dockerfile make makefile": SHELL,
  "json jsonc json5 jsonl": DATA,
  sql: SQL,
};

/** Longer lines are data. */
const MAX_CHARS = 50_000;

/** The coloured pieces of code in a language (fence name or file extension); plain if it is unknown. */
export function codePieces(text: string, language: string): readonly CodePiece[] {
  return (text.length > MAX_CHARS ? undefined : pieceReader(language)?.(text)) ?? [{ text }];
}

/** {@link codePieces} for repeated use with a language; undefined if it is unknown. */
export function pieceReader(language: string): ((text: string) => readonly CodePiece[]) | undefined {
  const name = language.toLowerCase();
  const known = Object.keys(GRAMMARS).find((names) => names.split(" ").includes(name));
  const grammar = GRAMMARS[known ?? ""];
  if (grammar === undefined) return undefined;
  const { comment, keywords, long } = grammar;
  const pattern = new RegExp(
    `(?<c>${comment})|(?<s>(?<q>${long})(?:(?!\\k<q>)(?:\\\\[^]|[^\\\\]))*(?:\\k<q>|\\\\?$)|"(?:[^"\\\\\\n]|\\\\.)*"?|'(?:[^'\\\\\\n]|\\\\.)*')|\\b(?<k>${keywords.replaceAll(" ", "|")})\\b|\\b(?<n>\\d[\\w.]*)|(?<f>[\\p{L}_$][\\w$]*)(?=\\()|[\\p{L}_$][\\w$]*`,
    "gu",
  );
  return (text) => piecesOf(text, pattern);
}

function piecesOf(text: string, pattern: RegExp): readonly CodePiece[] {
  const pieces: CodePiece[] = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, part]) => part !== undefined) ?? [];
    if (kind === undefined) continue;
    if (match.index > end) pieces.push({ text: text.slice(end, match.index) });
    pieces.push({ text: match[0], kind: kind as NonNullable<CodePiece["kind"]> });
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end) });
  return pieces;
}

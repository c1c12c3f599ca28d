import type { VNode } from "preact";
import { useMemo } from "preact/hooks";

interface CodeProps {
  readonly text: string;
  readonly language: string;
  /** The part that was changed, which is marked. */
  readonly changed?: readonly [from: number, to: number] | undefined;
}

export function Code({ text, language, changed }: CodeProps): VNode {
  const pieces = useMemo(() => codePieces(text, language), [text, language]);
  if (changed === undefined) return <>{pieces.map(colored)}</>;
  const [from, to] = changed;
  return (
    <>
      {cutOut(pieces, 0, from).map(colored)}
      <mark>{cutOut(pieces, from, to).map(colored)}</mark>
      {cutOut(pieces, to, text.length).map(colored)}
    </>
  );
}

function colored({ text, kind }: CodePiece, at: number): VNode | string {
  return kind === undefined ? (
    text
  ) : (
    <span key={at} class={kind}>
      {text}
    </span>
  );
}

/** The pieces between two places of their text. */
function cutOut(pieces: readonly CodePiece[], from: number, to: number): readonly CodePiece[] {
  let at = 0;
  return pieces.flatMap((piece) => {
    const start = at;
    at += piece.text.length;
    const text = piece.text.slice(Math.max(0, from - start), Math.max(0, to - start));
    return text === "" ? [] : [{ ...piece, text }];
  });
}

/** A stretch of code of one colour; without a class it has none. */
export interface CodePiece {
  readonly text: string;
  /** Comment, string, keyword, number or call. */
  readonly kind?: "c" | "s" | "k" | "n" | "f";
}

interface Grammar {
  readonly comment: string;
  readonly keywords: string;
}

const C_LIKE: Grammar = {
  comment: String.raw`//.*|/\*[^]*?(?:\*/|$)`,
  keywords:
    "abstract as async await bool boolean break case catch char class const continue declare def default defer do double else enum export extends false final finally float fn for from func function go if impl implements import in instanceof int interface let long match mod mut namespace new nil null of package private protected pub public readonly return satisfies self static struct super switch this throw trait true try type typeof undefined use var void while yield",
};
const PYTHON: Grammar = {
  comment: "#.*",
  keywords:
    "False None True and as assert async await break class continue def del elif else end except finally for from global if import in is lambda module nonlocal not or pass raise return self try while with yield",
};
const SHELL: Grammar = {
  comment: "#.*",
  keywords:
    "case do done elif else esac export fi for function if in local return set then until while true false null",
};
const DATA: Grammar = { comment: "//.*", keywords: "true false null" };

const GRAMMARS: { readonly [names: string]: Grammar } = {
  "ts tsx js jsx mjs cjs mts typescript javascript go rs rust c h cc cpp java kt swift cs php css scss":
    C_LIKE,
  "py python rb ruby": PYTHON,
  "sh bash shell zsh console yaml yml toml dockerfile makefile": SHELL,
  "json jsonc jsonl": DATA,
};

/** Longer lines are data. */
const MAX_CHARS = 50_000;

/** The colours of code in a language (name in a fence, ending of a file); plain where it is unknown. */
export function codePieces(text: string, language: string): readonly CodePiece[] {
  const name = language.toLowerCase();
  const known = Object.keys(GRAMMARS).find((names) => names.split(" ").includes(name));
  const grammar = GRAMMARS[known ?? ""];
  if (grammar === undefined || text.length > MAX_CHARS) return [{ text }];
  const words = grammar.keywords.replaceAll(" ", "|");
  const pattern = new RegExp(
    `(?<c>${grammar.comment})|(?<s>"(?:[^"\\\\\\n]|\\\\.)*"?|'(?:[^'\\\\\\n]|\\\\.)*'?|\`(?:[^\`\\\\]|\\\\.)*\`?)|\\b(?<k>${words})\\b|\\b(?<n>\\d[\\w.]*)|(?<f>[\\p{L}_$][\\w$]*)(?=\\()|[\\p{L}_$][\\w$]*`,
    "gu",
  );
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

export function languageOf(path: string): string {
  return /[^./\\]+$/.exec(path)?.[0] ?? "";
}

/** The part in which two lines differ: its beginning and its ends. None where they share too little. */
export function changedPart(
  before: string,
  after: string,
): { readonly from: number; readonly before: number; readonly after: number } | undefined {
  const least = Math.min(before.length, after.length);
  let from = 0;
  while (from < least && before[from] === after[from]) from++;
  let same = 0;
  while (same < least - from && before.at(-1 - same) === after.at(-1 - same)) same++;
  // Lines that share next to nothing are not one line that was changed.
  if ((from + same) * 3 < least) return undefined;
  return { from, before: before.length - same, after: after.length - same };
}

import type { Highlighter } from "../paint/line.ts";
import { type Span, span } from "../paint/line.ts";
import type { Role } from "../paint/theme.ts";

interface Grammar {
  readonly keywords: ReadonlySet<string>;
  readonly comment?: string;
  /** Beginning and end of a comment that may span lines. */
  readonly block?: readonly [string, string];
  readonly quotes: string;
  /** Quotes of which texts go on over line ends. */
  readonly long?: readonly string[];
}

/** A language's colours, by its name in a fence or a file's ending; undefined when it is not known. */
export function highlighterFor(language: string): Highlighter | undefined {
  const known = Object.keys(GRAMMARS).find(
    (name) => name === language || ALIASES[name]?.split(" ").includes(language),
  );
  const grammar = GRAMMARS[known ?? ""];
  return grammar === undefined ? undefined : { line: (text, state) => highlightLine(text, state, grammar) };
}

function highlightLine(
  text: string,
  state: string,
  grammar: Grammar,
): { readonly spans: Span[]; readonly state: string } {
  const spans: Span[] = [];
  const add = (part: string, role?: Role): void => {
    if (part !== "") spans.push(role === undefined ? span(part) : span(part, { role }));
  };
  let rest = text;
  let open = state;
  if (open !== "") {
    const end = rest.indexOf(open);
    const length = end < 0 ? rest.length : end + open.length;
    add(rest.slice(0, length), open === grammar.block?.[1] ? "comment" : "string");
    rest = rest.slice(length);
    if (end >= 0) open = "";
    else return { spans, state: open };
  }
  while (rest !== "") {
    const { length, role, opens } = tokenOf(rest, grammar);
    add(rest.slice(0, length), role);
    rest = rest.slice(length);
    if (opens !== undefined) return { spans, state: opens };
  }
  return { spans, state: "" };
}

interface Token {
  readonly length: number;
  readonly role?: Role;
  /** The token goes on in the next line, up to this. */
  readonly opens?: string;
}

function tokenOf(text: string, grammar: Grammar): Token {
  const { comment, block, quotes, long = [], keywords } = grammar;
  if (comment !== undefined && text.startsWith(comment)) return { length: text.length, role: "comment" };
  if (block !== undefined && text.startsWith(block[0])) return spanning(text, block[0], block[1], "comment");
  const quote = long.find((each) => text.startsWith(each));
  if (quote !== undefined) return spanning(text, quote, quote, "string");
  const [first = ""] = text;
  if (quotes.includes(first)) return { length: stringLength(text, first), role: "string" };
  return wordOf(text, keywords) ?? { length: /^[^\p{L}\p{N}_$@"'`/#\-<]+/u.exec(text)?.[0].length ?? 1 };
}

function wordOf(text: string, keywords: Grammar["keywords"]): Token | undefined {
  const number = /^\d[\w.]*/.exec(text)?.[0];
  if (number !== undefined) return { length: number.length, role: "number" };
  const word = /^[\p{L}_$@][\p{L}\p{N}_$]*/u.exec(text)?.[0];
  if (word === undefined) return undefined;
  if (keywords.has(word)) return { length: word.length, role: "keyword" };
  return text[word.length] === "(" ? { length: word.length, role: "name" } : { length: word.length };
}

function spanning(text: string, begin: string, end: string, role: Role): Token {
  const at = text.indexOf(end, begin.length);
  return at < 0 ? { length: text.length, role, opens: end } : { length: at + end.length, role };
}

function stringLength(text: string, quote: string): number {
  for (let at = 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === quote) return at + 1;
  }
  return text.length;
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}

const C_LIKE = { comment: "//", block: ["/*", "*/"], quotes: "\"'" } as const;

const SQL =
  "add all alter and as asc begin between by case commit constraint create default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references right rollback select set table then union unique update values view when where with";

const GRAMMARS: { readonly [language: string]: Grammar } = {
  ts: {
    ...C_LIKE,
    long: ["`"],
    keywords: words(
      "abstract as async await break case catch class const continue declare default delete do else enum export extends false finally for from function get if implements import in instanceof interface let namespace new null of private protected public readonly return satisfies set static super switch this throw true try type typeof undefined var void while with yield",
    ),
  },
  py: {
    comment: "#",
    quotes: "\"'",
    long: ['"""', "'''"],
    keywords: words(
      "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return self try while with yield",
    ),
  },
  go: {
    ...C_LIKE,
    long: ["`"],
    keywords: words(
      "break case chan const continue default defer else fallthrough false for func go goto if import interface map nil package range return select struct switch true type var",
    ),
  },
  rust: {
    comment: "//",
    block: ["/*", "*/"],
    quotes: '"',
    keywords: words(
      "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while",
    ),
  },
  c: {
    ...C_LIKE,
    keywords: words(
      "abstract auto bool boolean break byte case catch char class const continue default delete do double else enum explicit extends extern false final finally float for foreach goto if implements import in inline int interface internal long namespace new null nullptr operator override package private protected public return short signed sizeof static string struct super switch template this throw throws true try typedef typename union unsigned using var virtual void volatile while",
    ),
  },
  swift: {
    ...C_LIKE,
    quotes: '"',
    keywords: words(
      "as break case catch class companion continue data default defer do else enum extension false final for fun func guard if import in init interface internal is let nil null object open override private protocol public return sealed self static struct super switch this throw throws true try val var when where while",
    ),
  },
  sh: {
    comment: "#",
    quotes: "\"'",
    keywords: words(
      "case do done elif else esac export fi for function if in local return select set then until while",
    ),
  },
  json: { quotes: '"', keywords: words("true false null"), comment: "//" },
  yaml: { comment: "#", quotes: "\"'", keywords: words("true false null yes no on off") },
  sql: {
    comment: "--",
    block: ["/*", "*/"],
    quotes: "'",
    keywords: words(`${SQL} ${SQL.toUpperCase()}`),
  },
  ruby: {
    comment: "#",
    quotes: "\"'",
    keywords: words(
      "alias and begin break case class def do else elsif end ensure false for function if in local module next nil not or redo repeat rescue retry return self super then true undef unless until when while yield",
    ),
  },
  css: { block: ["/*", "*/"], quotes: "\"'", keywords: words("important media import from to") },
  html: { block: ["<!--", "-->"], quotes: "\"'", keywords: words("") },
};

/** Other names of languages, and of those that look alike. */
const ALIASES: { readonly [language: string]: string } = {
  ts: "js jsx tsx mjs cjs mts javascript typescript",
  py: "python",
  go: "golang",
  rust: "rs",
  c: "cpp cc h hpp cs csharp java php",
  swift: "kotlin kt",
  sh: "bash shell zsh console dockerfile make makefile",
  json: "jsonc json5 jsonl",
  yaml: "yml toml ini",
  ruby: "rb lua",
  css: "scss less",
  html: "xml svg vue",
};

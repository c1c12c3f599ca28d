import { type CodePiece, pieceReader } from "../../text/code-pieces.ts";
import { type Line, span } from "../paint/line.ts";
import type { Role } from "../paint/theme.ts";

/** Longer lines are data. */
const MAX_CHARS = 2_000;

/** Colours code line by line. */
export class CodeHighlighter {
  readonly #read: ReturnType<typeof pieceReader>;
  /** The start of a comment or string that the lines so far leave open. */
  #open = "";

  /** `language`: its name in a fence, or a file extension. */
  constructor(language: string) {
    this.#read = pieceReader(language);
  }

  next(text: string): Line {
    const pieces = this.#pieces(text);
    const before = this.#open.length;
    this.#open = openIn(pieces.at(-1));
    return spansOf(pieces, before);
  }

  /** The colours of the line if it came next, without advancing. */
  peek(text: string): Line {
    return spansOf(this.#pieces(text), this.#open.length);
  }

  #pieces(text: string): readonly CodePiece[] {
    const whole = this.#open + text;
    return (text.length > MAX_CHARS ? undefined : this.#read?.(whole)) ?? [{ text: whole }];
  }
}

const ROLES: { readonly [kind in NonNullable<CodePiece["kind"]>]: Role } = {
  c: "comment",
  s: "string",
  k: "keyword",
  n: "number",
  f: "name",
};

/** The opening of an unterminated comment or string; empty for any other piece. */
function openIn({ text, kind }: CodePiece = { text: "" }): string {
  const [, begin = ""] = /^(\/\*|"""|'''|`)/.exec(text) ?? [];
  const end = begin === "/*" ? "*/" : begin;
  const isClosed = text.length >= begin.length + end.length && text.endsWith(end);
  return (kind === "c" || kind === "s") && begin !== "" && !isClosed ? begin : "";
}

/** The pieces from a character on. */
function spansOf(pieces: readonly CodePiece[], from: number): Line {
  let at = 0;
  return pieces.flatMap(({ text, kind }) => {
    const shown = text.slice(Math.max(0, from - at));
    at += text.length;
    return shown === "" ? [] : [span(shown, kind === undefined ? {} : { role: ROLES[kind] })];
  });
}

import { type CodePiece, pieceReader } from "../../text/code-pieces.ts";
import { type Line, span } from "../paint/line.ts";
import type { Role } from "../paint/theme.ts";

/** A longer line is data; colours help nobody. */
const MAX_CHARS = 2_000;

/** Colours code line by line. */
export class CodeHighlighter {
  readonly #read: ReturnType<typeof pieceReader>;
  /** The beginning of a comment or a string that the lines so far leave open. */
  #open = "";

  /** `language`: its name in a fence, or the ending of a file. */
  constructor(language: string) {
    this.#read = pieceReader(language);
  }

  next(text: string): Line {
    const pieces = this.#pieces(text);
    const before = this.#open.length;
    this.#open = openIn(pieces.at(-1));
    return spansOf(pieces, before);
  }

  /** The colours that the next line would have if this were it. */
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

/** The opening of a comment or string that has not ended; empty for any other piece. */
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

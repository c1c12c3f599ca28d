import { type Line, line } from "../paint/line.ts";

/** Colours lines of code, one after the other. */
export interface Highlighter {
  /** The colours of the next line, and the state in which the one after it begins. */
  readonly line: (text: string, state: string) => { readonly spans: Line; readonly state: string };
}

/** Finds the colours of a language; undefined while they are not loaded, and where nobody knows it. */
export type LoadHighlighter = (language: string) => Highlighter | undefined;

/** The lines of one block of code, with colours where the language is known. */
export class CodeHighlighter {
  readonly #highlighter: Highlighter | undefined;
  #state = "";

  constructor(language: string, load: LoadHighlighter | undefined) {
    this.#highlighter = load?.(language.split(/[\s{,]/, 1)[0]?.toLowerCase() ?? "");
  }

  next(text: string): Line {
    const { spans, state } = this.#colour(text);
    this.#state = state;
    return spans;
  }

  /** The line that is being written. */
  peek(text: string): Line {
    return this.#colour(text).spans;
  }

  #colour(text: string): { readonly spans: Line; readonly state: string } {
    // A line of this length is data; colours help nobody.
    if (this.#highlighter === undefined || text.length > 2_000)
      return { spans: line(text), state: this.#state };
    return this.#highlighter.line(text, this.#state);
  }
}

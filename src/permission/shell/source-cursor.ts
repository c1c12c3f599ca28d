/** Why a command line cannot be printed anew. Thrown inside the printer alone. */
export class NotPlain extends Error {
  /** The part that cannot be, as written. */
  readonly part: string;

  constructor(part: string, reason: string) {
    super(reason);
    this.part = part;
  }
}

/** A here-document whose operator was read, and whose text stands behind the end of that line. */
interface PendingText {
  readonly from: number;
  readonly to: number;
}

/**
 * Reads a command line a second time, led by its tree: whatever stands between two things of the tree has to
 * be exactly what Bash wants there, so that no character of the line is left unaccounted for.
 */
export class SourceCursor {
  readonly #source: string;
  at = 0;
  /** Levels of substitutions around this place: there a comment could hold what ends them. */
  nesting = 0;
  #pending: PendingText[] = [];
  #isInBackticks = false;

  constructor(source: string) {
    this.#source = source;
  }

  /** Refuses the line because of what stands here. */
  fail(reason: string, from: number = this.at, to: number = from + 60): never {
    throw new NotPlain(this.#source.slice(from, to).toWellFormed(), reason);
  }

  slice(from: number, to: number): string {
    return this.#source.slice(from, to);
  }

  get isAtEnd(): boolean {
    return this.at >= this.#source.length;
  }

  startsWith(text: string): boolean {
    return this.#source.startsWith(text, this.at);
  }

  /** Goes behind `text`, which has to stand here. */
  expect(text: string): void {
    if (!this.startsWith(text)) this.fail("it is not spelled the way it is read");
    this.at += text.length;
  }

  /** Goes behind what a sticky pattern describes, and returns that. */
  match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.#source)?.[0];
    if (found === undefined) return this.fail("it is not spelled the way it is read");
    this.at += found.length;
    return found;
  }

  /** Goes behind whole words, a reserved one or a plain command: nothing may be glued to them. */
  keyword(word: string): void {
    this.expect(word);
    this.endOfWord();
  }

  /** Whatever was read last has to end here. */
  endOfWord(): void {
    if (this.isAtEnd || DELIMITERS.has(this.#source.charCodeAt(this.at))) return;
    if (!this.#isInBackticks || !this.startsWith("`")) this.fail("it goes on where a word should end");
  }

  /** Skips blanks and continued lines. */
  blank(): void {
    let isContinued = false;
    for (;;) {
      const char = this.#source.charCodeAt(this.at);
      if (char === BLANK || char === TAB) this.at++;
      else if (char === BACKSLASH && this.#source.charCodeAt(this.at + 1) === NEWLINE) {
        this.at += 2;
        isContinued = true;
      } else break;
    }
    if (isContinued && this.hasPending) this.fail("a here-document begins on a continued line");
  }

  /** Skips blanks and, outside of substitutions, line ends and comments; here-documents that begin there. */
  breaks(): void {
    for (;;) {
      this.blank();
      const char = this.#source.charCodeAt(this.at);
      if (char === NEWLINE) this.#newline();
      else if (char === HASH && this.#isComment()) this.match(COMMENT);
      else return;
    }
  }

  /** The end of a statement that is not in the background; tells whether there is one. */
  separator(): boolean {
    this.blank();
    const char = this.#source.charCodeAt(this.at);
    if (char === NEWLINE || (char === HASH && this.#isComment())) return true;
    const next = this.#source.charCodeAt(this.at + 1);
    if (char !== SEMICOLON || next === SEMICOLON || next === AMPERSAND) return false;
    this.at++;
    return true;
  }

  /** Notes a here-document that stands behind the end of this line. */
  defer(text: PendingText): void {
    this.#pending.push(text);
  }

  /** Reads a substitution: its here-documents have to end within it. */
  within<T>(read: () => T, isInBackticks: boolean): T {
    const outer = this.#pending;
    const outside = this.#isInBackticks;
    this.#isInBackticks = isInBackticks;
    this.#pending = [];
    this.nesting++;
    const result = read();
    this.nesting--;
    this.#isInBackticks = outside;
    this.allRead();
    this.#pending = outer;
    return result;
  }

  /** No here-document may be left. */
  allRead(): void {
    if (this.#pending.length > 0) this.fail("its here-document does not end");
  }

  get hasPending(): boolean {
    return this.#pending.length > 0;
  }

  #newline(): void {
    this.at++;
    for (const { from, to } of this.#pending) {
      if (from !== this.at) this.fail("its here-document stands elsewhere");
      this.at = to;
    }
    this.#pending = [];
  }

  #isComment(): boolean {
    return this.nesting === 0 && (this.at === 0 || COMMENT_MAY_FOLLOW.test(this.slice(this.at - 2, this.at)));
  }
}

const [BLANK, TAB, NEWLINE, BACKSLASH, HASH, SEMICOLON, AMPERSAND] = [32, 9, 10, 92, 35, 59, 38];
const DELIMITERS: ReadonlySet<number> = new Set(Array.from(" \t\n;&|()<>", (char) => char.charCodeAt(0)));
/** A blank, or the end of a line that is not continued. */
const COMMENT_MAY_FOLLOW = /(?:[ \t]|(?:^|[^\\])\n)$/;
const COMMENT = /[^\n]*/y;

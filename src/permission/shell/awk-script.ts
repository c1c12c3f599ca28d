import { wordSet } from "../match-text.ts";
import { isPlainRegex } from "./sed-script.ts";

/** The effect of awk beside printing: none, `reads` files it names, or `runs`, also when unreadable. */
export type AwkEffect = "none" | "reads" | "runs";

/**
 * Reads an awk program by its tokens. Only those that every awk cuts alike are known: a slash where it could
 * be a division or begin a regular expression, a pipe, a redirection, an indirect call or a function nobody
 * knows counts as `runs`.
 */
export function awkEffect(program: string): AwkEffect {
  if (program.length > MAX_LENGTH) return "runs";
  try {
    return new AwkReader(program).effect();
  } catch (error) {
    if (error === UNKNOWN_FORM) return "runs";
    throw error;
  }
}

/** Ends the reading. One for all: where it was thrown says nothing, and a stack takes longer than reading. */
const UNKNOWN_FORM = new Error("an unknown form");

/** Functions that calculate, or look at the clock. */
const CALLS: ReadonlySet<string> = new Set(
  `length substr index split sub gsub gensub match sprintf sin cos atan2 exp log sqrt int rand srand tolower toupper strtonum systime
  strftime mktime asort asorti and or xor lshift rshift compl isarray typeof patsplit close fflush`.split(
    /\s+/,
  ),
);
/** Words of the language behind which an operand comes. */
const BEFORE_OPERANDS: ReadonlySet<string> = wordSet("print printf return else do case");
const WORDS: ReadonlySet<string> = new Set(
  `BEGIN END BEGINFILE ENDFILE default break continue next nextfile exit delete in function func getline`.split(
    " ",
  ),
);
/** Words with a condition in brackets behind them. */
const CONTROLS: ReadonlySet<string> = new Set(["if", "while", "for", "switch"]);
const OPENS: ReadonlySet<string> = new Set(["(", "[", "{"]);
/** Marks behind which a slash could divide, or begin an expression. */
const BEFORE_UNCLEAR: ReadonlySet<string> = new Set(["++", "--", "$"]);
/** Marks behind which a statement goes on in the next line, or begins there. */
const GOES_ON: ReadonlySet<string> = wordSet("{ ; , && ||");
/** Files, commands or variables that the program names itself, or the environment. */
const READS = /^(?:getline|ENVIRON|ARGV|ARGC|SYMTAB|FUNCTAB|PROCINFO)$/;
const NEVER = /^(?:system|extension|include|load|namespace)$/;
const MAX_LENGTH = 20_000;

/** The state behind a token: an operand (`/` divides), a place where `/` opens an expression, or neither. */
type TokenEnd = "operand" | "start" | "unclear";

class AwkReader {
  readonly #text: string;
  #at = 0;
  #after: TokenEnd = "start";
  /** Open brackets: `c` for those of `if`, `while`, `for` and `switch`. */
  #open = "";
  #prints = false;
  #continues = true;
  #control = false;
  #effect: AwkEffect = "none";
  readonly #own: ReadonlySet<string>;

  constructor(text: string) {
    this.#text = text;
    this.#own = new Set(
      [...text.matchAll(/\bfunc(?:tion)?[ \t]+([A-Za-z_]\w*)/g)].map(([, name = ""]) => name),
    );
  }

  effect(): AwkEffect {
    while (this.#at < this.#text.length) this.#token();
    if (this.#open !== "") throw UNKNOWN_FORM;
    return this.#effect;
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #token(): void {
    if (this.#take(/[ \t]+|\\\n/y) !== undefined) return;
    const comment = this.#take(/#[^\n]*/y);
    if (comment?.endsWith("\\") === true) throw UNKNOWN_FORM;
    if (comment !== undefined) return;
    if (this.#take(/\n/y) !== undefined) return this.#newline();
    this.#meaningful();
  }

  #meaningful(): void {
    const name = this.#take(/[A-Za-z_]\w*/y);
    const control = this.#control;
    this.#control = false;
    if (name !== undefined) this.#name(name);
    else if (
      this.#take(/(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])|0[xX][\da-fA-F]+(?!\w)/y) !== undefined
    )
      this.#follow("operand");
    else if (this.#take(/"(?:[^"\\\n]|\\[^\n])*"/y) !== undefined) this.#follow("unclear");
    else if (this.#text.charAt(this.#at) === "/") this.#slash();
    else this.#mark(control);
  }

  #follow(after: TokenEnd, continues = false): void {
    this.#after = after;
    this.#continues = continues;
  }

  #newline(): void {
    if (this.#continues) return;
    if (this.#open.includes("(") || this.#open.includes("c") || this.#open.includes("[")) throw UNKNOWN_FORM;
    this.#prints = false;
    this.#follow("start", true);
  }

  #name(name: string): void {
    if (NEVER.test(name)) throw UNKNOWN_FORM;
    if (READS.test(name)) this.#effect = "reads";
    this.#prints ||= name === "print" || name === "printf";
    this.#control = CONTROLS.has(name);
    const isCall = this.#text.charAt(this.#at) === "(";
    const isWord = WORDS.has(name) || CONTROLS.has(name) || CALLS.has(name);
    if (BEFORE_OPERANDS.has(name)) this.#follow("start", name === "else" || name === "do");
    else if (isCall && !isWord && !this.#own.has(name)) throw UNKNOWN_FORM;
    else this.#follow(isWord ? "unclear" : "operand");
  }

  #slash(): void {
    if (this.#after === "unclear") throw UNKNOWN_FORM;
    if (this.#after === "operand") {
      this.#at++;
      // `/=` could begin an expression.
      if (this.#text.charAt(this.#at) === "=") throw UNKNOWN_FORM;
      this.#follow("start");
      return;
    }
    const regex = this.#take(/\/(?:[^/\\\n]|\\[^\n])+\//y);
    if (regex === undefined || !isPlainRegex(regex.slice(1, -1))) throw UNKNOWN_FORM;
    this.#follow("unclear");
  }

  #mark(control: boolean): void {
    const mark = this.#take(/\|\||&&|\+\+|--|\*\*|[-+*%^!=<>]=|!~|[-+*%^!=<>~?:,;$(){}[\]]/y);
    if (mark === undefined) throw UNKNOWN_FORM;
    if (mark === ")" || mark === "]" || mark === "}") return this.#close(mark);
    if (mark.startsWith(">") && this.#prints && !this.#open.endsWith("(")) throw UNKNOWN_FORM;
    if (mark === ";") this.#prints = false;
    if (OPENS.has(mark)) this.#open += mark === "(" && control ? "c" : mark;
    this.#follow(BEFORE_UNCLEAR.has(mark) ? "unclear" : "start", GOES_ON.has(mark));
  }

  #close(mark: ")" | "]" | "}"): void {
    const open = this.#open.at(-1);
    this.#open = this.#open.slice(0, -1);
    if (mark === ")" && open === "c") {
      this.#follow("unclear", true);
      return;
    }
    if (open !== { ")": "(", "]": "[", "}": "{" }[mark]) throw UNKNOWN_FORM;
    if (mark === "}") {
      this.#prints = false;
      this.#follow("start", true);
    } else this.#follow("operand");
  }
}

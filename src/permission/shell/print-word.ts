import type { CommandExpansionPart, HereDoc, ProcessSubstitutionPart, Word, WordPart } from "unbash";
import { braceChoices } from "./expand-braces.ts";
import { isPlainArithmetic } from "./plain-arithmetic.ts";
import { PrintedWord } from "./printed-word.ts";
import { RESERVED_WORDS, shellLiteral } from "./shell-literal.ts";
import type { SourceCursor } from "./source-cursor.ts";

/** How a word is read where it stands. */
export interface WordPlace {
  /** Braces make several words of it. */
  readonly braces?: boolean;
  /** A command begins with it. */
  readonly isName?: boolean;
  /** An assignment begins with it: `~` means something behind each colon. */
  readonly isValue?: boolean;
}

/** The places of words in a command, in the pattern of a `case` and behind `=`. */
export const PLACES: Readonly<Record<"argument" | "program" | "pattern" | "value", WordPlace>> = {
  argument: { braces: true },
  program: { braces: true, isName: true },
  pattern: { isName: true },
  value: { isValue: true },
};

/** The parts that words need of whoever prints commands. */
export interface CommandPrinter {
  readonly cursor: SourceCursor;
  /** Only what every POSIX shell reads alike. */
  readonly posix: boolean;
  /** Prints the commands of a substitution, up to what closes it. */
  commands(part: CommandExpansionPart | ProcessSubstitutionPart): string;
}

/** Prints words anew: literals quoted, expansions as written, nothing that two readers read differently. */
export class WordPrinter {
  readonly #printer: CommandPrinter;
  readonly #cursor: SourceCursor;

  constructor(printer: CommandPrinter) {
    this.#printer = printer;
    this.#cursor = printer.cursor;
  }

  /** One word; where braces make several of it, these with a blank between them. */
  word(word: Word, place: WordPlace = {}): string {
    const cursor = this.#cursor;
    const { text } = word;
    if (cursor.at !== word.pos) cursor.fail("it is not spelled the way it is read");
    if (PLAIN.test(text) && !(place.isName === true && RESERVED_WORDS.has(text))) {
      cursor.expect(text);
      cursor.endOfWord();
      return shellLiteral(text);
    }
    // The parser finds these out when it is asked for them.
    const { parts } = word;
    if (cursor.hasPending && text.includes("\n"))
      cursor.fail("it has several lines, and a here-document follows");
    if (parts === undefined && place.isName === true && RESERVED_WORDS.has(text))
      cursor.fail("a reserved word stands where none can");
    const printed = new PrintedWord();
    if (parts === undefined) this.#literal({ text, value: word.value }, printed, place);
    else this.#parts(parts, printed, place);
    if (cursor.at !== word.end) cursor.fail("it is not spelled the way it is read", word.pos, word.end);
    if (text !== "") cursor.endOfWord();
    return printed.print(cursor, place.isValue);
  }

  #parts(parts: readonly WordPart[], printed: PrintedWord, place: WordPlace): void {
    for (const [index, part] of parts.entries()) {
      if (part.type === "BraceExpansion" && parts[index - 1]?.type === "SimpleExpansion")
        this.#cursor.fail("its braces could be part of a variable's name");
      const isGlued = part.type === "Literal" && index < parts.length - 1;
      // A later character could make more of these than they are by themselves.
      if (isGlued && (part.text.endsWith("$") || (index === 0 && part.text === "~")))
        this.#cursor.fail("something follows that could belong to it");
      this.#part(part, printed, place);
    }
  }

  #part(part: WordPart, printed: PrintedWord, place: WordPlace): void {
    const cursor = this.#cursor;
    switch (part.type) {
      case "Literal":
        this.#literal(part, printed, place);
        return;
      case "SingleQuoted":
        cursor.expect(`'${part.value}'`);
        printed.text(part.value, true);
        return;
      case "AnsiCQuoted":
        this.#bashOnly(part.text);
        if (!ANSI_C.test(part.text)) cursor.fail("its escapes are read in several ways");
        cursor.expect(part.text);
        printed.text(part.value, true);
        return;
      case "DoubleQuoted":
        cursor.expect('"');
        if (part.parts.length === 0) printed.text("", true);
        this.#quotedParts(part.parts, printed, DOUBLE);
        cursor.expect('"');
        return;
      case "Glob":
        if (part.kind === "bracket" && !BRACKET.test(part.text))
          cursor.fail("its brackets are read in several ways");
        cursor.expect(part.text);
        printed.raw(part.text);
        return;
      case "BraceExpansion":
        this.#braces(part.text, printed, place);
        return;
      case "ProcessSubstitution":
        this.#bashOnly(part.text);
        if (!printed.isEmpty) cursor.fail("a substitution is glued to a word");
        cursor.expect(`${part.operator}(`);
        printed.raw(`${part.operator}(${this.#printer.commands(part)})`);
        return;
      default:
        printed.raw(this.#expansion(part));
    }
  }

  /** Text outside of quotes. */
  #literal(
    { text, value }: { readonly text: string; readonly value: string },
    printed: PrintedWord,
    place: WordPlace,
  ): void {
    const cursor = this.#cursor;
    if (!UNQUOTED.test(text) || unescaped(text, ESCAPE) !== value)
      cursor.fail(
        "it has characters that other readers take for something else",
        cursor.at,
        cursor.at + text.length,
      );
    const before = printed.isEmpty;
    if (before && text.startsWith("#")) cursor.fail("a comment begins in it");
    if (before && place.isName === true && ASSIGNMENT.test(text)) cursor.fail("it could be an assignment");
    if (text.includes("~")) this.#tilde(text, { before, place });
    cursor.expect(text);
    printed.text(value, text.startsWith("\\"));
  }

  /** A tilde is a home at the beginning of a word; elsewhere it is one in an assignment alone. */
  #tilde(text: string, { before, place }: { readonly before: boolean; readonly place: WordPlace }): void {
    if (before && /^~(?!$|\/)/.test(text)) this.#cursor.fail("it names the home of somebody");
    const isValue = place.isValue === true || ASSIGNMENT.test(text);
    const isOpen = !before && text.startsWith("~\\");
    if (isOpen || (isValue && /.~/s.test(before ? text : ` ${text}`)))
      this.#cursor.fail("a tilde stands where some take it for a home");
  }

  #braces(text: string, printed: PrintedWord, place: WordPlace): void {
    this.#bashOnly(text);
    const choices = place.braces === true ? braceChoices(text) : undefined;
    if (choices === undefined) return this.#cursor.fail("its braces are read in several ways");
    this.#cursor.expect(text);
    printed.choices(choices);
  }

  /** The inside of double quotes, or of a here-document. */
  #quotedParts(parts: readonly WordPart[], printed: PrintedWord, form: QuotedForm): void {
    const cursor = this.#cursor;
    for (const part of parts) {
      if (part.type !== "Literal") {
        printed.raw(`"${this.#expansion(part, true)}"`);
        continue;
      }
      const { text, value } = part;
      if (!form.text.test(text) || unescaped(text, form.escape) !== value)
        cursor.fail(
          "it has characters that other readers take for something else",
          cursor.at,
          cursor.at + text.length,
        );
      cursor.expect(text);
      if (text.endsWith("$") && part !== parts.at(-1))
        cursor.fail("a dollar sign stands before an expansion");
      printed.text(value, true);
    }
  }

  /** A variable, a calculation or a substitution. */
  #expansion(part: WordPart, isQuoted = false): string {
    const cursor = this.#cursor;
    const { text } = part;
    switch (part.type) {
      case "SimpleExpansion":
        if (!SIMPLE.test(text)) cursor.fail("this variable is not known");
        cursor.expect(text);
        return text;
      case "ParameterExpansion":
        if (!PARAMETER.test(text)) {
          if (this.#printer.posix || !BASH_PARAMETER.test(text))
            cursor.fail("what it does with a variable is more than can be printed anew");
        }
        cursor.expect(text);
        return text;
      case "ArithmeticExpansion":
        if (!/^\$\(\(.*\)\)$/s.test(text) || !isPlainArithmetic(text.slice(3, -2)))
          cursor.fail("it calculates with more than names, numbers and operators");
        cursor.expect(text);
        return text;
      case "CommandExpansion":
        return this.#substitution(part, isQuoted);
      default:
        return cursor.fail(`${part.type} is not read the same by everybody`);
    }
  }

  #substitution(part: CommandExpansionPart, isQuoted: boolean): string {
    const cursor = this.#cursor;
    const { text } = part;
    if (text.startsWith("`")) {
      if (!/^`[^`\\]*`$/.test(text) || (isQuoted && /["']/.test(text)))
        cursor.fail("what stands in its backticks is read in several ways");
      cursor.expect("`");
    } else {
      if (text.startsWith("$((")) cursor.fail("it could be a calculation as well as a substitution");
      cursor.expect("$(");
    }
    const commands = this.#printer.commands(part);
    return `$(${commands.startsWith("(") ? " " : ""}${commands})`;
  }

  /** A here-document as the text it is: what `<<<` takes, which adds the last line feed. */
  heredoc({ body, delimiter, closing, operator }: HereDoc): { readonly text: string; readonly to: number } {
    const cursor = this.#cursor;
    if (delimiter === undefined || closing === undefined)
      return cursor.fail("its here-document does not end");
    const strips = operator === "<<-";
    const end = cursor.slice(body.end, closing.end);
    if ((strips ? end.replace(/^\t+/, "") : end) !== delimiter.value)
      cursor.fail("its here-document does not end where it seems to");
    const lines = body.text.split("\n");
    if (lines.some((line) => (strips ? line.replace(/^\t+/, "") : line) === delimiter.value))
      cursor.fail("its here-document does not end where it seems to");
    const behind = closing.end + (cursor.slice(closing.end, closing.end + 1) === "\n" ? 1 : 0);
    if (behind === closing.end && cursor.slice(behind, behind + 1) !== "")
      cursor.fail("its here-document does not end where it seems to");
    return { text: this.#heredocText(body, { strips, isPlain: delimiter.quoted }), to: behind };
  }

  #heredocText(
    { pos, end, text, parts }: HereDoc["body"],
    { strips, isPlain }: { readonly strips: boolean; readonly isPlain: boolean },
  ): string {
    const cursor = this.#cursor;
    if (text === "") return "";
    if (text !== cursor.slice(pos, end) || !text.endsWith("\n"))
      cursor.fail("its here-document stands elsewhere");
    if (isPlain) return shellLiteral((strips ? text.replaceAll(/^\t+/gm, "") : text).slice(0, -1));
    if (text.includes("\\\n")) cursor.fail("a line of its here-document is continued");
    if (parts !== undefined && strips) cursor.fail("its here-document has tabs taken away around expansions");
    const outer = cursor.at;
    cursor.at = pos;
    const printed = new PrintedWord();
    const value = unescaped(text, HEREDOC.escape);
    this.#quotedParts(parts ?? [{ type: "Literal", pos, end, text, value }], printed, HEREDOC);
    if (cursor.at !== end) cursor.fail("it is not spelled the way it is read", pos, end);
    cursor.at = outer;
    if (strips) return shellLiteral(value.replaceAll(/^\t+/gm, "").slice(0, -1));
    if (!printed.dropLineFeed()) cursor.fail("its here-document ends in an expansion");
    return printed.print(cursor);
  }

  #bashOnly(text: string): void {
    if (this.#printer.posix)
      this.#cursor.fail(`${text.slice(0, 60)} is read by Bash alone, and another shell may run it`);
  }
}

function unescaped(text: string, escape: RegExp): string {
  return text.includes("\\") ? text.replaceAll(escape, "$1") : text;
}

interface QuotedForm {
  readonly text: RegExp;
  readonly escape: RegExp;
}

/** A dollar sign is one where nothing can begin with it. */
const DOUBLE: QuotedForm = {
  text: /^(?:[^"$`\\]|\\[^\n]|\$(?=$|[ \n)|\].,:;/%^+=&<>~}\\]))*$/,
  escape: /\\([$`"\\])/g,
};
const HEREDOC: QuotedForm = {
  text: /^(?:[^$`\\]|\\[^\n]|\$(?=$|[ \n)|\].,:;/%^+=&<>~}\\"]))*$/,
  escape: /\\([$`\\])/g,
};
const PLAIN = /^[\w./:,@%+-]+$/;
/** Braces may stand there when nothing in them could make several words; a dollar sign at the very end. */
const UNQUOTED = /^(?:[\w./:,@%+^=~!#\]-]|[^\0-\x7f]|\\[^\n]|\{[\w./:@%+^=~-]*\}|[{}](?=$)|\[$)*\$?$/;
const ESCAPE = /\\(.)/gs;
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;
const SIMPLE = /^\$(?:[A-Za-z_]\w*|[\d@*#?$!-])$/;
const BRACKET = /^\[[!^]?\]?(?:[\w.,@%+:-]|\[:[a-z]+:\])+\]$/;
const ANSI_C =
  /^\$'(?:[^'\\]|\\[abeEfnrtv\\'"?]|\\x[0-7][\da-fA-F](?![\da-fA-F])|\\[01]?[0-7]{1,2}(?![0-7]))*'$/;
/** Names, and texts around them in which no reader finds anything but text and patterns. */
const PARAMETER =
  /^\$\{(?:#?[A-Za-z_]\w*|\d+|[@*?$!-]|#[@*]?|[A-Za-z_0-9]\w*(?::?[-+=?]|%%?|##?)[\w./:,@%+* -]*)\}$/;
const BASH_PARAMETER =
  /^\$\{(?:#?[A-Za-z_]\w*\[(?:[@*]|\d+)\]|[A-Za-z_0-9]\w*(?:\[[@*]\])?(?:\/\/?[\w.:,@+* -]+(?:\/[\w.:,@+ -]*)?|:(?:\d+| -\d+)(?::-?\d+)?|\^\^?|,,?))\}$/;

import { MAX_BRACE_WORDS } from "./expand-braces.ts";
import { quoted, shellLiteral } from "./shell-literal.ts";
import type { SourceCursor } from "./source-cursor.ts";

/** A word being printed: texts and parts that stay as written, in order. Braces make several words of it. */
export class PrintedWord {
  #forms: Form[] = [new Form()];
  #count = 1;

  /** True when nothing was added yet. */
  get isEmpty(): boolean {
    return this.#forms[0]?.isEmpty === true;
  }

  /** Adds a text that stands for itself. */
  text(text: string, isQuoted: boolean): void {
    for (const form of this.#forms) form.text(text, isQuoted);
  }

  /** Adds what is printed as it is written. */
  raw(text: string): void {
    for (const form of this.#forms) form.raw(text);
  }

  /** Adds one of several texts: a word for each. */
  choices(texts: readonly string[]): void {
    this.#count *= texts.length;
    if (this.#count > MAX_BRACE_WORDS) return;
    this.#forms = this.#forms.flatMap((form) => texts.map((text) => form.with(text)));
  }

  /** Takes away the line feed at the end of its last text; false where it does not end so. */
  dropLineFeed(): boolean {
    return this.#forms.every((form) => form.dropLineFeed());
  }

  /** The words with a blank between them. `isValue`: an assignment begins with it, so it may be nothing. */
  print(cursor: SourceCursor, isValue = false): string {
    if (this.#count > MAX_BRACE_WORDS) cursor.fail("its braces make too many words");
    const [first] = this.#forms;
    if (this.#forms.length === 1 && first !== undefined) return first.print(cursor, isValue);
    return this.#forms.map((form) => form.print(cursor, isValue)).join(" ");
  }
}

/** One word. Its beginning is apart: alone it may stay unquoted, and only there a tilde is one. */
class Form {
  #head: string | undefined;
  #isQuoted = false;
  #rest = "";
  #isMixed = false;
  /** The text at its end, where it does not begin with it. */
  #tail: string | undefined;

  get isEmpty(): boolean {
    return this.#head === undefined && !this.#isMixed;
  }

  text(text: string, isQuoted: boolean): void {
    if (this.#isMixed) {
      if (this.#tail !== undefined) this.#tail += text;
      else if (text !== "" || isQuoted) this.#tail = text;
      return;
    }
    this.#isQuoted ||= isQuoted && (this.#head ?? "") === "";
    this.#head = (this.#head ?? "") + text;
  }

  raw(text: string): void {
    this.#rest = this.#behind + text;
    this.#isMixed = true;
    this.#tail = undefined;
  }

  /** The same with a text behind it. */
  with(text: string): Form {
    const copy = new Form();
    copy.#head = this.#head;
    copy.#isQuoted = this.#isQuoted;
    copy.#rest = this.#rest;
    copy.#isMixed = this.#isMixed;
    copy.#tail = this.#tail;
    copy.text(text, false);
    return copy;
  }

  dropLineFeed(): boolean {
    const last = this.#isMixed ? this.#tail : this.#head;
    if (last?.endsWith("\n") !== true) return false;
    if (this.#isMixed) this.#tail = last.slice(0, -1);
    else this.#head = last.slice(0, -1);
    return true;
  }

  print(cursor: SourceCursor, isValue: boolean): string {
    const head = this.#head;
    if (head === undefined) return this.#isMixed || isValue ? this.#behind : "''";
    if (this.#isQuoted || (head !== "" && !head.startsWith("~")))
      return this.#isMixed ? quoted(head) + this.#behind : shellLiteral(head);
    if (head !== "") return home(head, { isWhole: !this.#isMixed, cursor }) + this.#behind;
    if (!this.#isMixed && !isValue) cursor.fail("its braces leave a word without a letter");
    return this.#behind;
  }

  /** The text behind the one it begins with. */
  get #behind(): string {
    return this.#tail === undefined ? this.#rest : this.#rest + quoted(this.#tail);
  }
}

/** A path that begins with a home: the tilde and the slash behind it only mean that outside of quotes. */
function home(
  text: string,
  { isWhole, cursor }: { readonly isWhole: boolean; readonly cursor: SourceCursor },
): string {
  if (text === "~" && isWhole) return text;
  if (!text.startsWith("~/")) return cursor.fail("it names the home of somebody");
  return text === "~/" ? text : `~/${quoted(text.slice(2))}`;
}

import type {
  ArithmeticFor,
  Assignment,
  Case,
  Command,
  CommandExpansionPart,
  CommandNode,
  CompoundList,
  For,
  If,
  ParsedScript,
  PipelineNode,
  ProcessSubstitutionPart,
  Redirection,
  Statement,
  Word,
} from "unbash";
import { diffWord, PLAIN_DIFF } from "./diff-options.ts";
import { isPlainArithmetic } from "./plain-arithmetic.ts";
import { printRedirection } from "./print-redirection.ts";
import { printTest } from "./print-test.ts";
import { type CommandPrinter, PLACES, WordPrinter } from "./print-word.ts";
import { isPlainCommand, plainSubstitution } from "./shell-literal.ts";
import { NotPlain, SourceCursor } from "./source-cursor.ts";

/** A command line printed anew, or the part that cannot be, and why. */
export type PrintedShell =
  | { readonly text: string }
  | { readonly text?: undefined; readonly part: string; readonly reason: string };

/** The forms that may be printed. */
export interface PrintShellOptions {
  /** Only what every POSIX shell reads like Bash. Default false. */
  readonly posix?: boolean;
  /** Git commands that show differences get options that keep them from running programs. Default false. */
  readonly plainDiffs?: boolean;
}

/**
 * Prints a command line anew from its tree: words with every literal quoted that could be anything else,
 * here-documents as texts, comments left out. The line itself is compared with the tree on the way, character
 * by character: what is not spelled in the one way that everybody reads alike is not printed. Linear; never
 * throws.
 */
export function printShell(
  script: ParsedScript,
  source: string,
  options: PrintShellOptions = {},
): PrintedShell {
  try {
    return { text: new ShellPrinter(source, options).line(script) };
  } catch (error) {
    if (error instanceof NotPlain) return { part: error.part, reason: error.message };
    return { part: source, reason: "it is too complex to be printed anew" };
  }
}

const MAX_DEPTH = 60;
const MAX_KNOWN = 1000;

class ShellPrinter implements CommandPrinter {
  readonly cursor: SourceCursor;
  readonly posix: boolean;
  readonly #words: WordPrinter;
  readonly #plainDiffs: boolean;
  #depth = 0;
  /** Commands that came before, and how deep they stood: substitutions in them take longest to read again. */
  readonly #known = new Map<string, { readonly text: string; readonly depth: number }>();
  /** Conditions around this place: Bash loses its way in a here-document in one. */
  #tests = 0;

  constructor(source: string, { posix = false, plainDiffs = false }: PrintShellOptions) {
    this.cursor = new SourceCursor(source);
    this.posix = posix;
    this.#plainDiffs = plainDiffs;
    this.#words = new WordPrinter(this);
  }

  line(script: ParsedScript): string {
    if (script.errors !== undefined && script.errors.length > 0) this.cursor.fail("it cannot be read");
    const text = this.#open(script.commands);
    if (!this.cursor.isAtEnd) this.cursor.fail("it goes on where it should end");
    this.cursor.allRead();
    return text;
  }

  commands(part: CommandExpansionPart | ProcessSubstitutionPart): string {
    const { cursor } = this;
    const plain = this.#depth < MAX_DEPTH ? plainSubstitution(part.text) : undefined;
    if (plain !== undefined && !this.#mayShowDiffs(plain)) {
      cursor.expect(`${plain})`);
      return plain;
    }
    const { script } = part;
    if (script === undefined || script.source !== undefined || (script.errors?.length ?? 0) > 0)
      return cursor.fail("a substitution cannot be read");
    const isBacktick = cursor.slice(cursor.at - 1, cursor.at) === "`";
    const text = cursor.within(() => this.#open(script.commands), isBacktick);
    cursor.expect(isBacktick ? "`" : ")");
    return text;
  }

  /** Statements that something else closes: the last one needs no end of its own. */
  #open(statements: readonly Statement[]): string {
    const { text } = this.#statements(statements);
    return text.endsWith(";") ? text.slice(0, -1) : text;
  }

  /** Statements in front of a reserved word. */
  #list(list: CompoundList): string {
    const { text, isEnded } = this.#statements(list.commands);
    if (text === "" || !isEnded) this.cursor.fail("its last command does not end");
    return text;
  }

  #statements(statements: readonly Statement[]): { readonly text: string; readonly isEnded: boolean } {
    const { cursor } = this;
    if (++this.#depth > MAX_DEPTH) cursor.fail("it is nested too deeply");
    cursor.breaks();
    let text = "";
    let isEnded = true;
    for (const { command, background } of statements) {
      if (!isEnded) cursor.fail("two commands stand side by side");
      if (text !== "") text += " ";
      text +=
        command.type === "AndOr"
          ? this.#chain(command.commands, command.operators, (node) => this.#pipeline(node))
          : this.#pipeline(command);
      if (background === true) {
        cursor.blank();
        cursor.match(BACKGROUND);
        text += " &";
      } else {
        isEnded = cursor.separator();
        text += ";";
      }
      cursor.breaks();
    }
    this.#depth--;
    return { text, isEnded };
  }

  #chain<Node>(nodes: readonly Node[], operators: readonly string[], print: (node: Node) => string): string {
    let text = "";
    for (const [index, node] of nodes.entries()) {
      if (index > 0) text += this.#operator(operators[index - 1] ?? "");
      text += print(node);
    }
    return text;
  }

  #operator(operator: string): string {
    this.cursor.blank();
    if (operator === "|&" && this.posix) this.cursor.fail("|& is read by Bash alone");
    this.cursor.expect(operator);
    if (this.cursor.startsWith("|") || this.cursor.startsWith("&"))
      this.cursor.fail("an operator is glued to another");
    this.cursor.breaks();
    return ` ${operator} `;
  }

  #pipeline(node: PipelineNode): string {
    if (node.type !== "Pipeline") return this.#node(node);
    let text = "";
    if (node.prefixes.length > 1) this.cursor.fail("several words stand before a pipeline");
    for (const prefix of node.prefixes)
      text += prefix.type === "Negation" ? this.#keyword("!") : this.#time(prefix);
    return text + this.#chain(node.commands, node.operators, (command) => this.#node(command));
  }

  #time({ posix, endOfOptions }: { readonly posix?: unknown; readonly endOfOptions?: unknown }): string {
    if (endOfOptions !== undefined || this.posix) this.cursor.fail("time is read in several ways");
    const text = this.#keyword("time");
    return posix === undefined ? text : text + this.#keyword("-p");
  }

  #keyword(word: string): string {
    this.cursor.keyword(word);
    this.cursor.blank();
    return `${word} `;
  }

  #node(node: CommandNode): string {
    const { cursor } = this;
    switch (node.type) {
      case "Command":
        return this.#command(node);
      case "Redirected": {
        const text = this.#node(node.command);
        return [text, ...node.redirects.map((each) => this.#redirection(each))].join(" ");
      }
      case "Subshell":
        cursor.expect("(");
        if (cursor.startsWith("(")) cursor.fail("it could be a calculation as well as a subshell");
        return `( ${this.#group(node.body)} )`;
      case "BraceGroup":
        return `${this.#keyword("{")}${this.#list(node.body)} ${this.#end("}")}`;
      case "If":
        return this.#if(node);
      case "While":
        return `${this.#keyword(node.kind)}${this.#list(node.clause)} ${this.#body(node.body)}`;
      case "For":
        return this.#for(node);
      case "Case":
        return this.#case(node);
      default:
        return this.#bashNode(node);
    }
  }

  /** Prints the forms that Bash alone reads. */
  #bashNode(node: CommandNode): string {
    const { cursor } = this;
    if (this.posix) cursor.fail(`${node.type} is read by Bash alone`);
    switch (node.type) {
      case "ArithmeticCommand": {
        const text = cursor.slice(node.pos, node.end);
        if (!/^\(\(.*\)\)$/s.test(text) || !isPlainArithmetic(text.slice(2, -2)))
          cursor.fail("it calculates with more than names, numbers and operators");
        cursor.expect(text);
        cursor.endOfWord();
        return text;
      }
      case "ArithmeticFor":
        return this.#countingFor(node);
      case "TestCommand": {
        const open = this.#keyword("[[");
        this.#tests++;
        const text = printTest(node.expression, cursor, this.#words);
        this.#tests--;
        cursor.blank();
        return `${open}${text} ${this.#end("]]")}`;
      }
      default:
        return cursor.fail("this kind of command cannot be printed anew");
    }
  }

  #end(word: string): string {
    return this.#keyword(word).trimEnd();
  }

  #group(body: CompoundList): string {
    const text = this.#open(body.commands);
    if (text === "") this.cursor.fail("there is no command in it");
    this.cursor.expect(")");
    return text;
  }

  /** `do … done` */
  #body(body: CompoundList): string {
    return `${this.#keyword("do")}${this.#list(body)} ${this.#end("done")}`;
  }

  #if(node: If): string {
    const branch = (word: string, list: CompoundList): string => this.#keyword(word) + this.#list(list);
    const texts = [branch("if", node.clause), branch("then", node.then)];
    for (const { clause, then } of node.elif) texts.push(branch("elif", clause), branch("then", then));
    if (node.else !== undefined) texts.push(branch("else", node.else));
    texts.push(this.#end("fi"));
    return texts.join(" ");
  }

  #for({ name, wordlist, body }: For): string {
    const { cursor } = this;
    const open = this.#keyword("for");
    const variable = cursor.match(NAME);
    cursor.breaks();
    if (name.value !== variable || wordlist === undefined)
      return cursor.fail("it loops over what the line does not say");
    let text = `${open}${variable} ${this.#keyword("in").trimEnd()}`;
    for (const word of wordlist) {
      text += ` ${this.#words.word(word, PLACES.argument)}`;
      cursor.blank();
    }
    if (!cursor.separator()) cursor.fail("its list does not end");
    cursor.breaks();
    return `${text}; ${this.#body(body)}`;
  }

  #countingFor({ pos, body }: ArithmeticFor): string {
    const { cursor } = this;
    if (cursor.at !== pos) cursor.fail("it is not spelled the way it is read");
    const head = cursor.match(COUNTING);
    const parts = head.slice(head.indexOf("((") + 2, -2).split(";");
    if (!parts.every(isPlainArithmetic))
      cursor.fail("it calculates with more than names, numbers and operators");
    if (!cursor.separator()) cursor.blank();
    cursor.breaks();
    return `${head}; ${this.#body(body)}`;
  }

  #case({ word, items }: Case): string {
    const { cursor } = this;
    let text = this.#keyword("case") + this.#words.word(word);
    cursor.breaks();
    text += ` ${this.#keyword("in").trimEnd()}`;
    cursor.breaks();
    for (const [index, { pattern, body, terminator }] of items.entries()) {
      if (cursor.startsWith("(")) cursor.expect("(");
      const patterns = pattern.map((each, place) => {
        cursor.blank();
        if (place > 0) cursor.expect("|");
        cursor.blank();
        return this.#words.word(each, PLACES.pattern);
      });
      cursor.blank();
      cursor.expect(")");
      const commands = this.#statements(body.commands);
      if (terminator === ";;") cursor.expect(";;");
      else if (terminator !== undefined || index < items.length - 1 || !commands.isEnded)
        cursor.fail("a case goes on into the next");
      cursor.breaks();
      text += ` (${patterns.join(" | ")}) ${commands.text === "" ? "" : `${commands.text.replace(/;$/, "")} `};;`;
    }
    return `${text} ${this.#end("esac")}`;
  }

  #command(command: Command): string {
    const { cursor } = this;
    const source = cursor.slice(command.pos, command.end);
    if (isPlainCommand(source) && !this.#mayShowDiffs(source) && cursor.at === command.pos) {
      cursor.keyword(source);
      return source;
    }
    // Text that spans lines or ends in backticks is read where it stands.
    if (!source.includes("$(") || /[`\n]|<</.test(source)) return this.#simpleCommand(command);
    const known = this.#known.get(source);
    if (known !== undefined && known.depth >= this.#depth && cursor.at === command.pos) {
      cursor.keyword(source);
      return known.text;
    }
    const text = this.#simpleCommand(command);
    if (this.#known.size < MAX_KNOWN) this.#known.set(source, { text, depth: this.#depth });
    return text;
  }

  #mayShowDiffs(plain: string): boolean {
    return this.#plainDiffs && plain.includes("git");
  }

  #simpleCommand(command: Command): string {
    const { cursor } = this;
    const { prefix, name, suffix } = command;
    const diff = this.#plainDiffs ? diffWord(command) : undefined;
    let text = "";
    for (const each of prefix) text += this.#blank(text) + this.#part(each);
    if (name !== undefined) text += this.#blank(text) + this.#words.word(name, PLACES.program);
    for (const each of suffix) {
      text += this.#blank(text) + this.#part(each);
      if (each === diff) text += ` ${PLAIN_DIFF.join(" ")}`;
    }
    if (text === "") cursor.fail("there is no command in it");
    return text;
  }

  /** The blank between a word and those before it. */
  #blank(before: string): string {
    if (before === "") return "";
    this.cursor.blank();
    return " ";
  }

  #part(part: Word | Assignment | Redirection): string {
    if (part.type === "Word") return this.#words.word(part, PLACES.argument);
    return part.type === "Assignment" ? this.#assignment(part) : this.#redirection(part);
  }

  #assignment({ pos, index, name, append, value }: Assignment): string {
    const { cursor } = this;
    const head = `${name}${append === true ? "+" : ""}=`;
    if (cursor.at !== pos || index !== undefined || !/^[A-Za-z_]\w*\+?=$/.test(head))
      cursor.fail("what it sets cannot be printed anew");
    cursor.expect(head);
    if (value.type === "Word") return head + this.#words.word(value, PLACES.value);
    if (this.posix) cursor.fail("an array is read by Bash alone");
    cursor.expect("(");
    const elements = value.elements.map((each) => {
      cursor.breaks();
      return this.#words.word(each, PLACES.program);
    });
    cursor.breaks();
    cursor.expect(")");
    cursor.endOfWord();
    return `${head}(${elements.join(" ")})`;
  }

  #redirection(node: Redirection): string {
    const { cursor, posix } = this;
    return printRedirection(node, { cursor, posix, words: this.#words, isInTest: this.#tests > 0 });
  }
}

const BACKGROUND = /&(?![&>])/y;
const NAME = /[A-Za-z_]\w*/y;
const COUNTING = /for[ \t]+\(\([^()"'`\\]*\)\)/y;

import type {
  ArithmeticExpression,
  ParameterOperation,
  ParsedScript,
  TestExpression,
  Word,
  WordPart,
} from "unbash";
import { lastPart } from "../paths/match-path.ts";
import { expandBraces } from "./expand-braces.ts";
import { compact, literalWord, type ShellWord, type SimpleCommand } from "./shell-command.ts";
import type { ShellFindings } from "./shell-findings.ts";

/** The state of a word while its parts are read. */
interface WordDraft {
  literal: boolean;
  glob: boolean;
  braces: boolean;
  splits: boolean;
  /** The word, as far as the line tells what it becomes. */
  resolved: string;
  readonly names: string[];
  readonly substitutions: (readonly SimpleCommand[])[];
}

function newDraft(): WordDraft {
  return {
    literal: true,
    glob: false,
    braces: false,
    splits: false,
    resolved: "",
    names: [],
    substitutions: [],
  };
}

/** A part of a word, or of a calculation, that runs a script: it is parsed when it is looked at. */
export interface ScriptHolder {
  readonly text: string;
  readonly script?: ParsedScript | undefined;
}

/** Reads a nested script and returns its commands. */
type NestedReader = (holder: ScriptHolder) => readonly SimpleCommand[];

const MAX_DEPTH = 200;
const PLAIN = /^[\w./:=,%+-]*$/;

/** Reads the words, arithmetic and conditions of a script, and hands every script inside them on. */
export class WordReader {
  readonly #found: ShellFindings;
  readonly #nested: NestedReader;
  /** Levels of calculations and conditions that are being read. */
  #depth = 0;

  constructor(found: ShellFindings, nested: NestedReader) {
    this.#found = found;
    this.#nested = nested;
  }

  /** The words that `word` becomes: several when it has braces. */
  words(word: Word): ShellWord | readonly ShellWord[] {
    const read = this.word(word);
    if (!read.braces) return read;
    const parts = word.parts ?? [];
    const texts = expandBraces(parts);
    if (texts === undefined) return [read];
    const isPlain = read.names.length + read.substitutions.length === 0 && !read.glob && !read.splits;
    // Braces come first: what they leave may begin with a home.
    const isOpen = parts[0]?.type === "Literal" || parts[0]?.type === "BraceExpansion";
    return texts.map((text) => {
      const tilde = isOpen && text.startsWith("~");
      return { ...read, text, resolved: text, braces: false, tilde, literal: isPlain && !tilde };
    });
  }

  /** One word, its braces as they are. */
  word(word: Word): ShellWord {
    const { text } = word;
    if (PLAIN.test(text)) return literalWord(text);
    const draft = newDraft();
    const parts = word.parts;
    // A calculation in brackets that does not end.
    if (parts === undefined && word.text.includes("$[")) this.#unreadable(word.text);
    if (parts === undefined) draft.resolved = word.value;
    else for (const part of parts) this.#part(part, draft);
    const tilde = word.text.startsWith("~");
    return {
      text: word.value,
      literal: draft.literal && !tilde,
      glob: draft.glob,
      tilde,
      braces: draft.braces,
      splits: draft.splits,
      names: compact(draft.names),
      substitutions: compact(draft.substitutions),
      resolved: draft.resolved,
    };
  }

  #part(part: WordPart, draft: WordDraft): void {
    switch (part.type) {
      case "Literal":
      case "SingleQuoted":
      case "AnsiCQuoted":
        draft.resolved += part.value;
        return;
      case "DoubleQuoted":
      case "LocaleString":
        if (part.type === "LocaleString") draft.literal = false;
        this.#quoted(part.parts, draft);
        return;
      case "Glob":
      case "ExtendedGlob":
        draft.glob = true;
        draft.literal = false;
        this.#inner(part.parts, draft);
        draft.resolved += part.text;
        return;
      case "BraceExpansion":
        draft.braces = true;
        draft.literal = false;
        this.#inner(part.parts, draft);
        draft.resolved += part.text;
        return;
      default:
        draft.literal = false;
        draft.splits = true;
        this.#expansion(part, draft);
    }
  }

  #quoted(parts: readonly WordPart[], draft: WordDraft): void {
    const { splits } = draft;
    for (const part of parts) this.#part(part, draft);
    // All but `"$@"` stay one word.
    draft.splits = splits || parts.some(({ text }) => /^\$\{?(?:@|\w+\[@\])/.test(text));
  }

  /** Parts whose text is not a piece of the word by itself. */
  #inner(parts: readonly WordPart[] | undefined, draft: WordDraft): void {
    const { resolved } = draft;
    for (const part of parts ?? []) this.#part(part, draft);
    draft.resolved = resolved;
  }

  #expansion(part: WordPart, draft: WordDraft): void {
    switch (part.type) {
      case "SimpleExpansion": {
        const name = part.text.slice(1);
        draft.names.push(name);
        draft.resolved += this.#found.valueOf(name) ?? "";
        return;
      }
      case "ParameterExpansion":
        draft.names.push(part.prefix === "!" ? "!" : part.parameter);
        // The value names what is read: as an index it could run a command.
        if (part.prefix === "!") this.#found.calculates(part.parameter, part.text);
        if (part.index !== undefined) this.#subscript(part.index, part.text);
        draft.resolved += this.#found.valueOf(part.parameter) ?? "";
        if (part.operation !== undefined) this.#operation(part.operation, part.parameter, draft);
        return;
      case "CommandExpansion": {
        const commands = this.#nested(part);
        draft.substitutions.push(commands);
        draft.resolved += printedBy(commands);
        return;
      }
      case "ProcessSubstitution":
        this.#nested(part);
        draft.names.push("/dev/fd");
        return;
      case "ArithmeticExpansion":
        draft.names.push("#");
        if (part.expression === undefined) this.#unreadable(part.text);
        else this.arithmetic(part.expression, part.text);
        return;
      default:
        this.#unreadable(part.text);
    }
  }

  #operation(operation: ParameterOperation, name: string, draft: WordDraft): void {
    switch (operation.type) {
      case "Default": {
        const operand = this.word(operation.operand);
        draft.names.push(...operand.names);
        draft.substitutions.push(...operand.substitutions);
        if (operation.operator.includes("=")) this.#found.assigns(name, `\${${name}${operation.operator}…}`);
        if (operation.operator.includes("+") || this.#found.valueOf(name) === undefined) {
          // The text of a default can be anything: as good as a value the line sets.
          if (operand.text !== "") draft.names.push("@");
          draft.resolved += operand.resolved;
        }
        return;
      }
      case "Remove":
      case "CaseModification":
        if (operation.operand !== undefined) this.word(operation.operand);
        return;
      case "Replace":
        this.word(operation.pattern);
        this.word(operation.replacement);
        draft.names.push("@");
        return;
      case "Slice":
        this.#subscript(operation.offset, name);
        if (operation.length !== undefined) this.#subscript(operation.length, name);
        return;
      case "Transform":
        // `@P` runs the command substitutions in the value.
        if (operation.operand.text.includes("P")) this.#unreadable(`\${${name}@P}`);
        return;
      case "Names":
        return;
      default:
        this.#unreadable(`\${${name}${operation.operator}…}`);
    }
  }

  /** An index: arithmetic, so a quoted substitution in it runs all the same. */
  #subscript(index: Word, part: string): void {
    const word = this.word(index);
    if (hidesCommand(word.text) && word.substitutions.length === 0) this.#unreadable(part);
    for (const [name] of word.text.matchAll(/[A-Za-z_]\w*/g)) this.#found.calculates(name, part);
  }

  /** Reads an arithmetic expression. */
  arithmetic(expression: ArithmeticExpression, part: string): void {
    if (this.#depth > MAX_DEPTH) {
      this.#unreadable(part);
      return;
    }
    this.#depth++;
    let left = expression;
    // A long sum is a chain of left sides.
    while (left.type === "ArithmeticBinary") {
      if (/^(?:[-+*/%&|^]|<<|>>)?=$/.test(left.operator)) this.#arithmeticAssign(left.left, part);
      this.arithmetic(left.right, part);
      left = left.left;
    }
    this.#calculation(left, part);
    this.#depth--;
  }

  #calculation(
    expression: Exclude<ArithmeticExpression, { readonly type: "ArithmeticBinary" }>,
    part: string,
  ): void {
    switch (expression.type) {
      case "ArithmeticUnary":
        if (expression.operator === "++" || expression.operator === "--")
          this.#arithmeticAssign(expression.operand, part);
        this.arithmetic(expression.operand, part);
        return;
      case "ArithmeticTernary":
        for (const each of [expression.test, expression.consequent, expression.alternate])
          this.arithmetic(each, part);
        return;
      case "ArithmeticGroup":
        this.arithmetic(expression.expression, part);
        return;
      case "ArithmeticCommandExpansion":
        this.#nested(expression);
        return;
      case "ArithmeticWord":
        this.#arithmeticWord(expression.value, expression.parts, part);
        return;
      default:
        this.#unreadable(part);
    }
  }

  #arithmeticWord(value: string, parts: readonly WordPart[] | undefined, part: string): void {
    const draft = newDraft();
    for (const each of parts ?? []) {
      if (each.type !== "Literal" || hidesCommand(each.value)) this.#part(each, draft);
      const quoted =
        each.type === "SingleQuoted" || each.type === "AnsiCQuoted" || each.type === "DoubleQuoted";
      if (quoted && hidesCommand(each.text)) this.#unreadable(part);
    }
    if ((parts === undefined || parts.length === 0) && hidesCommand(value)) this.#unreadable(part);
    for (const [name] of value.matchAll(/[A-Za-z_]\w*/g)) this.#found.calculates(name, part);
  }

  #arithmeticAssign(target: ArithmeticExpression, part: string): void {
    const name = target.type === "ArithmeticWord" ? target.value.replace(/\[.*$/s, "") : "?";
    this.#found.assigns(name, part);
  }

  /** Reads a condition of `[[ … ]]`. */
  test(expression: TestExpression, part: string): void {
    if (this.#depth > MAX_DEPTH) {
      this.#unreadable(part);
      return;
    }
    this.#depth++;
    this.#condition(expression, part);
    this.#depth--;
  }

  #condition(expression: TestExpression, part: string): void {
    switch (expression.type) {
      case "TestUnary":
        this.#testOperand(expression.operand, expression.operator === "-v", part);
        return;
      case "TestBinary": {
        const numbers = /^-(?:eq|ne|lt|le|gt|ge)$/.test(expression.operator);
        this.#testOperand(expression.left, numbers, part);
        this.#testOperand(expression.right, numbers, part);
        return;
      }
      case "TestLogical":
        for (const operand of expression.operands) this.test(operand, part);
        return;
      case "TestNot":
        this.test(expression.operand, part);
        return;
      case "TestGroup":
        this.test(expression.expression, part);
        return;
      default:
        this.#unreadable(part);
    }
  }

  #testOperand(word: Word, evaluated: boolean, part: string): void {
    const read = this.word(word);
    if (!evaluated) return;
    if (hidesCommand(read.text) && read.substitutions.length === 0) this.#unreadable(part);
    if (/[[\]]/.test(read.text)) this.#unreadable(part);
    for (const name of [...read.names, ...(read.text.match(/[A-Za-z_]\w*/g) ?? [])])
      this.#found.calculates(name, part);
  }

  #unreadable(part: string): void {
    this.#found.obstacle({ part, reason: "what this expands to, or runs, cannot be told" });
  }
}

/** True when a text would run something if it were evaluated once more. */
export function hidesCommand(text: string): boolean {
  return text.includes("$(") || text.includes("`") || text.includes("${");
}

/** The text that a substitution prints, when it is a plain `echo` or `printf` or looks a program up. */
function printedBy(commands: readonly SimpleCommand[]): string {
  const words = commands[0]?.words ?? [];
  const name = lastPart(words[0]?.resolved ?? "");
  if (!PRINTING.has(name)) return "";
  const texts = words
    .slice(1)
    .map(({ resolved }) => resolved)
    .filter((text) => !text.startsWith("-"));
  return (name === "printf" && texts.length > 1 ? texts.slice(1) : texts).join(" ");
}

const PRINTING = new Set(["echo", "which", "command", "type", "printf"]);

import type {
  ArithmeticExpression,
  Assignment,
  Command,
  CommandNode,
  CompoundList,
  ParsedScript,
  PipelineNode,
  Redirection,
  Statement,
  Word,
} from "unbash";
import { bareCommand, plainWords } from "./bare-command.ts";
import { MAX_LENGTH, parseShell } from "./parse-shell.ts";
import {
  compact,
  literalWord,
  type ShellReading,
  type ShellWord,
  type SimpleCommand,
  standsAlone,
} from "./shell-command.ts";
import { ShellFindings } from "./shell-findings.ts";
import { isPlainCommand, plainSubstitution } from "./shell-literal.ts";
import { isOrdinaryVariable } from "./variable-names.ts";
import { hidesCommand, type ScriptHolder, WordReader } from "./word-reader.ts";
import { FolderWalk, START } from "./work-folders.ts";

/**
 * Takes a command line apart: every simple command in it, wherever it stands (operators, groups, loops,
 * conditions, functions, substitutions, here-documents, redirection targets), every file the shell opens, and
 * every place that cannot be judged. Never throws.
 */
export function readShell(source: string): ShellReading {
  const found = new ShellFindings();
  if (source.length <= MAX_LENGTH && isPlainCommand(source)) {
    // What nobody can read in two ways needs no parser.
    found.commands.push(bareCommand(plainWords(source), source));
    found.finish();
    return found;
  }
  const { script, problem } = parseShell(source);
  if (problem !== undefined) {
    const obstacle = { part: source, reason: `it cannot be read as a command line: ${problem}` };
    if (script === undefined) found.leaveUnread(source, obstacle);
    else found.obstacle(obstacle);
  }
  if (script !== undefined) {
    found.script = script;
    new ShellReader(source, found).script(script, source);
    found.finish();
  }
  return found;
}

const MAX_DEPTH = 200;
const MIN_NESTED = 64_000;
const NESTED_PER_CHARACTER = 4;
/** Commands of a pipeline that are known to those behind them. */
const MAX_PIPED = 64;

class ShellReader {
  readonly #found: ShellFindings;
  readonly #words: WordReader;
  #source: string;
  #depth = 0;
  readonly #walk = new FolderWalk();
  /** Commands that depend on nothing before them and do nothing but run, with those inside them. */
  #known: Map<string, readonly SimpleCommand[]> | undefined;
  /** Characters of nested scripts that may still be read: each level reads those below it once more. */
  #nestedLeft: number;

  constructor(source: string, found: ShellFindings) {
    this.#found = found;
    this.#words = new WordReader(found, (holder) => this.#nested(holder));
    this.#source = source;
    this.#nestedLeft = MIN_NESTED + NESTED_PER_CHARACTER * source.length;
  }

  script(script: ParsedScript, text: string): void {
    const error = script.errors?.[0];
    if (error !== undefined && text !== this.#source)
      this.#found.obstacle({ part: text, reason: `it cannot be read: ${error.message}` });
    const outer = this.#source;
    if (script.source !== undefined) this.#source = script.source;
    this.#statements(script.commands);
    this.#source = outer;
  }

  #nested(holder: ScriptHolder): readonly SimpleCommand[] {
    const { text } = holder;
    this.#nestedLeft -= text.length;
    const isTooMuch = this.#nestedLeft < 0;
    const plain = isTooMuch || this.#depth > MAX_DEPTH ? undefined : plainSubstitution(text);
    if (plain !== undefined) {
      const command = { ...bareCommand(plainWords(plain), plain), folders: this.#walk.folders };
      this.#found.commands.push(command);
      return [command];
    }
    const script = isTooMuch ? undefined : holder.script;
    if (script === undefined) {
      const reason = isTooMuch ? "it is nested too deeply to be read" : "what it runs cannot be read";
      this.#found.leaveUnread(text, { part: text, reason });
      return [];
    }
    const before = this.#found.commands.length;
    this.#walk.apart(() => this.script(script, text));
    return this.#found.commands.slice(before);
  }

  #statements(statements: readonly Statement[]): void {
    if (this.#depth > MAX_DEPTH) {
      this.#found.leaveUnread(this.#source, {
        part: this.#source.slice(0, 200),
        reason: "it is nested too deeply to be read",
      });
      return;
    }
    this.#depth++;
    for (const { command, background } of statements)
      if (background === true) this.#walk.apart(() => this.#statement(command));
      else this.#statement(command);
    this.#depth--;
  }

  #statement(command: Statement["command"]): void {
    if (command.type !== "AndOr") this.#pipeline(command);
    else this.#walk.chain(command.commands, command.operators, (node) => this.#pipeline(node));
  }

  #list(list: CompoundList | undefined): void {
    if (list !== undefined) this.#statements(list.commands);
  }

  #pipeline(node: PipelineNode): void {
    if (node.type !== "Pipeline") {
      this.#node(node, NONE);
      return;
    }
    // `time time x` is one wrapper as well as another: looking at each would take time without end.
    const time = node.prefixes.find(({ type }) => type === "Time");
    if (time !== undefined) this.#timed(this.#slice({ pos: time.pos, end: node.end }));
    if (node.prefixes.some(({ type }) => type !== "Time" && type !== "Negation")) this.#unknown(node);
    const before = this.#found.commands.length;
    let piped: readonly SimpleCommand[] = NONE;
    for (const command of node.commands) {
      if (piped.length < MAX_PIPED) piped = this.#found.commands.slice(before, before + MAX_PIPED);
      if (node.commands.length === 1) this.#node(command, piped);
      else this.#walk.apart(() => this.#node(command, piped));
    }
  }

  /** The keyword `time` is a wrapper of its own: what it times is judged besides. */
  #timed(source: string): void {
    const [keyword = "time", ...rest] = source.trim().split(/\s+/);
    const words = [keyword, ...rest].map((text) => literalWord(text));
    this.#found.commands.push({
      words,
      assignments: [],
      input: [],
      piped: [],
      folders: this.#walk.folders,
      source,
    });
  }

  #node(node: CommandNode, piped: readonly SimpleCommand[]): void {
    switch (node.type) {
      case "Command":
        this.#command(node, piped);
        return;
      case "Redirected":
        for (const redirection of node.redirects) this.#redirection(redirection);
        this.#node(node.command, piped);
        return;
      case "Subshell":
        this.#walk.apart(() => this.#list(node.body));
        return;
      case "BraceGroup":
        this.#list(node.body);
        return;
      case "If":
        this.#list(node.clause);
        this.#walk.branches([
          () => this.#list(node.then),
          ...node.elif.flatMap(({ clause, then }) => [() => this.#list(clause), () => this.#list(then)]),
          () => this.#list(node.else),
        ]);
        return;
      case "While":
        this.#walk.again(this.#slice(node));
        this.#list(node.clause);
        this.#list(node.body);
        return;
      case "For":
      case "Select":
        this.#walk.again(this.#slice(node));
        this.#loop(node.name.value, node.wordlist, node.type === "For" ? this.#slice(node) : undefined);
        this.#list(node.body);
        return;
      default:
        this.#rareNode(node);
    }
  }

  #rareNode(node: CommandNode): void {
    switch (node.type) {
      case "Case":
        this.#words.word(node.word);
        for (const { pattern } of node.items) for (const each of pattern) this.#words.word(each);
        this.#walk.branches(
          node.items.map(
            ({ body }) =>
              () =>
                this.#list(body),
          ),
        );
        return;
      case "ArithmeticFor":
        this.#walk.again(this.#slice(node));
        for (const each of [node.initialize, node.test, node.update]) this.#counter(each, this.#slice(node));
        this.#list(node.body);
        return;
      case "ArithmeticCommand":
        if (node.expression === undefined) this.#unknown(node);
        else this.#words.arithmetic(node.expression, this.#slice(node));
        return;
      case "TestCommand":
        this.#words.test(node.expression, this.#slice(node));
        return;
      case "Function":
        this.#found.change(this.#slice(node), "it defines a function");
        if (node.body.type === "CompoundList") this.#list(node.body);
        else this.#node(node.body, NONE);
        return;
      case "Coproc":
        this.#unknown(node);
        if (node.body.type === "CompoundList") this.#list(node.body);
        else this.#node(node.body, NONE);
        return;
      default:
        this.#unknown(node);
    }
  }

  #unknown(node: { readonly pos: number; readonly end: number }): void {
    this.#found.obstacle({ part: this.#slice(node), reason: "this kind of command cannot be judged" });
  }

  /** A counting loop may set plain variables: `i=0`, `i++`. */
  #counter(expression: ArithmeticExpression | undefined, part: string): void {
    if (expression === undefined) return;
    if (expression.type === "ArithmeticBinary" && expression.operator === ",") {
      this.#counter(expression.left, part);
      this.#counter(expression.right, part);
      return;
    }
    const target =
      expression.type === "ArithmeticUnary"
        ? expression.operand
        : expression.type === "ArithmeticBinary" && expression.operator.endsWith("=")
          ? expression.left
          : undefined;
    const name = target?.type === "ArithmeticWord" ? target.value : undefined;
    if (name === undefined || !/^[a-z_]\w*$/.test(name)) {
      this.#words.arithmetic(expression, part);
      return;
    }
    this.#found.counts(name, literalWord("0"));
    if (expression.type === "ArithmeticBinary") this.#words.arithmetic(expression.right, part);
  }

  #loop(name: string, list: readonly Word[] | undefined, part: string | undefined): void {
    const words = list?.flatMap((word) => this.#words.words(word));
    const hiding = words?.find(({ text, substitutions }) => substitutions.length === 0 && hidesCommand(text));
    if (hiding !== undefined && !hiding.names.length) this.#found.set(name, undefined);
    this.#found.set(name, part === undefined ? undefined : words);
    if (!isOrdinaryVariable(name))
      this.#found.change(`for ${name}`, `it sets ${name}, which programs may look at`);
  }

  /** Commands with substitutions recur in long lines: reading these again and again takes longest. */
  #command(node: Command, piped: readonly SimpleCommand[]): void {
    const source = this.#slice(node);
    if (isPlainCommand(source)) {
      const { folders } = this.#walk;
      return this.#push({ ...bareCommand(plainWords(source), source), piped, folders });
    }
    if (piped.length > 0 || this.#walk.folders !== START || !source.includes("$("))
      return this.#simpleCommand(node, piped, source);
    const { commands, count } = this.#found;
    const known = this.#known?.get(source);
    if (known !== undefined) {
      commands.push(...known);
      return;
    }
    const from = commands.length;
    this.#simpleCommand(node, piped, source);
    if (count !== this.#found.count || this.#walk.folders !== START) return;
    const inner = commands.slice(from);
    if (inner.every(standsAlone)) (this.#known ??= new Map()).set(source, inner);
  }

  #simpleCommand(node: Command, piped: readonly SimpleCommand[], source: string): void {
    const assignments: ShellWord[] = [];
    const input: string[] = [];
    for (const each of node.prefix) {
      if (each.type === "Assignment") assignments.push(this.#assignment(each));
      else input.push(...this.#redirection(each));
    }
    const words: ShellWord[] = [];
    if (node.name !== undefined) this.#name(node.name, words);
    for (const each of node.suffix) {
      if (each.type === "Word") this.#add(each, words);
      else if (each.type === "Assignment") words.push(this.#assignment(each));
      else input.push(...this.#redirection(each));
    }
    if (words.length === 0 && assignments.length === 0) return;
    this.#push({
      words: compact(words),
      assignments: compact(assignments),
      input: compact(input),
      piped,
      folders: this.#walk.folders,
      source,
    });
  }

  #push(command: SimpleCommand): void {
    this.#found.commands.push(command);
    this.#walk.command(command);
  }

  #name(name: Word, words: ShellWord[]): void {
    this.#add(name, words);
    const [first] = words;
    // A name that braces spell is none that a person reads.
    const hasBraces = name.text.includes("{") && name.parts?.some(({ type }) => type === "BraceExpansion");
    if (first !== undefined && hasBraces === true) words[0] = { ...first, literal: false };
  }

  #add(word: Word, words: ShellWord[]): void {
    const read = this.#words.words(word);
    if ("text" in read) words.push(read);
    else words.push(...read);
  }

  #assignment(node: Assignment): ShellWord {
    const { value, name } = node;
    if (node.index !== undefined) {
      const index = this.#words.word(node.index);
      if (hidesCommand(index.text) && index.substitutions.length === 0)
        this.#found.obstacle({ part: node.text, reason: "its index runs a command" });
    }
    if (value.type === "ArrayValue") {
      const elements = value.elements.map((element) => this.#words.word(element));
      this.#found.set(name, elements);
      return { ...literalWord(node.text), literal: false, names: ["@"], assigns: name };
    }
    const word = this.#words.word(value);
    this.#found.set(name, [word]);
    const head = node.text.slice(0, node.text.indexOf("=") + 1);
    const text = head + word.text;
    return { ...word, text, resolved: head + word.resolved, assigns: name };
  }

  /** Notes what the redirection opens; returns the texts it feeds to standard input. */
  #redirection(node: Redirection): readonly string[] {
    const source = this.#slice(node);
    if (node.type === "HereDoc") return this.#heredoc(node);
    if (node.target === undefined) {
      this.#found.obstacle({ part: source, reason: "its target cannot be read" });
      return [];
    }
    const target = this.#words.word(node.target);
    if (node.type === "HereString") return [target.resolved];
    const { operator } = node;
    const copies = operator === "<&" || operator === ">&";
    if (copies && target.literal && /^(?:\d+-?|-)$/.test(target.text)) return [];
    const writes = operator !== "<" && operator !== "<&";
    this.#found.redirect({ target, writes, folders: this.#walk.folders, source });
    return [];
  }

  #heredoc(node: Extract<Redirection, { readonly type: "HereDoc" }>): readonly string[] {
    if (node.closing === undefined || node.delimiter === undefined)
      this.#found.obstacle({ part: this.#slice(node), reason: "its here-document does not end" });
    const { body } = node;
    if (node.delimiter?.quoted === true) return [body.text];
    const { pos, end, text, parts } = body;
    this.#words.word({ type: "Word", pos, end, text, value: text, parts });
    return [body.text];
  }

  #slice({ pos, end }: { readonly pos: number; readonly end: number }): string {
    return this.#source.slice(pos, end);
  }
}

const NONE: readonly never[] = [];

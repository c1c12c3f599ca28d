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
import { assignedByBuiltins } from "./evaluating-builtins.ts";
import { parseShell } from "./parse-shell.ts";
import {
  literalWord,
  type ShellObstacle,
  type ShellReading,
  type ShellRedirect,
  type ShellWord,
  type SimpleCommand,
  type VariableValues,
} from "./shell-command.ts";
import { hidesCommand, type ScriptHolder, WordReader } from "./word-reader.ts";

/**
 * Takes a command line apart: every simple command in it, wherever it stands (operators, groups, loops, conditions, functions,
 * substitutions, here-documents, redirection targets), every file the shell opens, and every place that cannot be judged.
 * Never throws.
 */
export function readShell(source: string): ShellReading {
  const reader = new ShellReader(source);
  const { script, problem } = parseShell(source);
  if (problem !== undefined)
    reader.obstacle({ part: source, reason: `it cannot be read as a command line: ${problem}` });
  if (script === undefined) reader.leaveUnread(source);
  else reader.script(script, source);
  return reader.finish();
}

const MAX_DEPTH = 200;
const MIN_NESTED = 64_000;
const NESTED_PER_CHARACTER = 4;
/** Commands of a pipeline that are known to those behind them. */
const MAX_PIPED = 64;
/** Values of one variable that are told apart, when it is set more than once. */
const MAX_VALUES = 64;

class ShellReader {
  readonly #commands: SimpleCommand[] = [];
  readonly #redirects: ShellRedirect[] = [];
  readonly #obstacles: ShellObstacle[] = [];
  readonly #changes: ShellObstacle[] = [];
  readonly #unread: string[] = [];
  /** Commands without expansions come again and again in long lines. */
  readonly #known = new Map<string, SimpleCommand>();
  readonly #variables = new Map<string, VariableValues>();
  /** What a variable was set to last, for deny rules. */
  readonly #latest = new Map<string, string | undefined>();
  readonly #evaluated: { readonly name: string; readonly part: string }[] = [];
  readonly #words: WordReader;
  #source: string;
  #depth = 0;
  /** Characters of nested scripts that may still be read: each level reads those below it once more. */
  #nestedLeft: number;

  constructor(source: string) {
    this.#source = source;
    this.#nestedLeft = MIN_NESTED + NESTED_PER_CHARACTER * source.length;
    this.#words = new WordReader({
      onScript: (holder) => this.#nestedScript(holder),
      onObstacle: (obstacle) => this.obstacle(obstacle),
      onAssign: (name, part) => this.#assignInside(name, part),
      onArithmetic: (name, part) => this.#evaluated.push({ name, part }),
      valueOf: (name) => this.#latest.get(name) ?? (name === "IFS" ? " " : undefined),
    });
  }

  obstacle(obstacle: ShellObstacle): void {
    this.#obstacles.push(obstacle);
  }

  leaveUnread(text: string): void {
    this.#unread.push(text);
  }

  finish(): ShellReading {
    const variables = new Map([...this.#variables, ...assignedByBuiltins(this.#commands)]);
    for (const { name, part } of this.#evaluated) {
      const values = variables.get(name);
      if (variables.has(name) && values?.every(({ text }) => /^[\w.-]*$/.test(text)) !== true)
        this.obstacle({ part, reason: `it calculates with ${name}, which the line sets to a text` });
    }
    return {
      commands: this.#commands,
      redirects: this.#redirects,
      obstacles: this.#obstacles,
      changes: this.#changes,
      unread: this.#unread,
      variables,
    };
  }

  script(script: ParsedScript, text: string): void {
    const error = script.errors?.[0];
    if (error !== undefined && text !== this.#source)
      this.obstacle({ part: text, reason: `it cannot be read: ${error.message}` });
    const outer = this.#source;
    if (script.source !== undefined) this.#source = script.source;
    this.#statements(script.commands);
    this.#source = outer;
  }

  #nestedScript(holder: ScriptHolder): readonly SimpleCommand[] {
    const { text } = holder;
    this.#nestedLeft -= text.length;
    if (this.#nestedLeft < 0) {
      this.#unread.push(text);
      this.obstacle({ part: text, reason: "it is nested too deeply to be read" });
      return [];
    }
    const { script } = holder;
    if (script === undefined) {
      this.#unread.push(text);
      this.obstacle({ part: text, reason: "what it runs cannot be read" });
      return [];
    }
    const before = this.#commands.length;
    this.script(script, text);
    return this.#commands.slice(before);
  }

  #statements(statements: readonly Statement[]): void {
    if (this.#depth > MAX_DEPTH) {
      this.#unread.push(this.#source);
      this.obstacle({ part: this.#source.slice(0, 200), reason: "it is nested too deeply to be read" });
      return;
    }
    this.#depth++;
    for (const { command } of statements) {
      if (command.type === "AndOr") for (const each of command.commands) this.#pipeline(each);
      else this.#pipeline(command);
    }
    this.#depth--;
  }

  #list(list: CompoundList | undefined): void {
    if (list !== undefined) this.#statements(list.commands);
  }

  #pipeline(node: PipelineNode): void {
    if (node.type !== "Pipeline") {
      this.#node(node, []);
      return;
    }
    // `time time x` is one wrapper as well as another: looking at each would take time without end.
    const time = node.prefixes.find(({ type }) => type === "Time");
    if (time !== undefined) this.#timed(this.#slice({ pos: time.pos, end: node.end }));
    if (node.prefixes.some(({ type }) => type !== "Time" && type !== "Negation")) this.#unknown(node);
    const before = this.#commands.length;
    let piped: readonly SimpleCommand[] = [];
    for (const command of node.commands) {
      if (piped.length < MAX_PIPED) piped = this.#commands.slice(before, before + MAX_PIPED);
      this.#node(command, piped);
    }
  }

  /** The keyword `time` is a wrapper of its own: what it times is judged besides. */
  #timed(source: string): void {
    const [keyword = "time", ...rest] = source.trim().split(/\s+/);
    const words = [keyword, ...rest].map((text) => literalWord(text));
    this.#commands.push({ words, assignments: [], input: [], piped: [], source });
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
      case "BraceGroup":
        this.#list(node.body);
        return;
      case "If":
        this.#list(node.clause);
        this.#list(node.then);
        for (const each of node.elif) {
          this.#list(each.clause);
          this.#list(each.then);
        }
        this.#list(node.else);
        return;
      case "While":
        this.#list(node.clause);
        this.#list(node.body);
        return;
      case "For":
      case "Select":
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
        for (const item of node.items) {
          for (const pattern of item.pattern) this.#words.word(pattern);
          this.#list(item.body);
        }
        return;
      case "ArithmeticFor":
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
        this.#changes.push({ part: this.#slice(node), reason: "it defines a function" });
        if (node.body.type === "CompoundList") this.#list(node.body);
        else this.#node(node.body, []);
        return;
      case "Coproc":
        this.#unknown(node);
        if (node.body.type === "CompoundList") this.#list(node.body);
        else this.#node(node.body, []);
        return;
      default:
        this.#unknown(node);
    }
  }

  #unknown(node: { readonly pos: number; readonly end: number }): void {
    this.obstacle({ part: this.#slice(node), reason: "this kind of command cannot be judged" });
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
    this.#variables.set(name, [literalWord("0")]);
    this.#words.forget();
    if (expression.type === "ArithmeticBinary") this.#words.arithmetic(expression.right, part);
  }

  #loop(name: string, list: readonly Word[] | undefined, part: string | undefined): void {
    const words = list?.map((word) => this.#words.word(word));
    const hiding = words?.find(({ text, substitutions }) => substitutions.length === 0 && hidesCommand(text));
    if (hiding !== undefined && !hiding.names.length) this.#set(name, undefined);
    this.#set(name, part === undefined ? undefined : words);
    if (!ORDINARY_NAME.test(name) && !ORDINARY_CAPITALS.has(name))
      this.#changes.push({ part: `for ${name}`, reason: `it sets ${name}, which programs may look at` });
  }

  #set(name: string, values: VariableValues): void {
    this.#words.forget();
    this.#latest.set(name, values?.[0]?.resolved);
    if (!this.#variables.has(name)) {
      this.#variables.set(name, values);
      return;
    }
    const known = this.#variables.get(name);
    const all = values === undefined || known === undefined ? undefined : [...values, ...known];
    // So many values are as good as any value.
    this.#variables.set(name, all !== undefined && all.length > MAX_VALUES ? undefined : all);
  }

  #assignInside(name: string, part: string): void {
    this.#set(name, undefined);
    this.#changes.push({ part, reason: `it sets ${name}` });
  }

  #command(node: Command, piped: readonly SimpleCommand[]): void {
    const source = this.#slice(node);
    const known = piped.length === 0 ? this.#known.get(source) : undefined;
    if (known !== undefined) {
      this.#commands.push(known);
      return;
    }
    const assignments: ShellWord[] = [];
    const input: string[] = [];
    for (const each of node.prefix) {
      if (each.type === "Assignment") assignments.push(this.#assignment(each));
      else input.push(...this.#redirection(each));
    }
    const words: ShellWord[] = [];
    const add = (read: ShellWord | readonly ShellWord[]): void => {
      if ("text" in read) words.push(read);
      else words.push(...read);
    };
    if (node.name !== undefined) add(this.#words.words(node.name));
    for (const each of node.suffix) {
      if (each.type === "Word") add(this.#words.words(each));
      else if (each.type === "Assignment") words.push(this.#assignment(each));
      else input.push(...this.#redirection(each));
    }
    if (words.length === 0 && assignments.length === 0) return;
    this.#strayBracket(node);
    const command = { words, assignments, input, piped, source };
    this.#commands.push(command);
    const plain =
      assignments.length + piped.length === 0 &&
      node.redirects.length === 0 &&
      words.every(({ literal }) => literal);
    if (plain) this.#known.set(source, command);
  }

  /** `ls (`: the parser lets it pass, the shell does not. */
  #strayBracket(node: Command): void {
    const behind = node.name === undefined ? "" : this.#source.slice(node.name.end, node.name.end + 200);
    if (/^(?:[ \t]|\\\n)*\(/.test(behind))
      this.obstacle({ part: this.#slice(node), reason: "a bracket stands where none can" });
  }

  #assignment(node: Assignment): ShellWord {
    const { value, name } = node;
    if (node.index !== undefined) {
      const index = this.#words.word(node.index);
      if (hidesCommand(index.text) && index.substitutions.length === 0)
        this.obstacle({ part: node.text, reason: "its index runs a command" });
    }
    if (value.type === "ArrayValue") {
      const elements = value.elements.map((element) => this.#words.word(element));
      this.#set(name, elements);
      return { ...literalWord(node.text), literal: false, names: ["@"], assigns: name };
    }
    const word = this.#words.word(value);
    this.#set(name, [word]);
    const head = node.text.slice(0, node.text.indexOf("=") + 1);
    const text = head + word.text;
    return { ...word, text, resolved: head + word.resolved, assigns: name };
  }

  /** Notes what the redirection opens; returns the texts it feeds to standard input. */
  #redirection(node: Redirection): readonly string[] {
    const source = this.#slice(node);
    if (node.type === "HereDoc") return this.#heredoc(node);
    if (node.target === undefined) {
      this.obstacle({ part: source, reason: "its target cannot be read" });
      return [];
    }
    const target = this.#words.word(node.target);
    if (node.type === "HereString") return [target.resolved];
    const { operator } = node;
    const copies = operator === "<&" || operator === ">&";
    if (copies && target.literal && /^(?:\d+-?|-)$/.test(target.text)) return [];
    const writes = operator !== "<" && operator !== "<&";
    this.#redirects.push({ target, writes, source });
    return [];
  }

  #heredoc(node: Extract<Redirection, { readonly type: "HereDoc" }>): readonly string[] {
    if (node.closing === undefined || node.delimiter === undefined)
      this.obstacle({ part: this.#slice(node), reason: "its here-document does not end" });
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

const ORDINARY_NAME = /^(?!(?:https?|ftp|all|no)_proxy$|npm_|_$)[a-z_]*[a-z]\w*$/;
const ORDINARY_CAPITALS = new Set(
  ["FILE", "FILES", "DIR", "LINE", "NAME", "ITEM", "ARG", "PKG", "MODULE", "HOST", "TEST"].concat(
    Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
  ),
);

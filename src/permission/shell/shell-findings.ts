import { assignedByBuiltins } from "./evaluating-builtins.ts";
import type {
  ShellObstacle,
  ShellReading,
  ShellRedirect,
  SimpleCommand,
  VariableValues,
} from "./shell-command.ts";

/** Commands that are remembered: what has not come again by then hardly will. */
const MAX_KNOWN = 1000;
/** Commands inside one that is remembered, itself included. */
const MAX_INNER = 8;
/** Values of one variable that are told apart, when it is set more than once. */
const MAX_VALUES = 1024;

/** What is found while a command line is read. A line can hold thousands of others: what most never need is made when it is needed. */
export class ShellFindings {
  readonly commands: SimpleCommand[] = [];
  #redirects: ShellRedirect[] | undefined;
  #obstacles: ShellObstacle[] | undefined;
  #changes: ShellObstacle[] | undefined;
  #unread: string[] | undefined;
  #variables: Map<string, VariableValues> | undefined;
  /** What a variable was set to last, for deny rules. */
  #latest: Map<string, string | undefined> | undefined;
  #calculated: { readonly name: string; readonly part: string }[] | undefined;
  #known: Map<string, readonly SimpleCommand[]> | undefined;
  #repeated: Set<SimpleCommand> | undefined;
  #count = 0;

  /** How much was found besides commands. */
  get count(): number {
    return this.#count;
  }

  redirect(redirect: ShellRedirect): void {
    (this.#redirects ??= []).push(redirect);
    this.#count++;
  }

  obstacle(obstacle: ShellObstacle): void {
    (this.#obstacles ??= []).push(obstacle);
    this.#count++;
  }

  change(part: string, reason: string): void {
    (this.#changes ??= []).push({ part, reason });
    this.#count++;
  }

  /** A text that runs and is not read; `obstacle` says why. */
  leaveUnread(text: string, obstacle: ShellObstacle): void {
    (this.#unread ??= []).push(text);
    this.obstacle(obstacle);
  }

  /** The value of a variable is evaluated as arithmetic. */
  calculates(name: string, part: string): void {
    (this.#calculated ??= []).push({ name, part });
    this.#count++;
  }

  /** A variable is set. */
  set(name: string, values: VariableValues): void {
    this.#count++;
    (this.#latest ??= new Map()).set(name, values?.[0]?.resolved);
    const variables = (this.#variables ??= new Map<string, VariableValues>());
    const known = variables.get(name);
    if (known === undefined) {
      // One that can be anything stays so.
      if (!variables.has(name)) variables.set(name, values);
      return;
    }
    // So many values are as good as any value.
    const tooMany = values === undefined || values.length + known.length > MAX_VALUES;
    variables.set(name, tooMany ? undefined : [...values, ...known]);
  }

  /** A variable counts: whatever it was, it is a number from now on. */
  counts(name: string, values: VariableValues): void {
    this.#count++;
    (this.#variables ??= new Map<string, VariableValues>()).set(name, values);
  }

  /** What a variable was set to last. */
  valueOf(name: string): string | undefined {
    return this.#latest?.get(name) ?? (name === "IFS" ? " " : undefined);
  }

  /** Adds the commands of a text that came before; false when it did not, or would mean something else now. */
  again(source: string): boolean {
    const known = this.#known?.get(source);
    if (known === undefined) return false;
    for (const command of known) {
      (this.#repeated ??= new Set()).add(command);
      this.commands.push(command);
    }
    return true;
  }

  /**
   * Remembers what a text was read as: the commands from the `from`th on. Only where nothing in it depends on what stands before it, and
   * nothing but commands was found since `count` was so much.
   */
  remember(source: string, { from, count }: { readonly from: number; readonly count: number }): void {
    const length = this.commands.length - from;
    if (count !== this.#count || length > MAX_INNER || (this.#known?.size ?? 0) >= MAX_KNOWN) return;
    const commands = this.commands.slice(from);
    if (commands.every(standsAlone)) (this.#known ??= new Map()).set(source, commands);
  }

  reading(): ShellReading {
    for (const name of assignedByBuiltins(this.commands))
      (this.#variables ??= new Map()).set(name, undefined);
    const variables = this.#variables ?? NO_VARIABLES;
    for (const { name, part } of this.#calculated ?? NONE) {
      const values = variables.get(name);
      if (variables.has(name) && values?.every(({ text }) => /^[\w.-]*$/.test(text)) !== true)
        this.obstacle({ part, reason: `it calculates with ${name}, which the line sets to a text` });
    }
    return {
      commands: this.commands,
      repeated: this.#repeated ?? NOTHING_REPEATED,
      redirects: this.#redirects ?? NONE,
      obstacles: this.#obstacles ?? NONE,
      changes: this.#changes ?? NONE,
      unread: this.#unread ?? NONE,
      variables,
    };
  }
}

const NONE: readonly never[] = [];
const NO_VARIABLES: ReadonlyMap<string, VariableValues> = new Map();
const NOTHING_REPEATED: ReadonlySet<SimpleCommand> = new Set();

function standsAlone({ words, assignments, piped, input }: SimpleCommand): boolean {
  return (
    assignments.length + piped.length + input.length === 0 && words.every(({ names }) => names.length === 0)
  );
}

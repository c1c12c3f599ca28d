import { assignedByBuiltins } from "./evaluating-builtins.ts";
import type {
  ShellObstacle,
  ShellReading,
  ShellRedirect,
  ShellWord,
  SimpleCommand,
  VariableValues,
} from "./shell-command.ts";

/** Values of one variable that are told apart, when it is set more than once. */
const MAX_VALUES = 1024;

/** What is found while a command line is read. */
export class ShellFindings {
  readonly commands: SimpleCommand[] = [];
  readonly redirects: ShellRedirect[] = [];
  readonly obstacles: ShellObstacle[] = [];
  readonly #changes: ShellObstacle[] = [];
  readonly #unread: string[] = [];
  /** The values of each variable, the latest first. */
  readonly #variables = new Map<string, ShellWord[] | undefined>();
  /** What a variable was set to last, for deny rules. */
  readonly #latest = new Map<string, string | undefined>();
  readonly #calculated: { readonly name: string; readonly part: string }[] = [];

  #setCount = 0;

  /** How much was found besides commands. */
  get count(): number {
    const lists = [this.redirects, this.obstacles, this.#changes, this.#calculated];
    return lists.reduce((sum, { length }) => sum + length, this.#setCount);
  }

  change(part: string, reason: string): void {
    this.#changes.push({ part, reason });
  }

  /** A text that runs and is not read; `obstacle` says why. */
  leaveUnread(text: string, obstacle: ShellObstacle): void {
    this.#unread.push(text);
    this.obstacles.push(obstacle);
  }

  /** The value of a variable is evaluated as arithmetic. */
  calculates(name: string, part: string): void {
    this.#calculated.push({ name, part });
  }

  /** A variable is set. */
  set(name: string, values: VariableValues): void {
    this.#setCount++;
    this.#latest.set(name, values?.[0]?.resolved);
    const known = this.#variables.get(name);
    if (known === undefined) {
      // One that can be anything stays so.
      if (!this.#variables.has(name)) this.#variables.set(name, values?.slice());
    } else if (values === undefined || values.length + known.length > MAX_VALUES) {
      // So many values are as good as any value.
      this.#variables.set(name, undefined);
    } else known.unshift(...values);
  }

  /** A variable counts: whatever it was, it is a number from now on. */
  counts(name: string, value: ShellWord): void {
    this.#setCount++;
    this.#variables.set(name, [value]);
  }

  /** What a variable was set to last. */
  valueOf(name: string): string | undefined {
    return this.#latest.get(name) ?? (name === "IFS" ? " " : undefined);
  }

  reading(): ShellReading {
    const variables = this.#variables;
    for (const name of assignedByBuiltins(this.commands)) variables.set(name, undefined);
    for (const { name, part } of this.#calculated) {
      const values = variables.get(name);
      if (variables.has(name) && values?.every(({ text }) => /^[\w.-]*$/.test(text)) !== true)
        this.obstacles.push({ part, reason: `it calculates with ${name}, which the line sets to a text` });
    }
    const { commands, redirects, obstacles } = this;
    return { commands, redirects, obstacles, changes: this.#changes, unread: this.#unread, variables };
  }
}

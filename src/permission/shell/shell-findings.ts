import type { ParsedScript } from "unbash";
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

/** The findings while a command line is read. */
export class ShellFindings implements ShellReading {
  readonly commands: SimpleCommand[] = [];
  readonly redirects: ShellRedirect[] = [];
  readonly obstacles: ShellObstacle[] = [];
  readonly changes: ShellObstacle[] = [];
  readonly unread: string[] = [];
  script?: ParsedScript;
  /** The values of each variable, the latest first. A line can hold thousands of others that set none. */
  #variables: Map<string, ShellWord[] | undefined> | undefined;
  /** The last value of each variable, for deny rules. */
  #latest: Map<string, string | undefined> | undefined;
  #calculated: { readonly name: string; readonly part: string }[] | undefined;
  /** How much was found besides commands. */
  count = 0;

  get variables(): ReadonlyMap<string, VariableValues> {
    return this.#variables ?? NO_VARIABLES;
  }

  redirect(redirect: ShellRedirect): void {
    this.count++;
    this.redirects.push(redirect);
  }

  obstacle(obstacle: ShellObstacle): void {
    this.count++;
    this.obstacles.push(obstacle);
  }

  change(part: string, reason: string): void {
    this.count++;
    this.changes.push({ part, reason });
  }

  /** A text that runs and is not read; `obstacle` says why. */
  leaveUnread(text: string, obstacle: ShellObstacle): void {
    this.unread.push(text);
    this.obstacle(obstacle);
  }

  /** The value of a variable is evaluated as arithmetic. */
  calculates(name: string, part: string): void {
    this.count++;
    (this.#calculated ??= []).push({ name, part });
  }

  /** A variable is set. */
  set(name: string, values: VariableValues): void {
    this.count++;
    (this.#latest ??= new Map()).set(name, values?.[0]?.resolved);
    const variables = (this.#variables ??= new Map<string, ShellWord[] | undefined>());
    const known = variables.get(name);
    if (known === undefined) {
      // One that can be anything stays so.
      if (!variables.has(name)) variables.set(name, values?.slice());
    } else if (values === undefined || values.length + known.length > MAX_VALUES) {
      // So many values are as good as any value.
      variables.set(name, undefined);
    } else known.unshift(...values);
  }

  /** A word sets a variable to something nobody knows. */
  assigns(name: string, part: string): void {
    this.set(name, undefined);
    this.change(part, `it sets ${name}`);
  }

  /** A variable counts: whatever it was, it is a number from now on. */
  counts(name: string, value: ShellWord): void {
    this.count++;
    (this.#variables ??= new Map()).set(name, [value]);
  }

  /** The last value of a variable. */
  valueOf(name: string): string | undefined {
    return this.#latest?.get(name) ?? (name === "IFS" ? " " : undefined);
  }

  /** Says what only the whole line tells: what builtins set, and which calculations use it. */
  finish(): void {
    for (const name of assignedByBuiltins(this.commands))
      (this.#variables ??= new Map()).set(name, undefined);
    for (const { name, part } of this.#calculated ?? []) {
      const values = this.variables.get(name);
      if (this.variables.has(name) && values?.every(({ text }) => /^[\w.-]*$/.test(text)) !== true)
        this.obstacle({ part, reason: `it calculates with ${name}, which the line sets to a text` });
    }
  }
}

const NO_VARIABLES: ReadonlyMap<string, VariableValues> = new Map();

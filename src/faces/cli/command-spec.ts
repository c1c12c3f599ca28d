import { FLAGS } from "./flags.ts";

/** An option of a sub-command. One table makes what is read, the help, the completions and the reference. */
export interface CommandOption {
  /** As it is written: `--json`. */
  readonly name: `--${string}`;
  readonly short?: `-${string}`;
  /** Placeholder of its value; absent for an option that stands alone. */
  readonly value?: string;
  /** The only values it takes. */
  readonly choices?: readonly string[];
  readonly help: string;
}

/** One thing a sub-command does. */
export interface CommandAction {
  /** The word behind the command; absent where the command does one thing. */
  readonly name?: string;
  /** Placeholders of the words that follow: `ID`, `[ID]` (may be left out), `FILE…` (one or more), `[WORD…]`. */
  readonly words?: string;
  /** Placeholder of what stands behind `--`; absent where nothing may. */
  readonly behind?: string;
  readonly options?: readonly CommandOption[];
  /** True: it runs the agent and takes the options for that too (`-m`, `--permission-mode`, limits); see {@link RUN_OPTIONS}. */
  readonly runOptions?: true;
  readonly help: string;
}

/** Options of a run that sub-commands which run the agent take too. */
export const RUN_OPTIONS: readonly CommandOption[] = FLAGS.filter(({ name, group }) =>
  group === "Run" || group === "Permission" || group === "Limits" ? name !== "print" : name === "add-dir",
).map(({ name, short, type, value, help }) => ({
  name: `--${name}` as const,
  ...(short === undefined ? {} : { short: `-${short}` as const }),
  ...(type === "boolean" ? {} : { value: value ?? "VALUE" }),
  help,
}));

/** A sub-command: the first word of the command line. */
export interface CommandSpec {
  readonly name: string;
  readonly help: string;
  /** What it does; the first one is meant where no action is named and it takes no words that would have to be. */
  readonly actions: readonly [CommandAction, ...CommandAction[]];
}

/** How an action is written: `sessions export [ID] [--format FORMAT] …`. */
export function actionForm({ name }: CommandSpec, action: CommandAction): string {
  const options = (action.options ?? []).map((option) => `[${optionForm(option)}]`);
  const run = action.runOptions === true ? ["[options of a run]"] : [];
  const behind = action.behind === undefined ? [] : [`[-- ${action.behind}]`];
  const parts = [name, action.name, action.words, ...options, ...run, ...behind];
  return parts.filter((part) => part !== undefined).join(" ");
}

/** How an option is written: `--output FILE`, with its values where there are only some. */
export function optionForm({ name, value, choices }: CommandOption): string {
  const shown = choices?.join("|") ?? value;
  return shown === undefined ? name : `${name} ${shown}`;
}

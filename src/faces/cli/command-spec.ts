import { FLAGS } from "./flags.ts";
import type { CommandOption } from "./read-options.ts";

/** One thing a sub-command does. */
export interface CommandAction {
  /** The word behind the command; absent where the command does one thing. */
  readonly name?: string;
  /**
   * Placeholders of the words that follow: `ID`, `[ID]` (may be left out), `FILE…` (one or more), `[WORD…]`.
   */
  readonly words?: string;
  /** Placeholder of what stands behind `--`; absent where nothing may. */
  readonly behind?: string;
  readonly options?: readonly CommandOption[];
  /**
   * True: it runs the agent and takes the options for that too (`-m`, `--permission-mode`, limits); see
   * {@link RUN_OPTIONS}.
   */
  readonly runOptions?: true;
  readonly help: string;
}

/** Options of a run that sub-commands which run the agent take too. */
export const RUN_OPTIONS: readonly CommandOption[] = FLAGS.filter(({ name, group }) =>
  group === "Run" || group === "Permission" || group === "Limits" ? name !== "--print" : name === "--add-dir",
);

/** A sub-command: the first word of the command line. */
export interface CommandSpec {
  readonly name: string;
  readonly help: string;
  /**
   * What it does; the first one is meant where no action is named and it takes no words that would have to
   * be.
   */
  readonly actions: readonly [CommandAction, ...CommandAction[]];
}

/** How an action is written: `sessions export [ID] [--format FORMAT] …`. */
export function actionForm({ name }: CommandSpec, action: CommandAction): string {
  const options = (action.options ?? []).map((option) => `[${longForm(option)}]`);
  const run = action.runOptions === true ? ["[options of a run]"] : [];
  const behind = action.behind === undefined ? [] : [`[-- ${action.behind}]`];
  const parts = [name, action.name, action.words, ...options, ...run, ...behind];
  return parts.filter((part) => part !== undefined).join(" ");
}

/** How an option is written: `-o, --output FILE`, with its values where there are only some. */
export function optionForm(option: CommandOption): string {
  return option.short === undefined ? longForm(option) : `${option.short}, ${longForm(option)}`;
}

function longForm({ name, value, choices }: CommandOption): string {
  const shown = choices?.join("|") ?? value;
  return shown === undefined ? name : `${name} ${shown}`;
}

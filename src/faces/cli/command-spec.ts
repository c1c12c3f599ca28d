import { FLAGS } from "./flags.ts";
import { type CommandOption, optionTable } from "./read-options.ts";

/** One thing a sub-command does. */
export interface CommandAction {
  /** The word behind the command; undefined where the command does one thing. */
  readonly name: string | undefined;
  /** Placeholders of what follows: `ID`, `[ID]` (optional), `FILE…` (one or more), `[WORD…]`. */
  readonly words: readonly string[];
  /** Placeholder of what stands behind `--`; undefined where nothing may. */
  readonly behind: string | undefined;
  readonly options: readonly CommandOption[];
  /** True: it runs the agent and takes {@link RUN_OPTIONS} too. */
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
  /** Its actions; the first is meant where none is named and it needs no words. */
  readonly actions: readonly [CommandAction, ...CommandAction[]];
}

/** A sub-command and what it does. */
export function command(name: string, help: string, ...actions: CommandSpec["actions"]): CommandSpec {
  return { name, help, actions };
}

/** An action by its form, such as `put ID [FILE…] -- PATH…`, and its options by theirs. */
export function action(
  form: string,
  help: string,
  options: { readonly [form: string]: string } = {},
): CommandAction {
  const [before = "", behind] = form.split("-- ");
  const words = before.split(" ").filter((word) => word !== "");
  // Placeholders are in capitals.
  const name = words[0] === words[0]?.toLowerCase() ? words.shift() : undefined;
  return {
    name,
    words,
    behind,
    // Every start makes these tables, and most look at none of them.
    get options() {
      return optionTable(options);
    },
    help,
  };
}

/** How an action is written: `sessions export [ID] [--format FORMAT] …`. */
export function actionForm(
  command: CommandSpec,
  { name, words, options, runOptions, behind }: CommandAction,
): string {
  // A short name is told where the option is.
  const named = options.map(({ form }) => `[${form.replace(/^-\w, /, "")}]`);
  const run = runOptions === true ? ["[options of a run]"] : [];
  const rest = behind === undefined ? [] : [`[-- ${behind}]`];
  return [command.name, name ?? [], words, named, run, rest].flat().join(" ");
}

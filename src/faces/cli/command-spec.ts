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
  readonly help: string;
}

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
  const behind = action.behind === undefined ? [] : [`[-- ${action.behind}]`];
  const parts = [name, action.name, action.words, ...options, ...behind];
  return parts.filter((part) => part !== undefined).join(" ");
}

/** How an option is written: `--output FILE`, with its values where there are only some. */
export function optionForm({ name, value, choices }: CommandOption): string {
  const shown = choices?.join("|") ?? value;
  return shown === undefined ? name : `${name} ${shown}`;
}

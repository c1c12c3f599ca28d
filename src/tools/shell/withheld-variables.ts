const MAX_NAMED = 5;

/** A command whose failure a note may explain. */
export interface ShownCommand {
  readonly command: string;
  readonly output: string;
  readonly failed: boolean;
}

/** Withheld variables a command seems to need: `$NAME` in it, or named in the output of a failure. */
export function missedVariables(withheld: ReadonlySet<string>, shown: ShownCommand): readonly string[] {
  if (withheld.size === 0) return [];
  const names = new Set<string>();
  for (const [, name = ""] of shown.command.matchAll(/\$\{?([A-Za-z_]\w{0,80})/g))
    if (withheld.has(name)) names.add(name);
  if (shown.failed)
    for (const [name] of shown.output.matchAll(/\b[A-Z][A-Z0-9_]{2,80}\b/g))
      if (withheld.has(name)) names.add(name);
  return [...names].slice(0, MAX_NAMED);
}

/** The line of a result that says so. */
export function missedVariablesNote(names: readonly string[]): string {
  const [one, ...more] = names;
  if (one === undefined) return "";
  const what = more.length === 0 ? one : names.join(", ");
  return `[${what} ${more.length === 0 ? "is" : "are"} not passed to commands. The user can allow it: --pass-env ${names.join(",")}, or environment.pass in their config]`;
}

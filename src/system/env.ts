/** Environment variables at the time of the snapshot. */
export type Environment = { readonly [name: string]: string | undefined };

/**
 * A frozen snapshot of the environment: the one place that reads it. Empty in a runtime without one.
 * Everything that depends on a variable takes a snapshot as an argument.
 */
export function readEnvironment(): Environment {
  return Object.freeze(typeof process === "object" ? { ...process.env } : {});
}

/**
 * The live environment: for library code that reads two or three variables per model, where copying all of
 * them would cost more than everything else.
 */
export function liveEnvironment(): Environment {
  return typeof process === "object" ? process.env : {};
}

/** A variable's value without surrounding blanks; `undefined` if it is unset or empty. */
export function variable(environment: Environment, name: string): string | undefined {
  const value = environment[name]?.trim();
  return value === "" ? undefined : value;
}

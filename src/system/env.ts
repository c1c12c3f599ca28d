/** Environment variables, as they were when the snapshot was taken. */
export type Environment = { readonly [name: string]: string | undefined };

/**
 * A frozen snapshot of the environment: the one place that reads it. Empty in a runtime without one.
 * Everything that depends on a variable takes a snapshot as an argument.
 */
export function readEnvironment(): Environment {
  return Object.freeze(typeof process === "object" ? { ...process.env } : {});
}

/**
 * The environment as it is at each look: for library code that reads two or three variables per model, where
 * a copy of all of them would cost more than the rest.
 */
export function liveEnvironment(): Environment {
  return typeof process === "object" ? process.env : {};
}

/** A variable's value, blanks around it removed; `undefined` when it is not set or empty. */
export function variable(environment: Environment, name: string): string | undefined {
  const value = environment[name]?.trim();
  return value === "" ? undefined : value;
}

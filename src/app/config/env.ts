/** Environment variables, as they were when the snapshot was taken. */
export type Environment = { readonly [name: string]: string | undefined };

/** A frozen snapshot of the environment, the one place that reads it; empty in a runtime without one. */
export function readEnvironment(): Environment {
  return Object.freeze(typeof process === "object" ? { ...process.env } : {});
}

/** The live environment, for library code that reads few variables, where a copy would cost more. */
export function liveEnvironment(): Environment {
  return typeof process === "object" ? process.env : {};
}

/** A variable's value, blanks around it removed; `undefined` when it is not set or empty. */
export function variable(environment: Environment, name: string): string | undefined {
  const value = environment[name]?.trim();
  return value === "" ? undefined : value;
}

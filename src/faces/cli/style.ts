import { type Environment, variable } from "../../system/env.ts";

/** Dresses up text for a terminal. */
export interface Style {
  readonly dim: (text: string) => string;
  readonly bold: (text: string) => string;
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly green: (text: string) => string;
}

/**
 * Colours where they are wanted: `NO_COLOR` (any value) switches them off, `FORCE_COLOR` (any value but 0 and
 * false) on, `TERM=dumb` off; else a terminal has them.
 */
export function styleFor(isTerminal: boolean, environment: Environment): Style {
  const paint = wantsColour(isTerminal, environment)
    ? (on: number, off: number) => (text: string) => (text === "" ? "" : `\u001B[${on}m${text}\u001B[${off}m`)
    : () => (text: string) => text;
  return {
    dim: paint(2, 22),
    bold: paint(1, 22),
    red: paint(31, 39),
    yellow: paint(33, 39),
    green: paint(32, 39),
  };
}

function wantsColour(isTerminal: boolean, environment: Environment): boolean {
  if (variable(environment, "NO_COLOR") !== undefined) return false;
  const forced = variable(environment, "FORCE_COLOR");
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return isTerminal && environment["TERM"] !== "dumb";
}

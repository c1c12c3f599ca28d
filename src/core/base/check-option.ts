import { misuse } from "./errors.ts";
import { didYouMean, nearest } from "./text.ts";

/** `value`, if it is a whole number from `least` on; else throws `invalid_argument`. */
export function assertCount(name: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw misuse(`${name} is ${shown(value)}; it must be a whole number from ${least}.`);
}

/** Throws `invalid_argument` for a value that is given and none of the `choices`. */
export function assertChoice(name: string, value: unknown, choices: readonly string[]): void {
  if (value === undefined || (typeof value === "string" && choices.includes(value))) return;
  const hint = typeof value === "string" ? didYouMean(value, choices) : "";
  throw misuse(`${name} is ${shown(value)}; it must be ${orList(choices)}.${hint}`);
}

/** Throws `invalid_argument` for a value that is given and of another type. */
export function assertType(
  name: string,
  value: unknown,
  type: "boolean" | "string" | "number" | "function",
): void {
  if (value === undefined || (typeof value === type && !Number.isNaN(value))) return;
  throw misuse(`${name} is ${shown(value)}; it must be a ${type}.`);
}

/** Throws `invalid_argument` for an option nobody knows: what it was to do would silently not happen. */
export function assertKnown(options: object, known: readonly string[], what = "option"): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name) || (options as Readonly<Record<string, unknown>>)[name] === undefined) continue;
    const guess = nearest(name, known) ?? known.find((each) => each === ELSEWHERE.get(name));
    const hint = guess === undefined ? "" : ` Did you mean ${guess}?`;
    throw misuse(`Unknown ${what} "${name}".${hint} Known: ${known.join(", ")}.`);
  }
}

/** Names that other libraries have for the same things. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["instructions", "systemPrompt"],
  ["prompt", "systemPrompt"],
  ["maxSteps", "maxIterations"],
  ["maxTurns", "maxIterations"],
  ["recursionLimit", "maxIterations"],
  ["stopWhen", "maxIterations"],
  ["output", "schema"],
  ["outputType", "schema"],
  ["responseFormat", "schema"],
  ["needsApproval", "permission"],
  ["checkpointSaver", "journal"],
]);

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "function") return "a function";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

function orList(choices: readonly string[]): string {
  const quoted = choices.map((choice) => JSON.stringify(choice));
  return quoted.length < 2 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1) ?? ""}`;
}

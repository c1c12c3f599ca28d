import { misuse } from "./errors.ts";
import { isRecord } from "./json.ts";
import { nearest } from "./text.ts";

/** `value`, if it is a whole number from `least` on; else throws `invalid_argument`. */
export function assertCount(name: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw misuse(`${name} is ${shown(value)}; it must be a whole number from ${least}.`);
}

/** Throws `invalid_argument` for a value that is given and none of the `choices`. */
export function assertChoice(name: string, value: unknown, choices: readonly string[]): void {
  if (value === undefined || (typeof value === "string" && choices.includes(value))) return;
  const guess = typeof value === "string" ? nearest(value, choices) : undefined;
  const hint = guess === undefined ? "" : ` Did you mean ${guess}?`;
  throw misuse(`${name} is ${shown(value)}; it must be ${orList(choices)}.${hint}`);
}

/** Throws `invalid_argument` for a value that is given and of another type. */
export function assertType(
  name: string,
  value: unknown,
  type: "boolean" | "string" | "number" | "function" | "object" | "list",
): void {
  if (value === undefined || (typeOf(value) === type && !Number.isNaN(value))) return;
  throw misuse(`${name} is ${shown(value)}; it must be ${type === "object" ? "an" : "a"} ${type}.`);
}

/** Throws `invalid_argument` for a value that is given and no number from `least` (above it: `isAbove`) to `most`. */
export function assertNumber(
  name: string,
  value: unknown,
  { least, isAbove = false, most = Number.POSITIVE_INFINITY }: NumberRange,
): void {
  if (value === undefined) return;
  const fits = typeof value === "number" && value <= most && (isAbove ? value > least : value >= least);
  if (fits) return;
  const upper = most === Number.POSITIVE_INFINITY ? "" : ` to ${most}`;
  throw misuse(
    `${name} is ${shown(value)}; it must be a number ${isAbove ? "above" : "from"} ${least}${upper}.`,
  );
}

/** The numbers an option may be; without `most` there is no upper end. */
export interface NumberRange {
  readonly least: number;
  readonly isAbove?: boolean;
  readonly most?: number;
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

/** `null` and lists are no objects here. */
function typeOf(value: unknown): string {
  if (Array.isArray(value)) return "list";
  return value === null ? "null" : typeof value;
}

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "function") return "a function";
  if (Array.isArray(value)) return "a list";
  return isRecord(value) ? "an object" : String(value);
}

function orList(choices: readonly string[]): string {
  const quoted = choices.map((choice) => JSON.stringify(choice));
  return quoted.length < 2 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1) ?? ""}`;
}

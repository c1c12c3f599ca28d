import { misuse } from "./errors.ts";
import { isRecord } from "./json.ts";
import { didYouMean, nearest } from "./text.ts";

/** Throws for a value that is given and cannot be that of an option. */
export type Check = (value: unknown, name: string) => void;

/** The check of every option there is. */
export type Checks<Options> = { readonly [K in keyof Required<Options>]: Check };

/** Throws `invalid_argument` for what is no object, unknown options, and values that do not fit. */
export function assertEach<Options extends object>(
  options: Options,
  checks: Checks<Options>,
  what = "option",
): void {
  if (!isRecord(options)) throw misuse(`The ${what}s are ${shown(options)}; pass an object.`);
  assertKnown(options, Object.keys(checks), what);
  for (const [name, value] of Object.entries(options))
    if (value !== undefined) checks[name as keyof Options](value, name);
}

/** For an option that is checked elsewhere. */
export function anything(): void {}

/** Takes values of a type. */
export function isOf(type: OptionType): Check {
  return (value, name) => assertType(name, value, type);
}

/** Takes one of these texts. */
export function oneOf(...choices: readonly string[]): Check {
  return (value, name) => assertChoice(name, value, choices);
}

/** Takes the numbers of a range. */
export function within(range: NumberRange): Check {
  return (value, name) => assertNumber(name, value, range);
}

/** Takes a list of texts, none of them empty. */
export const texts: Check = (value, name) => {
  if (Array.isArray(value) && value.every((text) => typeof text === "string" && text !== "")) return;
  throw misuse(`${name} is ${shown(value)}; it must be a list of texts, none of them empty.`);
};

/** Takes what has these methods; `fault` is told of anything else. */
export function having(methods: readonly string[], fault: string): Check {
  return (value) => {
    if (!hasMethods(value, methods)) throw misuse(fault);
  };
}

/** Takes `false`, where that means "not at all", and what the check takes. */
export function orFalse(check: Check): Check {
  return (value, name) => {
    if (value !== false) check(value, name);
  };
}

/** True when a value has these methods, its own or of its class. */
export function hasMethods(value: unknown, methods: readonly string[]): boolean {
  const object = Object(value ?? {}) as { readonly [name: string]: unknown };
  return methods.every((name) => typeof object[name] === "function");
}

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

/** The types of values of an option. */
export type OptionType = "boolean" | "string" | "number" | "function" | "object" | "list";

/** Throws `invalid_argument` for a value that is given and of another type. */
export function assertType(name: string, value: unknown, type: OptionType): void {
  if (value !== undefined) assertIs(name, value, type);
}

/** Throws `invalid_argument` for what has another type, or is not given. */
export function assertIs(name: string, value: unknown, type: OptionType): void {
  if (typeOf(value) === type && !Number.isNaN(value)) return;
  throw misuse(`${name} is ${shown(value)}; it must be ${type === "object" ? "an" : "a"} ${type}.`);
}

/** Throws `invalid_argument` for what is no number from `least` (`isAbove`: above it) to `most`. */
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

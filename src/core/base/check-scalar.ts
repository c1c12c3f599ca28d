import { equalJson, isRecord, safeParse } from "./json.ts";
import { numberKeyword, patternOf, type SchemaNode, schemaError } from "./schema-keywords.ts";
import { type Check, typeName } from "./schema-run.ts";
import { nearest } from "./text.ts";

/**
 * The check for `type` (a name or several) and `nullable`. A value that fails it is repaired where only one
 * thing can have been meant: the text of a number, a boolean, or an expected JSON array or object.
 */
export function typeCheck(node: SchemaNode): Check | undefined {
  const { type, nullable } = node.schema;
  if (type === undefined) return undefined;
  const names: readonly unknown[] = Array.isArray(type) ? type : [type];
  const types = new Set<string>();
  for (const name of names) {
    if (typeof name !== "string" || !TYPE_NAMES.has(name))
      throw schemaError(`${node.where}/type`, `names no type: ${JSON.stringify(name)}`);
    types.add(name);
  }
  if (nullable === true) types.add("null");
  const wanted = [...types].join(" or ");
  const numbers = types.has("number");
  const integers = types.has("integer");
  return (value, run) => {
    if (
      typeof value === "number"
        ? numbers || (integers && Number.isInteger(value))
        : types.has(typeName(value))
    )
      return value;
    const repaired = run.repairs && typeof value === "string" ? repairedText(value, types) : undefined;
    if (repaired !== undefined) return repaired;
    run.fail(
      () => `expected ${wanted}, got ${integers && typeof value === "number" ? value : typeName(value)}`,
      "type",
    );
    return value;
  };
}

/** Checks for `enum` and `const`. */
export function choiceChecks(node: SchemaNode): readonly Check[] {
  const { schema, where } = node;
  const checks: Check[] = [];
  if (schema["enum"] !== undefined) {
    if (!Array.isArray(schema["enum"])) throw schemaError(`${where}/enum`, "must be an array");
    checks.push(oneOfValues(schema["enum"]));
  }
  if (schema["const"] !== undefined) checks.push(oneOfValues([schema["const"]]));
  return checks;
}

/** Checks for the bounds of numbers. */
export function numberChecks(node: SchemaNode): readonly Check[] {
  const bounds = BOUNDS.flatMap(({ keyword, inclusive, bad, words }) => {
    const bound =
      inclusive === undefined ? numberKeyword(node, keyword) : exclusiveBound(node, keyword, inclusive);
    return bound === undefined ? [] : [{ bound, bad, words }];
  });
  return bounds.map(({ bound, bad, words }) => (value, run) => {
    if (typeof value === "number" && bad(value, bound))
      run.fail(() => `must be ${words} ${bound}, got ${value}`);
    return value;
  });
}

/** Length and pattern of strings, in code points. How long a pattern takes is up to its author. */
export function stringChecks(node: SchemaNode): readonly Check[] {
  const min = numberKeyword(node, "minLength") ?? 0;
  const max = numberKeyword(node, "maxLength") ?? Number.POSITIVE_INFINITY;
  const source = node.schema["pattern"];
  const pattern = source === undefined ? undefined : patternOf(source, `${node.where}/pattern`);
  if (min === 0 && max === Number.POSITIVE_INFINITY && pattern === undefined) return [];
  const check: Check = (value, run) => {
    if (typeof value !== "string") return value;
    // A string has at most as many code points as code units, and at least half as many.
    if (value.length < min * 2 && codePoints(value) < min)
      run.fail(() => tooFew("character", min, codePoints(value)));
    if (value.length > max && codePoints(value) > max)
      run.fail(() => tooMany("character", max, codePoints(value)));
    if (pattern?.test(value) === false) run.fail(() => patternMessage(pattern, node.schema["format"]));
    return value;
  };
  return [check];
}

/** A format says more than the long pattern it stands for. */
function patternMessage({ source }: RegExp, format: unknown): string {
  return typeof format === "string"
    ? `must be written in the format "${format}"`
    : `must match the pattern ${source}`;
}

/** Says that something has too few parts. */
export function tooFew(noun: string, min: number, got: number): string {
  return `must have at least ${min} ${noun}${min === 1 ? "" : "s"}, got ${got}`;
}

/** Says that something has too many parts. */
export function tooMany(noun: string, max: number, got: number): string {
  return `must have at most ${max} ${noun}${max === 1 ? "" : "s"}, got ${got}`;
}

const TYPE_NAMES: ReadonlySet<string> = new Set([
  "string",
  "number",
  "integer",
  "boolean",
  "null",
  "array",
  "object",
]);

interface Bound {
  readonly keyword: string;
  /** The keyword that holds the number where draft 4 writes this one as `true`. */
  readonly inclusive?: string;
  readonly bad: (value: number, bound: number) => boolean;
  readonly words: string;
}

const BOUNDS: readonly Bound[] = [
  { keyword: "minimum", bad: (value, min) => value < min, words: "at least" },
  { keyword: "maximum", bad: (value, max) => value > max, words: "at most" },
  {
    keyword: "exclusiveMinimum",
    inclusive: "minimum",
    bad: (value, min) => value <= min,
    words: "greater than",
  },
  {
    keyword: "exclusiveMaximum",
    inclusive: "maximum",
    bad: (value, max) => value >= max,
    words: "less than",
  },
  { keyword: "multipleOf", bad: (value, step) => !isMultiple(value, step), words: "a multiple of" },
];

/** Values named in a message about `enum`. */
const MAX_LISTED = 20;

function repairedText(text: string, types: ReadonlySet<string>): unknown {
  if (types.has("boolean") && (text === "true" || text === "false")) return text === "true";
  if (
    (types.has("number") || types.has("integer")) &&
    /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)
  ) {
    return repairedNumber(text, types);
  }
  const opening = text.trimStart()[0];
  if ((opening === "{" && types.has("object")) || (opening === "[" && types.has("array"))) {
    const parsed = safeParse(text);
    if (parsed.ok && (isRecord(parsed.value) || Array.isArray(parsed.value))) return parsed.value;
  }
  return undefined;
}

/** The number a text spells, unless it cannot be held exactly enough to be sure. */
function repairedNumber(text: string, types: ReadonlySet<string>): number | undefined {
  const number = Number(text);
  if (!Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number)))
    return undefined;
  return types.has("number") || Number.isInteger(number) ? number : undefined;
}

function oneOfValues(values: readonly unknown[]): Check {
  return (value, run) => {
    if (!values.some((each) => equalJson(each, value)))
      run.fail(() => choiceMessage(values, value), "choice");
    return value;
  };
}

function choiceMessage(values: readonly unknown[], value: unknown): string {
  const listed = values.slice(0, MAX_LISTED).map((each) => JSON.stringify(each));
  const more = values.length > MAX_LISTED ? ` and ${values.length - MAX_LISTED} more` : "";
  const names = values.filter((each) => typeof each === "string");
  const guess = typeof value === "string" ? nearest(value, names) : undefined;
  const got = typeof value === "string" && value.length <= 60 ? JSON.stringify(value) : typeName(value);
  const hint = guess === undefined || values.length === 1 ? "" : `; did you mean ${JSON.stringify(guess)}?`;
  return `expected ${values.length === 1 ? "" : "one of "}${listed.join(", ")}${more}, got ${got}${hint}`;
}

/** An exclusive bound: a number, or as in draft 4 `true` beside the inclusive one. */
function exclusiveBound(node: SchemaNode, keyword: string, inclusive: string): number | undefined {
  const value = node.schema[keyword];
  if (typeof value === "boolean") return value ? numberKeyword(node, inclusive) : undefined;
  return numberKeyword(node, keyword);
}

/** Decimal fractions are not exact in binary: a few units in the last place are forgiven. */
function isMultiple(value: number, step: number): boolean {
  if (step <= 0) return true;
  const quotient = value / step;
  if (!Number.isFinite(quotient)) return value % step === 0;
  return Math.abs(quotient - Math.round(quotient)) <= Math.abs(quotient) * Number.EPSILON * 4;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

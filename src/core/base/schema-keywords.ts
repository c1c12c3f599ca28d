import { invalidArgument, type NanoAgentError } from "./errors.ts";
import { equalJson, isRecord, safeParse } from "./json.ts";
import type { JsonSchema } from "./schema.ts";
import { closestMatch, pluralize } from "./text.ts";

/** A schema object being compiled: its keywords, its location, and how to compile its subschemas. */
export interface SchemaNode {
  readonly schema: JsonSchema;
  /** JSON pointer of the node, e.g. `#/properties/path`. */
  readonly where: string;
  readonly compile: (schema: unknown, where: string) => Check;
  readonly resolve: ResolveRef;
}

export function schemaError(where: string, problem: string, cause?: unknown): NanoAgentError {
  return invalidArgument(`The schema cannot be used: ${where} ${problem}.`, { cause, details: { where } });
}

export function numberKeyword(node: SchemaNode, keyword: string): number | undefined {
  const value = node.schema[keyword];
  if (value === undefined) return undefined;
  if (typeof value !== "number" || !Number.isFinite(value))
    throw schemaError(`${node.where}/${keyword}`, "must be a number");
  return value;
}

export function namesOf(names: unknown, where: string): readonly string[] {
  if (names === undefined) return [];
  if (Array.isArray(names) && names.every((name) => typeof name === "string")) return names;
  throw schemaError(where, "must be an array of strings");
}

export function schemaKeyword(node: SchemaNode, keyword: string): Check | undefined {
  const value = node.schema[keyword];
  return value === undefined ? undefined : node.compile(value, `${node.where}/${keyword}`);
}

export function schemasKeyword(node: SchemaNode, keyword: string): readonly Check[] | undefined {
  const value = node.schema[keyword];
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw schemaError(`${node.where}/${keyword}`, "must be an array of schemas");
  return value.map((each, at) => node.compile(each, `${node.where}/${keyword}/${at}`));
}

/** The entries of an object keyword, each compiled; empty if the keyword is absent. */
export function mapKeyword<T>(
  node: SchemaNode,
  keyword: string,
  compile: (value: unknown, where: string) => T,
): readonly (readonly [string, T])[] {
  const value: unknown = node.schema[keyword];
  if (value === undefined) return [];
  if (!isRecord(value)) throw schemaError(`${node.where}/${keyword}`, "must be an object");
  return Object.keys(value).map(
    (key) => [key, compile(value[key], `${node.where}/${keyword}/${pointerToken(key)}`)] as const,
  );
}

/**
 * A regular expression with the semantics of JSON Schema: unanchored, in Unicode mode if its syntax allows.
 */
export function compilePattern(source: unknown, where: string): RegExp {
  if (typeof source !== "string") throw schemaError(where, "must be a regular expression as a string");
  try {
    return new RegExp(source, "u");
  } catch {
    try {
      return new RegExp(source);
    } catch (error) {
      throw schemaError(where, `is not a regular expression: ${source}`, error);
    }
  }
}

export function pointerToken(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** Maximum issues reported per value: more would not help a model fix it. */
export const MAX_ISSUES = 10;

/**
 * A compiled keyword or schema. Returns the value, repaired if necessary, and tells the run if it is invalid.
 * Never changes the value it is given.
 */
export type Check = (value: unknown, run: SchemaRun) => unknown;

/** `type` and `choice` show which branch of a schema was meant; `missing` and `unknown` concern a key. */
type IssueKind = "type" | "choice" | "missing" | "unknown" | "other";

export interface DetailedIssue {
  readonly path: readonly (string | number)[];
  readonly kind: IssueKind;
  readonly message: string;
  /** The missing or unknown key. */
  readonly key?: string | undefined;
  /** The innermost schema that failed, and the value it failed on. */
  readonly schema?: JsonSchema;
  readonly value?: unknown;
}

interface Outcome {
  readonly value: unknown;
  readonly failures: number;
  readonly issues: readonly DetailedIssue[];
}

/** Maximum nesting of references; deeper values are refused before the stack overflows. */
const MAX_REFERENCES = 500;

/**
 * The state of one pass over a value. A quiet run only counts failures and stops at the first; a loud run
 * collects issues and may repair. The outcome of each `$ref` is cached by target and value, separately for
 * quiet and loud runs. That bounds the time by schema size times value size, however often branches meet the
 * same part.
 */
export class SchemaRun {
  readonly isQuiet: boolean;
  readonly canRepair: boolean;
  readonly issues: DetailedIssue[] = [];
  failures = 0;
  /** Outcomes by check and value; `running` while the check is in progress. */
  #cache: Map<Check, Map<unknown, Outcome | "running">> | undefined;
  #depth = 0;
  #quietRun: SchemaRun | undefined;

  constructor(mode: "quiet" | "loud" | "repair") {
    this.isQuiet = mode === "quiet";
    this.canRepair = mode === "repair";
  }

  /** True if the run can stop: a quiet one after its first failure, a loud one with enough issues. */
  get isDone(): boolean {
    return this.failures > 0 && (this.isQuiet || this.issues.length >= MAX_ISSUES);
  }

  /** Reports that the current value is invalid. `message` is evaluated only if it will be reported. */
  fail(message: () => string, kind: IssueKind = "other", key?: string): void {
    this.failures += 1;
    if (!this.isQuiet && this.issues.length < MAX_ISSUES)
      this.issues.push({ path: [], message: message(), kind, key });
  }

  /**
   * Adds to the issues from `first` on what they are about: the innermost schema, or an enclosing one with
   * its own wording or alternatives for the same value.
   */
  explain(first: number, schema: JsonSchema, value: unknown): void {
    const isWider = schema["x-say"] !== undefined || schema["anyOf"] !== undefined;
    for (let at = first; at < this.issues.length; at += 1) {
      const issue = this.issues[at];
      if (issue === undefined) continue;
      const isSame = issue.path.length === 0 && issue.key === undefined;
      if (issue.schema === undefined || (isWider && isSame)) this.issues[at] = { ...issue, schema, value };
    }
  }

  /** Checks a part of the value, so that its issues carry the part's path. */
  checkPart(key: string | number, check: Check, value: unknown): unknown {
    const before = this.issues.length;
    const result = check(value, this);
    for (let at = before; at < this.issues.length; at += 1) {
      const issue = this.issues[at];
      if (issue !== undefined) this.issues[at] = { ...issue, path: [key, ...issue.path] };
    }
    return result;
  }

  /** True if the value is valid without repair; reports nothing. */
  isValid(check: Check, value: unknown): boolean {
    const quiet = this.isQuiet ? this : (this.#quietRun ??= new SchemaRun("quiet"));
    return quiet.attempt(check, value).failures === 0;
  }

  /** Runs a check separately: its issues are returned, not reported. */
  attempt(check: Check, value: unknown): Outcome {
    const failures = this.failures;
    const issues = this.issues.splice(0);
    this.failures = 0;
    const result = check(value, this);
    const outcome = { value: result, failures: this.failures, issues: this.issues.splice(0) };
    this.failures = failures;
    this.issues.push(...issues);
    return outcome;
  }

  /** Reports the issues of an {@link attempt}. */
  report(outcome: Outcome): void {
    this.failures += outcome.failures;
    for (const issue of outcome.issues) if (this.issues.length < MAX_ISSUES) this.issues.push(issue);
  }

  /**
   * Runs the check a `$ref` points to, once per value. Meeting the same pair again while it is in progress
   * means the schema refers to itself without going deeper, which constrains nothing.
   */
  checkReference(target: Check, value: unknown): unknown {
    this.#cache ??= new Map();
    const byValue = this.#cache.get(target) ?? new Map<unknown, Outcome | "running">();
    this.#cache.set(target, byValue);
    const known = byValue.get(value);
    if (known === "running") return value;
    if (known !== undefined) {
      this.report(known);
      return known.value;
    }
    if (this.#depth >= MAX_REFERENCES) {
      this.fail(() => `nested deeper than ${MAX_REFERENCES} levels`);
      return value;
    }
    byValue.set(value, "running");
    this.#depth += 1;
    const outcome = this.attempt(target, value);
    this.#depth -= 1;
    byValue.set(value, outcome);
    this.report(outcome);
    return outcome.value;
  }
}

export function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** A path as people write it: `edits[0].old_string`. */
export function pathText(path: readonly (string | number)[]): string {
  let text = "";
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else if (/^[\w$-]+$/.test(key)) text += text === "" ? key : `.${key}`;
    else text += `[${JSON.stringify(key)}]`;
  }
  return text;
}

/**
 * The check for `type` (one or several) and `nullable`. A value of the wrong type is repaired if only one
 * thing can have been meant: the text of a number or a boolean, or JSON text where an array or object is
 * expected.
 */
export function typeCheck(node: SchemaNode): Check | undefined {
  const { type, nullable } = node.schema;
  if (type === undefined) return undefined;
  const names: readonly unknown[] = Array.isArray(type) ? type : [type];
  const types = new Set<string>();
  for (const name of names) {
    if (!TYPE_NAMES.has(name))
      throw schemaError(`${node.where}/type`, `names no type: ${JSON.stringify(name)}`);
    types.add(String(name));
  }
  if (nullable === true) types.add("null");
  const wanted = [...types].join(" or ");
  const numbers = types.has("number");
  const integers = types.has("integer");
  return (value, run) => {
    if (
      typeof value === "number"
        ? (numbers && !Number.isNaN(value)) || (integers && Number.isInteger(value))
        : types.has(typeName(value))
    )
      return value;
    const repaired = run.canRepair && typeof value === "string" ? repairedText(value, types) : undefined;
    if (repaired !== undefined) return repaired;
    run.fail(
      () => `expected ${wanted}, got ${integers && typeof value === "number" ? value : typeName(value)}`,
      "type",
    );
    return value;
  };
}

export function choiceChecks(node: SchemaNode): readonly Check[] {
  const { schema, where } = node;
  const checks: Check[] = [];
  if (schema["enum"] !== undefined) {
    if (!Array.isArray(schema["enum"])) throw schemaError(`${where}/enum`, "must be an array");
    checks.push(choiceCheck(schema["enum"]));
  }
  if (schema["const"] !== undefined) checks.push(choiceCheck([schema["const"]]));
  return checks;
}

/** Checks for number bounds. Draft 4 writes an exclusive bound as `true` next to the inclusive one. */
export function numberChecks(node: SchemaNode): readonly Check[] {
  return BOUNDS.flatMap(([keyword, phrase, isWithin]): Check[] => {
    const flag = node.schema[keyword];
    const isFlag = typeof flag === "boolean" && keyword.startsWith("exclusive");
    const bound = isFlag && !flag ? undefined : numberKeyword(node, isFlag ? inclusiveOf(keyword) : keyword);
    if (bound === undefined) return [];
    return [
      (value, run) => {
        if (typeof value === "number" && !isWithin(value, bound))
          run.fail(() => `must be ${phrase} ${bound}, got ${value}`);
        return value;
      },
    ];
  });
}

const BOUNDS: readonly (readonly [string, string, (value: number, bound: number) => boolean])[] = [
  ["minimum", "at least", (value, min) => !(value < min)],
  ["maximum", "at most", (value, max) => !(value > max)],
  ["exclusiveMinimum", "greater than", (value, min) => !(value <= min)],
  ["exclusiveMaximum", "less than", (value, max) => !(value >= max)],
  ["multipleOf", "a multiple of", isMultiple],
];

function inclusiveOf(exclusive: string): string {
  return exclusive.replace("exclusive", "").toLowerCase();
}

/** Length (in code points) and pattern of strings. The pattern's running time is up to its author. */
export function stringChecks(node: SchemaNode): readonly Check[] {
  const checks = countChecks(node, "Length", "character", (value) =>
    typeof value === "string" ? codePoints(value) : undefined,
  );
  const source = node.schema["pattern"];
  if (source === undefined) return checks;
  const pattern = compilePattern(source, `${node.where}/pattern`);
  const check: Check = (value, run) => {
    if (typeof value === "string" && !pattern.test(value))
      run.fail(() => patternMessage(pattern, node.schema["format"]));
    return value;
  };
  return [...checks, check];
}

/** Checks for `min…` and `max…`; `countOf` returns undefined for a value of another kind. */
export function countChecks(
  node: SchemaNode,
  what: "Length" | "Items" | "Properties" | "Contains",
  noun: string,
  countOf: (value: unknown, run: SchemaRun) => number | undefined,
): readonly Check[] {
  const min = numberKeyword(node, `min${what}`) ?? (what === "Contains" ? 1 : 0);
  const max = numberKeyword(node, `max${what}`) ?? Number.POSITIVE_INFINITY;
  if (min === 0 && max === Number.POSITIVE_INFINITY) return [];
  const check: Check = (value, run) => {
    const count = countOf(value, run);
    if (count === undefined) return value;
    if (count < min) run.fail(() => `must have at least ${pluralize(min, noun)}, got ${count}`);
    if (count > max) run.fail(() => `must have at most ${pluralize(max, noun)}, got ${count}`);
    return value;
  };
  return [check];
}

/** The name of a format says more than the pattern behind it. */
function patternMessage({ source }: RegExp, format: unknown): string {
  return typeof format === "string"
    ? `must be written in the format "${format}"`
    : `must match the pattern ${source}`;
}

const TYPE_NAMES: ReadonlySet<unknown> = new Set(
  "string number integer boolean null array object".split(" "),
);

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

/** The number a text spells, unless a double cannot hold it exactly enough. */
function repairedNumber(text: string, types: ReadonlySet<string>): number | undefined {
  const number = Number(text);
  if (!Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number)))
    return undefined;
  return types.has("number") || Number.isInteger(number) ? number : undefined;
}

function choiceCheck(values: readonly unknown[]): Check {
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
  const guess = typeof value === "string" ? closestMatch(value, names) : undefined;
  const got = typeof value === "string" && value.length <= 60 ? JSON.stringify(value) : typeName(value);
  const hint = guess === undefined || values.length === 1 ? "" : `; did you mean ${JSON.stringify(guess)}?`;
  return `expected ${values.length === 1 ? "" : "one of "}${listed.join(", ")}${more}, got ${got}${hint}`;
}

/** Binary fractions are inexact: allow a few units in the last place. */
function isMultiple(value: number, step: number): boolean {
  if (step <= 0) return true;
  const quotient = value / step;
  if (!Number.isFinite(quotient)) return value % step === 0;
  return Math.abs(quotient - Math.round(quotient)) <= Math.abs(quotient) * Number.EPSILON * 4;
}

function codePoints(text: string): number {
  return /[\ud800-\udbff]/.test(text) ? [...text].length : text.length;
}

/** Maximum schemas visited for one message, so that recursion and branching end. */
const MAX_VISITED_SCHEMAS = 30;
const MAX_EXPECTED_VALUES = 10;
const MAX_EXPECTED_CHARS = 200;

/** The schema a `$ref` within the document points to. Throws `invalid_argument` if there is none. */
export type ResolveRef = (ref: string) => unknown;

/**
 * What a schema expects, in a few words: its values if they are few, otherwise its type; for alternatives,
 * each of them. Empty if there is no short form.
 */
export function expectedValueText(schema: unknown, resolve: ResolveRef): string {
  let left = MAX_VISITED_SCHEMAS;
  const describe = (part: unknown): string => {
    if (!isRecord(part) || left === 0) return "";
    left -= 1;
    const { const: only, enum: values, type, items, $ref: ref } = part;
    if (only !== undefined) return JSON.stringify(only);
    if (Array.isArray(values) && values.length > 0 && values.length <= MAX_EXPECTED_VALUES)
      return `one of ${values.map((value) => JSON.stringify(value)).join(", ")}`;
    if (type === "array") {
      const item = describe(items);
      return item === "" ? "array" : `array of ${item.includes(" ") ? `(${item})` : item}`;
    }
    if (Array.isArray(type)) return type.join(" or ");
    if (typeof type === "string") return type;
    if (typeof ref === "string") return describe(resolve(ref));
    const forms = branchesOf(part).map(describe);
    // If one alternative has no short form, listing only the others would mislead.
    return forms.includes("") ? "" : [...new Set(forms)].join(" or ");
  };
  const phrase = describe(schema);
  return phrase.length > MAX_EXPECTED_CHARS ? "" : phrase;
}

function branchesOf({ anyOf, oneOf, allOf }: { readonly [keyword: string]: unknown }): readonly unknown[] {
  const branches = anyOf ?? oneOf ?? (Array.isArray(allOf) && allOf.length === 1 ? allOf : undefined);
  return Array.isArray(branches) ? branches : [];
}

import { expectedForm, type ResolveRef } from "./expected-form.ts";
import { canonicalJson, equalJson, type Fields, isRecord, safeParse } from "./json.ts";
import {
  type Check,
  mapKeyword,
  namesKeyword,
  numberKeyword,
  patternOf,
  type SchemaNode,
  type SchemaRun,
  schemaError,
  schemaKeyword,
  schemasKeyword,
  typeName,
} from "./schema-run.ts";
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

/** Checks for arrays, in the words of draft 2020-12 (`prefixItems`, `items`) and 7 (`additionalItems`). */
export function arrayChecks(node: SchemaNode): readonly Check[] {
  const checks: Check[] = [];
  const isTuple = Array.isArray(node.schema["items"]);
  const first = schemasKeyword(node, isTuple ? "items" : "prefixItems") ?? [];
  const rest = schemaKeyword(node, isTuple ? "additionalItems" : "items");
  if (first.length > 0 || rest !== undefined) {
    checks.push((value, run) =>
      Array.isArray(value) ? checkItems(value, (at) => first[at] ?? rest, run) : value,
    );
  }
  return [...checks, ...itemCountChecks(node), ...containsChecks(node)];
}

function checkItems(
  items: readonly unknown[],
  checkOf: (at: number) => Check | undefined,
  run: SchemaRun,
): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let at = 0; at < items.length && !run.over; at += 1) {
    const check = checkOf(at);
    if (check === undefined) break;
    const checked = run.within(at, check, items[at]);
    if (checked !== items[at]) {
      copy ??= [...items];
      copy[at] = checked;
    }
  }
  return copy ?? items;
}

function itemCountChecks(node: SchemaNode): readonly Check[] {
  const min = numberKeyword(node, "minItems") ?? 0;
  const max = numberKeyword(node, "maxItems") ?? Number.POSITIVE_INFINITY;
  const unique = node.schema["uniqueItems"] === true;
  if (min === 0 && max === Number.POSITIVE_INFINITY && !unique) return [];
  return [
    (value, run) => {
      if (!Array.isArray(value)) return value;
      const count = value.length;
      if (count < min) run.fail(() => tooFew("item", min, count));
      if (count > max) run.fail(() => tooMany("item", max, count));
      if (unique && new Set(value.map(canonicalJson)).size < count)
        run.fail(() => "must not hold the same item twice");
      return value;
    },
  ];
}

function containsChecks(node: SchemaNode): readonly Check[] {
  const wanted = schemaKeyword(node, "contains");
  if (wanted === undefined) return [];
  const min = numberKeyword(node, "minContains") ?? 1;
  const max = numberKeyword(node, "maxContains") ?? Number.POSITIVE_INFINITY;
  return [
    (value, run) => {
      if (!Array.isArray(value)) return value;
      const found = value.filter((item) => run.holds(wanted, item)).length;
      if (found < min) run.fail(() => tooFew("item of the wanted form", min, found));
      if (found > max) run.fail(() => tooMany("item of the wanted form", max, found));
      return value;
    },
  ];
}

interface ObjectKeywords {
  /** The properties as the schema spells them. */
  readonly schemas: unknown;
  readonly resolve: ResolveRef;
  readonly properties: ReadonlyMap<string, Check>;
  readonly patterns: readonly (readonly [RegExp, Check])[];
  readonly required: ReadonlySet<string>;
  readonly additional: Check | false | undefined;
  readonly names: Check | undefined;
}

/**
 * The checks for objects. A field that is `undefined` counts as absent. When repairing, `null` at an optional
 * property that does not take it is dropped: many models write it for "nothing".
 */
export function objectChecks(node: SchemaNode): readonly Check[] {
  const keywords: ObjectKeywords = {
    schemas: node.schema["properties"],
    resolve: node.resolve,
    properties: new Map(mapKeyword(node, "properties", node.compile)),
    patterns: mapKeyword(node, "patternProperties", node.compile).map(([source, check]) => [
      patternOf(source, `${node.where}/patternProperties`),
      check,
    ]),
    required: new Set(namesKeyword(node, "required")),
    additional:
      node.schema["additionalProperties"] === false ? false : schemaKeyword(node, "additionalProperties"),
    names: schemaKeyword(node, "propertyNames"),
  };
  return [...fieldChecks(keywords), ...fieldCountChecks(node), ...dependencyChecks(node)];
}

const DROPPED = Symbol("dropped");

function fieldChecks(keywords: ObjectKeywords): readonly Check[] {
  const { patterns, properties, required, additional, names } = keywords;
  const checks: Check[] = [];
  if (properties.size > 0 || patterns.length > 0 || additional !== undefined || names !== undefined) {
    const checkField = fieldCheck(keywords);
    checks.push((value, run) => (isRecord(value) ? checkFields(value, checkField, run) : value));
  }
  if (required.size > 0) {
    const list = [...required];
    checks.push((value, run) => {
      if (!isRecord(value)) return value;
      for (const key of list) if (isAbsent(value, key)) run.fail(() => missingMessage(key, value, keywords));
      return value;
    });
  }
  return checks;
}

type CheckField = (key: string, value: unknown, run: SchemaRun) => unknown;

function checkFields(fields: Fields, checkField: CheckField, run: SchemaRun): Fields {
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    if (value === undefined) continue;
    const checked = checkField(key, value, run);
    if (checked !== value) {
      copy ??= { ...fields };
      if (checked === DROPPED) delete copy[key];
      else
        Object.defineProperty(copy, key, {
          value: checked,
          writable: true,
          enumerable: true,
          configurable: true,
        });
    }
    if (run.over) break;
  }
  return copy ?? fields;
}

function fieldCheck(keywords: ObjectKeywords): CheckField {
  const { names, patterns, properties } = keywords;
  const checkNamed = namedField(keywords);
  const checkAdditional = additionalField(keywords);
  return (key, value, run) => {
    if (names !== undefined && !run.holds(names, key))
      run.fail(() => `property name ${JSON.stringify(key)} is not allowed`);
    const matching = patterns.filter(([pattern]) => pattern.test(key));
    if (!properties.has(key) && matching.length === 0) return checkAdditional(key, value, run);
    let current = checkNamed(key, value, run);
    for (const [, check] of matching) if (current !== DROPPED) current = run.within(key, check, current);
    return current;
  };
}

function namedField({ properties, required }: ObjectKeywords): CheckField {
  return (key, value, run) => {
    const check = properties.get(key);
    if (check === undefined) return value;
    if (value === null && run.repairs && !required.has(key) && !run.holds(check, null)) return DROPPED;
    return run.within(key, check, value);
  };
}

function additionalField({ additional, properties }: ObjectKeywords): CheckField {
  return (key, value, run) => {
    if (additional === undefined) return value;
    if (additional !== false) return run.within(key, additional, value);
    run.fail(() => unknownMessage(key, properties));
    return value;
  };
}

function fieldCountChecks(node: SchemaNode): readonly Check[] {
  const min = numberKeyword(node, "minProperties") ?? 0;
  const max = numberKeyword(node, "maxProperties") ?? Number.POSITIVE_INFINITY;
  if (min === 0 && max === Number.POSITIVE_INFINITY) return [];
  return [
    (value, run) => {
      if (!isRecord(value)) return value;
      const count = Object.keys(value).filter((key) => value[key] !== undefined).length;
      if (count < min) run.fail(() => tooFew("field", min, count));
      if (count > max) run.fail(() => tooMany("field", max, count));
      return value;
    },
  ];
}

/** `dependentRequired`, `dependentSchemas`, and `dependencies` of draft 7, which is either. */
function dependencyChecks(node: SchemaNode): readonly Check[] {
  const compile = (value: unknown, where: string): Check =>
    Array.isArray(value) ? allPresent(namesKeyword(node, "dependencies", value)) : node.compile(value, where);
  const dependents = ["dependentRequired", "dependentSchemas", "dependencies"].flatMap((keyword) =>
    mapKeyword(node, keyword, compile),
  );
  return dependents.map(
    ([key, check]): Check =>
      (value, run) =>
        isRecord(value) && !isAbsent(value, key) ? check(value, run) : value,
  );
}

function allPresent(names: readonly string[]): Check {
  return (value, run) => {
    if (!isRecord(value)) return value;
    for (const key of names) if (isAbsent(value, key)) run.fail(() => missingMessage(key, value, NONE));
    return value;
  };
}

function isAbsent(fields: Fields, key: string): boolean {
  return !Object.hasOwn(fields, key) || fields[key] === undefined;
}

type NamedForms = Pick<ObjectKeywords, "properties" | "schemas" | "resolve">;

const NONE: NamedForms = { properties: new Map(), schemas: {}, resolve: () => undefined };

function missingMessage(key: string, fields: Fields, { properties, schemas, resolve }: NamedForms): string {
  const strangers = Object.keys(fields).filter((each) => !properties.has(each));
  const guess = nearest(key, strangers);
  const form = expectedForm(isRecord(schemas) ? schemas[key] : undefined, resolve);
  const notes = [form, guess === undefined ? "" : `is ${JSON.stringify(guess)} meant to be it?`];
  const said = notes.filter((note) => note !== "").join("; ");
  return `missing required property ${JSON.stringify(key)}${said === "" ? "" : ` (${said})`}`;
}

function unknownMessage(key: string, properties: ReadonlyMap<string, Check>): string {
  const allowed = [...properties.keys()];
  const guess = nearest(key, allowed);
  const listed = allowed.length === 0 ? "none are allowed" : `allowed: ${allowed.slice(0, 20).join(", ")}`;
  return `unknown property ${JSON.stringify(key)}; ${guess === undefined ? listed : `did you mean ${JSON.stringify(guess)}?`}`;
}

/** The checks for `allOf`, `anyOf`, `oneOf`, `not` and `if`. */
export function branchChecks(node: SchemaNode): readonly Check[] {
  const checks: Check[] = [...(schemasKeyword(node, "allOf") ?? [])];
  const anyOf = schemasKeyword(node, "anyOf");
  if (anyOf !== undefined) checks.push(anyOfCheck(anyOf));
  const oneOf = schemasKeyword(node, "oneOf");
  if (oneOf !== undefined) checks.push(oneOfCheck(oneOf));
  const not = schemaKeyword(node, "not");
  if (not !== undefined) {
    checks.push((value, run) => {
      if (run.holds(not, value)) run.fail(() => "has a form that is not allowed here");
      return value;
    });
  }
  return [...checks, ...conditionChecks(node)];
}

function anyOfCheck(branches: readonly Check[]): Check {
  return (value, run) => {
    for (const branch of branches) if (run.holds(branch, value)) return value;
    return noneHolds(branches, value, run);
  };
}

function oneOfCheck(branches: readonly Check[]): Check {
  return (value, run) => {
    const holding = branches.filter((branch) => run.holds(branch, value)).length;
    if (holding === 1) return value;
    if (holding === 0) return noneHolds(branches, value, run);
    run.fail(() => `fits ${holding} of the alternatives; it must fit exactly one`);
    return value;
  };
}

function conditionChecks(node: SchemaNode): readonly Check[] {
  const condition = schemaKeyword(node, "if");
  const whenTrue = schemaKeyword(node, "then");
  const whenFalse = schemaKeyword(node, "else");
  if (condition === undefined) return [];
  return [
    (value, run) => {
      const branch = run.holds(condition, value) ? whenTrue : whenFalse;
      return branch === undefined ? value : branch(value, run);
    },
  ];
}

/** No branch takes the value as it is: repaired if there is one way only, else what is wrong is said. */
function noneHolds(branches: readonly Check[], value: unknown, run: SchemaRun): unknown {
  if (run.quiet) {
    run.fail(() => "");
    return value;
  }
  const outcomes = branches.map((branch) => run.attempt(branch, value));
  const repaired = outcomes.filter((outcome) => outcome.failures === 0);
  const first = repaired[0];
  if (first !== undefined && repaired.every((other) => equalJson(other.value, first.value)))
    return first.value;
  const meant = outcomes.filter((outcome) => outcome.failures > 0 && !outcome.issues.some(saysOtherForm));
  const closest = meant.toSorted((a, b) => a.failures - b.failures)[0];
  if (closest !== undefined) {
    run.report(closest);
    return value;
  }
  const expected = new Set(
    outcomes.flatMap((outcome) => outcome.issues.slice(0, 1).map((issue) => expectation(issue))),
  );
  run.fail(
    () =>
      `fits none of the alternatives: ${[...expected].slice(0, 8).join("; ") || `got ${typeName(value)}`}`,
  );
  return value;
}

/** True when an issue means another branch: a wrong type, or the wrong mark of a tagged form. */
function saysOtherForm(issue: { readonly path: string; readonly kind: string }): boolean {
  return issue.path === "" ? issue.kind !== "other" : issue.kind === "choice" && !/[.[]/.test(issue.path);
}

function expectation(issue: { readonly path: string; readonly message: string }): string {
  return issue.path === "" ? issue.message : `${issue.path}: ${issue.message}`;
}

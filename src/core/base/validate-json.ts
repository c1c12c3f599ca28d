import { canonicalJson, equalJson, type Fields, isRecord, MAX_JSON_DEPTH } from "./json.ts";
import type { JsonSchema, SchemaResult } from "./schema.ts";
import {
  type Check,
  choiceChecks,
  compilePattern,
  countChecks,
  type DetailedIssue,
  expectedValueText,
  mapKeyword,
  namesOf,
  numberChecks,
  pathText,
  type SchemaNode,
  SchemaRun,
  schemaError,
  schemaKeyword,
  schemasKeyword,
  stringChecks,
  typeCheck,
  typeName,
} from "./schema-keywords.ts";
import { closestMatch } from "./text.ts";

/** Array checks, with the keywords of draft 2020-12 (`prefixItems`, `items`) and 7 (`additionalItems`). */
function arrayChecks(node: SchemaNode): readonly Check[] {
  const checks: Check[] = [];
  const isTuple = Array.isArray(node.schema["items"]);
  const first = schemasKeyword(node, isTuple ? "items" : "prefixItems") ?? [];
  const rest = schemaKeyword(node, isTuple ? "additionalItems" : "items");
  if (first.length > 0 || rest !== undefined) {
    checks.push((value, run) =>
      Array.isArray(value) ? checkItems(value, (at) => first[at] ?? rest, run) : value,
    );
  }
  const lengthOf = (value: unknown): number | undefined => (Array.isArray(value) ? value.length : undefined);
  checks.push(...countChecks(node, "Items", "item", lengthOf));
  if (node.schema["uniqueItems"] === true)
    checks.push((value, run) => {
      if (Array.isArray(value) && new Set(value.map(canonicalJson)).size < value.length)
        run.fail(() => "must not hold the same item twice");
      return value;
    });
  return [...checks, ...containsChecks(node)];
}

function checkItems(
  items: readonly unknown[],
  checkOf: (at: number) => Check | undefined,
  run: SchemaRun,
): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let at = 0; at < items.length && !run.isDone; at += 1) {
    const check = checkOf(at);
    if (check === undefined) break;
    const checked = run.checkPart(at, check, items[at]);
    if (checked !== items[at]) {
      copy ??= [...items];
      copy[at] = checked;
    }
  }
  return copy ?? items;
}

function containsChecks(node: SchemaNode): readonly Check[] {
  const wanted = schemaKeyword(node, "contains");
  if (wanted === undefined) return [];
  return countChecks(node, "Contains", "item of the wanted form", (value, run) =>
    Array.isArray(value) ? value.filter((item) => run.isValid(wanted, item)).length : undefined,
  );
}

const DROPPED = Symbol("dropped");

type CheckField = (key: string, value: unknown, run: SchemaRun) => unknown;

/**
 * Object checks. A field that is `undefined` counts as absent. When repairing, a `null` that an optional
 * property does not accept is dropped: many models write it for "nothing".
 */
function objectChecks(node: SchemaNode): readonly Check[] {
  const { schema, where } = node;
  const properties = new Map(mapKeyword(node, "properties", node.compile));
  const required = [...new Set(namesOf(schema["required"], `${where}/required`))];
  const checkField = fieldCheck(node, properties, new Set(required));
  const checks: Check[] = [];
  if (checkField !== undefined)
    checks.push((value, run) => (isRecord(value) ? checkFields(value, checkField, run) : value));
  if (required.length > 0) checks.push(requiredCheck(node, required, properties));
  const countOf = (value: unknown): number | undefined =>
    isRecord(value) ? Object.keys(value).filter((key) => value[key] !== undefined).length : undefined;
  return [...checks, ...countChecks(node, "Properties", "field", countOf), ...dependencyChecks(node)];
}

function checkFields(fields: Fields, checkField: CheckField, run: SchemaRun): Fields {
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    if (value === undefined) continue;
    const checked = checkField(key, value, run);
    if (checked !== value) {
      copy ??= { ...fields };
      if (checked === DROPPED) delete copy[key];
      // Not by assignment: the key may be `__proto__`.
      else
        Object.defineProperty(copy, key, {
          value: checked,
          writable: true,
          enumerable: true,
          configurable: true,
        });
    }
    if (run.isDone) break;
  }
  return copy ?? fields;
}

/** The check for one field; undefined if the schema constrains no fields. */
function fieldCheck(
  node: SchemaNode,
  properties: ReadonlyMap<string, Check>,
  required: ReadonlySet<string>,
): CheckField | undefined {
  const patterns = mapKeyword(node, "patternProperties", node.compile).map(
    ([source, check]) => [compilePattern(source, `${node.where}/patternProperties`), check] as const,
  );
  const isClosed = node.schema["additionalProperties"] === false;
  const additional = isClosed ? undefined : schemaKeyword(node, "additionalProperties");
  const names = schemaKeyword(node, "propertyNames");
  if (properties.size + patterns.length === 0 && !isClosed && (additional ?? names) === undefined)
    return undefined;
  return (key, value, run) => {
    if (names !== undefined && !run.isValid(names, key))
      run.fail(() => `property name ${JSON.stringify(key)} is not allowed`, "unknown", key);
    const own = properties.get(key);
    const matching = patterns.filter(([pattern]) => pattern.test(key));
    if (own === undefined && matching.length === 0) {
      if (isClosed) run.fail(() => unknownMessage(key, properties), "unknown", key);
      return additional === undefined ? value : run.checkPart(key, additional, value);
    }
    let current = value;
    if (own !== undefined) {
      if (value === null && run.canRepair && !required.has(key) && !run.isValid(own, null)) return DROPPED;
      current = run.checkPart(key, own, value);
    }
    for (const [, check] of matching) current = run.checkPart(key, check, current);
    return current;
  };
}

/** `dependentRequired`, `dependentSchemas`, and `dependencies` of draft 7, which may be either. */
function dependencyChecks(node: SchemaNode): readonly Check[] {
  const compile = (value: unknown, where: string): Check =>
    Array.isArray(value) ? requiredCheck(node, namesOf(value, where)) : node.compile(value, where);
  const dependents = ["dependentRequired", "dependentSchemas", "dependencies"].flatMap((keyword) =>
    mapKeyword(node, keyword, compile),
  );
  return dependents.map(
    ([key, check]): Check =>
      (value, run) =>
        isRecord(value) && !isAbsent(value, key) ? check(value, run) : value,
  );
}

/** `required`; the message lists the known properties when one is missing. */
function requiredCheck(
  node: SchemaNode,
  names: readonly string[],
  properties?: ReadonlyMap<string, Check>,
): Check {
  return (value, run) => {
    if (!isRecord(value)) return value;
    for (const key of names)
      if (isAbsent(value, key)) run.fail(() => missingMessage(node, key, value, properties), "missing", key);
    return value;
  };
}

function isAbsent(fields: Fields, key: string): boolean {
  return !Object.hasOwn(fields, key) || fields[key] === undefined;
}

function missingMessage(
  { schema, resolve }: SchemaNode,
  key: string,
  fields: Fields,
  properties?: ReadonlyMap<string, Check>,
): string {
  const guess = closestMatch(
    key,
    Object.keys(fields).filter((each) => properties?.has(each) !== true),
  );
  const schemas = properties === undefined ? undefined : schema["properties"];
  const form = expectedValueText(isRecord(schemas) ? schemas[key] : undefined, resolve);
  const notes = [form, guess === undefined ? "" : `is ${JSON.stringify(guess)} meant to be it?`];
  const notesText = notes.filter((note) => note !== "").join("; ");
  return `missing required property ${JSON.stringify(key)}${notesText === "" ? "" : ` (${notesText})`}`;
}

function unknownMessage(key: string, properties: ReadonlyMap<string, Check>): string {
  const allowed = [...properties.keys()];
  const guess = closestMatch(key, allowed);
  const listed = allowed.length === 0 ? "none are allowed" : `allowed: ${allowed.slice(0, 20).join(", ")}`;
  return `unknown property ${JSON.stringify(key)}; ${guess === undefined ? listed : `did you mean ${JSON.stringify(guess)}?`}`;
}

/** The checks for `allOf`, `anyOf`, `oneOf`, `not` and `if`. */
function branchChecks(node: SchemaNode): readonly Check[] {
  const checks: Check[] = [...(schemasKeyword(node, "allOf") ?? [])];
  const anyOf = schemasKeyword(node, "anyOf");
  if (anyOf !== undefined)
    checks.push((value, run) =>
      anyOf.some((branch) => run.isValid(branch, value)) ? value : repairByBranch(anyOf, value, run),
    );
  const oneOf = schemasKeyword(node, "oneOf");
  if (oneOf !== undefined) checks.push(oneOfCheck(oneOf));
  const not = schemaKeyword(node, "not");
  if (not !== undefined)
    checks.push((value, run) => {
      if (run.isValid(not, value)) run.fail(() => "has a form that is not allowed here");
      return value;
    });
  const condition = schemaKeyword(node, "if");
  const [whenTrue, whenFalse] = [schemaKeyword(node, "then"), schemaKeyword(node, "else")];
  if (condition !== undefined)
    checks.push((value, run) => {
      const branch = run.isValid(condition, value) ? whenTrue : whenFalse;
      return branch === undefined ? value : branch(value, run);
    });
  return checks;
}

function oneOfCheck(branches: readonly Check[]): Check {
  return (value, run) => {
    const validCount = branches.filter((branch) => run.isValid(branch, value)).length;
    if (validCount === 1) return value;
    if (validCount === 0) return repairByBranch(branches, value, run);
    run.fail(() => `fits ${validCount} of the alternatives; it must fit exactly one`);
    return value;
  };
}

/** No branch accepts the value as it is: repair it if exactly one branch allows that, otherwise report. */
function repairByBranch(branches: readonly Check[], value: unknown, run: SchemaRun): unknown {
  if (run.isQuiet) {
    run.fail(() => "");
    return value;
  }
  const outcomes = branches.map((branch) => run.attempt(branch, value));
  const repaired = outcomes.filter((outcome) => outcome.failures === 0);
  const first = repaired[0];
  if (first !== undefined && repaired.every((other) => equalJson(other.value, first.value)))
    return first.value;
  const intended = outcomes.filter(
    (outcome) => outcome.failures > 0 && !outcome.issues.some(pointsToOtherBranch),
  );
  const closest = intended.toSorted((a, b) => a.failures - b.failures)[0];
  if (closest !== undefined) {
    run.report(closest);
    return value;
  }
  const expected = new Set(
    outcomes.flatMap((outcome) => outcome.issues.slice(0, 1).map((issue) => issueText(issue))),
  );
  run.fail(
    () =>
      `fits none of the alternatives: ${[...expected].slice(0, 8).join("; ") || `got ${typeName(value)}`}`,
  );
  return value;
}

/** True if an issue points to another branch: a wrong type, or the wrong tag of a tagged union. */
function pointsToOtherBranch({ kind, path }: DetailedIssue): boolean {
  if (path.length === 0) return kind === "type" || kind === "choice";
  return kind === "choice" && path.length === 1 && typeof path[0] === "string";
}

function issueText({ path, message }: DetailedIssue): string {
  return path.length === 0 ? message : `${pathText(path)}: ${message}`;
}

/** Checks a value and returns it, repaired if necessary. Never changes the value itself. */
export type JsonValidator = (value: unknown) => SchemaResult;

/**
 * Compiles a JSON Schema (draft 2020-12 or 7) into a validator. A value that holds is returned as it is. One
 * that does not is repaired where its type is wrong and only one thing can have been meant: the text of a
 * number, a boolean, an array or an object; `null` at an optional property. What then still fails is
 * reported, at most ten issues.
 *
 * Annotations and `format` are not checked, nor are `unevaluatedProperties`, `unevaluatedItems` and
 * `$dynamicRef`; `$ref` reaches within the document only. Time is bounded by the size of the schema times the
 * size of the value, except for what the regular expressions of the schema take. Throws `invalid_argument`
 * for a schema that contradicts the specification.
 */
export function compileValidator(schema: JsonSchema | boolean): JsonValidator {
  const root = new SchemaCompiler(schema).compileRoot();
  return (value) => {
    const quick = new SchemaRun("quiet");
    root(value, quick);
    if (quick.failures === 0) return { ok: true, value };
    const repair = new SchemaRun("repair");
    const repaired = root(value, repair);
    if (repair.failures > 0) return failure(repair);
    // A repair may break what an earlier keyword checked: the result must be valid as it is.
    const proof = new SchemaRun("loud");
    root(repaired, proof);
    return proof.failures === 0 ? { ok: true, value: repaired } : failure(proof);
  };
}

/** Compiles one of our own schemas, which may use `x-function` and `x-has`. Nothing is repaired. */
export function compileOptionSchema(schema: JsonSchema): (value: unknown) => DetailedIssue | undefined {
  const root = new SchemaCompiler(schema, true).compileRoot();
  return (value) => {
    const quick = new SchemaRun("quiet");
    root(value, quick);
    if (quick.failures === 0) return undefined;
    const loud = new SchemaRun("loud");
    root(value, loud);
    return loud.issues[0];
  };
}

/** The check for a node of such a schema; it adds to issues what they are about. */
function explainedCheck({ schema }: SchemaNode, check: Check): Check {
  const { "x-function": isFunction, "x-has": methods } = schema;
  return (value, run) => {
    const first = run.issues.length;
    if (isFunction === true && typeof value !== "function") run.fail(() => "must be a function");
    if (Array.isArray(methods) && !hasMethods(value, methods)) run.fail(() => "lacks methods");
    check(value, run);
    run.explain(first, schema, value);
    return value;
  };
}

/** True if a value has these methods, its own or inherited. */
export function hasMethods(value: unknown, methods: readonly unknown[]): boolean {
  const object = Object(value ?? {}) as { readonly [name: string]: unknown };
  return methods.every((name) => typeof object[String(name)] === "function");
}

function failure(run: SchemaRun): SchemaResult {
  return { ok: false, issues: run.issues.map(({ path, message }) => ({ path: pathText(path), message })) };
}

const ACCEPT_ALL: Check = (value) => value;

class SchemaCompiler {
  readonly #root: unknown;
  /** Checks by pointer, so that a `$ref` target is compiled once and may refer to itself. */
  readonly #targets = new Map<string, { check: Check }>();
  readonly #anchors = new Map<string, unknown>();
  readonly #isOwn: boolean;
  #depth = 0;

  constructor(root: unknown, isOwn = false) {
    this.#root = root;
    this.#isOwn = isOwn;
  }

  compileRoot(): Check {
    collectAnchors(this.#root, this.#anchors, 0);
    return this.#compile(this.#root, "#");
  }

  readonly #compile = (schema: unknown, where: string): Check => {
    if (schema === true) return ACCEPT_ALL;
    if (schema === false) {
      return (value, run) => {
        run.fail(() => "is not allowed here");
        return value;
      };
    }
    if (!isRecord(schema)) throw schemaError(where, "must be an object or a boolean");
    if (this.#depth >= MAX_JSON_DEPTH)
      throw schemaError(where, `is nested deeper than ${MAX_JSON_DEPTH} levels`);
    this.#depth += 1;
    const resolve = (ref: string): unknown => this.#resolve(ref, where);
    const compile = this.#compile;
    const node: SchemaNode = { schema: schema as JsonSchema, where, compile, resolve };
    const check = this.#isOwn ? explainedCheck(node, this.#compileNode(node)) : this.#compileNode(node);
    this.#depth -= 1;
    return check;
  };

  #compileNode(node: SchemaNode): Check {
    const type = typeCheck(node);
    const checks = [
      ...this.#refChecks(node),
      ...choiceChecks(node),
      ...numberChecks(node),
      ...stringChecks(node),
      ...objectChecks(node),
      ...arrayChecks(node),
      ...branchChecks(node),
    ];
    if (type === undefined) return sequence(checks);
    if (checks.length === 0) return type;
    const rest = sequence(checks);
    return (value, run) => {
      const before = run.failures;
      const typed = type(value, run);
      return run.failures === before ? rest(typed, run) : value;
    };
  }

  #refChecks(node: SchemaNode): readonly Check[] {
    const ref = node.schema["$ref"];
    if (ref === undefined) return [];
    if (typeof ref !== "string" || !ref.startsWith("#")) {
      throw schemaError(`${node.where}/$ref`, `points outside the document: ${JSON.stringify(ref)}`);
    }
    const known = this.#targets.get(ref);
    const target = known ?? { check: ACCEPT_ALL };
    if (known === undefined) {
      this.#targets.set(ref, target);
      const inner = this.#compile(this.#resolve(ref, node.where), ref);
      target.check = (value, run) => run.checkReference(inner, value);
    }
    return [(value, run) => target.check(value, run)];
  }

  #resolve(ref: string, where: string): unknown {
    const pointer = decodeFragment(ref.slice(1), where);
    if (pointer === "") return this.#root;
    if (!pointer.startsWith("/")) {
      if (this.#anchors.has(pointer)) return this.#anchors.get(pointer);
      throw schemaError(`${where}/$ref`, `points to nothing: ${ref}`);
    }
    let target = this.#root;
    for (const token of pointer.slice(1).split("/")) {
      const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
      if (typeof target !== "object" || target === null || !Object.hasOwn(target, key)) {
        throw schemaError(`${where}/$ref`, `points to nothing: ${ref}`);
      }
      target = (target as { readonly [key: string]: unknown })[key];
    }
    return target;
  }
}

/** Runs the checks one after the other, each on the value the previous one returned. */
function sequence(checks: readonly Check[]): Check {
  const [only] = checks;
  if (only === undefined) return ACCEPT_ALL;
  if (checks.length === 1) return only;
  return (value, run) => {
    let current = value;
    for (const check of checks) {
      current = check(current, run);
      if (run.isDone) break;
    }
    return current;
  };
}

/**
 * The named parts of the document: `$anchor`, and `$id: "#name"` of draft 7. Values of `enum` and `const` are
 * data, and a part with its own `$id` is another document, so their names do not count.
 */
function collectAnchors(schema: unknown, anchors: Map<string, unknown>, depth: number): void {
  if (typeof schema !== "object" || schema === null || depth > MAX_JSON_DEPTH) return;
  if (isRecord(schema)) {
    const { $id, $anchor } = schema;
    const isNamed = typeof $id === "string" && $id.startsWith("#");
    if (isNamed) anchors.set($id.slice(1), schema);
    else if (typeof $id === "string" && depth > 0) return;
    if (typeof $anchor === "string") anchors.set($anchor, schema);
  }
  for (const [key, child] of Object.entries(schema))
    if (key !== "const" && (key !== "enum" || !Array.isArray(child)))
      collectAnchors(child, anchors, depth + 1);
}

function decodeFragment(fragment: string, where: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch (error) {
    throw schemaError(`${where}/$ref`, `is not a valid fragment: #${fragment}`, error);
  }
}

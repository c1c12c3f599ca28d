import {
  arrayChecks,
  branchChecks,
  choiceChecks,
  numberChecks,
  objectChecks,
  stringChecks,
  typeCheck,
} from "./check-value.ts";
import { misuse, type NanoAgentError } from "./errors.ts";
import type { ResolveRef } from "./expected-form.ts";
import { isRecord, MAX_JSON_DEPTH } from "./json.ts";
import type { JsonSchema, SchemaIssue, SchemaResult } from "./schema.ts";

/** One schema object being compiled: its keywords, its place, and how the schemas in it are compiled. */
export interface SchemaNode {
  readonly schema: JsonSchema;
  /** JSON pointer of the node, e.g. `#/properties/path`. */
  readonly where: string;
  readonly compile: (schema: unknown, where: string) => Check;
  /** The schema that a `$ref` points to. Throws `invalid_argument` where there is none. */
  readonly resolve: ResolveRef;
}

/** Says that a schema cannot be used, and where it says so. */
export function schemaError(where: string, problem: string, cause?: unknown): NanoAgentError {
  return misuse(`The schema cannot be used: ${where} ${problem}.`, { cause, details: { where } });
}

/** A keyword that must be a number; `undefined` when it is absent. */
export function numberKeyword(node: SchemaNode, keyword: string): number | undefined {
  const value = node.schema[keyword];
  if (value === undefined) return undefined;
  if (typeof value !== "number" || !Number.isFinite(value))
    throw schemaError(`${node.where}/${keyword}`, "must be a number");
  return value;
}

/** A keyword that must be a list of strings; empty when it is absent. */
export function namesKeyword(
  node: SchemaNode,
  keyword: string,
  value: unknown = node.schema[keyword],
): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || !value.every((name) => typeof name === "string")) {
    throw schemaError(`${node.where}/${keyword}`, "must be an array of strings");
  }
  return value;
}

/** A keyword that holds one schema. */
export function schemaKeyword(node: SchemaNode, keyword: string): Check | undefined {
  const value = node.schema[keyword];
  return value === undefined ? undefined : node.compile(value, `${node.where}/${keyword}`);
}

/** A keyword that holds a list of schemas; `undefined` when it is absent. */
export function schemasKeyword(node: SchemaNode, keyword: string): readonly Check[] | undefined {
  const value = node.schema[keyword];
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw schemaError(`${node.where}/${keyword}`, "must be an array of schemas");
  return value.map((each, at) => node.compile(each, `${node.where}/${keyword}/${at}`));
}

/** The values of an object keyword as `compile` makes them, with their names; empty when absent. */
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

/** A regular expression as schemas mean it: not anchored, Unicode where its syntax allows. */
export function patternOf(source: unknown, where: string): RegExp {
  if (typeof source !== "string") throw schemaError(where, "must be a regular expression as a string");
  try {
    return new RegExp(source, "u");
  } catch {
    return plainPattern(source, where);
  }
}

function plainPattern(source: string, where: string): RegExp {
  try {
    return new RegExp(source);
  } catch (error) {
    throw schemaError(where, `is not a regular expression: ${source}`, error);
  }
}

/** A key as it stands in a JSON pointer (RFC 6901). */
export function pointerToken(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** Issues reported of one value. More would not help a model to mend it. */
export const MAX_ISSUES = 10;

/**
 * One keyword, or one schema, compiled. Returns the value, or what it was repaired to, and tells the run when
 * it does not hold. A check never changes the value it is given.
 */
export type Check = (value: unknown, run: SchemaRun) => unknown;

/** By `type` and `choice` {@link import("./check-value.ts").branchChecks} knows which branch was meant. */
export type IssueKind = "type" | "choice" | "other";

interface FoundIssue extends SchemaIssue {
  readonly kind: IssueKind;
}

/** The findings of a check about a value, to be remembered. */
interface Outcome {
  readonly value: unknown;
  readonly failures: number;
  readonly issues: readonly FoundIssue[];
}

/** Outcomes by check and value; `running` while the check is at work on the value. */
type Memory = Map<Check, Map<unknown, Outcome | "running">>;

/** Nesting of references in one value. Deeper values are refused before the stack overflows. */
const MAX_REFERENCES = 500;

/**
 * The state of one pass over a value. A quiet run only counts failures and stops early; a loud one collects
 * issues and may repair. What a `$ref` found out is remembered by target and value, for quiet and loud runs
 * apart, so that the time is bounded by the size of the schema times the size of the value however often its
 * branches meet the same part again.
 */
export class SchemaRun {
  readonly quiet: boolean;
  readonly repairs: boolean;
  readonly issues: FoundIssue[] = [];
  failures = 0;
  #memory: Memory | undefined;
  #depth = 0;
  #quietTwin: SchemaRun | undefined;

  constructor(mode: "quiet" | "loud" | "repair") {
    this.quiet = mode === "quiet";
    this.repairs = mode === "repair";
  }

  /** True when looking can stop: quiet runs end at the first failure, loud ones with enough issues. */
  get over(): boolean {
    return this.failures > 0 && (this.quiet || this.issues.length >= MAX_ISSUES);
  }

  /** Reports that the value at hand does not hold. `message` is only made when somebody will read it. */
  fail(message: () => string, kind: IssueKind = "other"): void {
    this.failures += 1;
    if (!this.quiet && this.issues.length < MAX_ISSUES)
      this.issues.push({ path: "", message: message(), kind });
  }

  /** Runs a check on a part of the value, so that its issues carry the part's place. */
  within(key: string | number, check: Check, value: unknown): unknown {
    const before = this.issues.length;
    const result = check(value, this);
    for (let at = before; at < this.issues.length; at += 1) {
      const issue = this.issues[at];
      if (issue !== undefined) this.issues[at] = { ...issue, path: joinPath(key, issue.path) };
    }
    return result;
  }

  /** True when the value holds as it is, without any report. */
  holds(check: Check, value: unknown): boolean {
    if (this.quiet) return this.attempt(check, value).failures === 0;
    this.#quietTwin ??= new SchemaRun("quiet");
    return this.#quietTwin.attempt(check, value).failures === 0;
  }

  /** Runs a check aside: what it finds is returned, not reported. */
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

  /** Reports what an {@link attempt} found. */
  report(outcome: Outcome): void {
    this.failures += outcome.failures;
    for (const issue of outcome.issues) if (this.issues.length < MAX_ISSUES) this.issues.push(issue);
  }

  /**
   * Runs the check a `$ref` points to, once for each value. Meeting the same pair while it is at work means
   * the schema refers to itself without going deeper, which says nothing about the value.
   */
  follow(target: Check, value: unknown): unknown {
    this.#memory ??= new Map();
    let byValue = this.#memory.get(target);
    if (byValue === undefined) {
      byValue = new Map();
      this.#memory.set(target, byValue);
    }
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

/** The kind of a value, in JSON Schema's words. */
export function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function joinPath(key: string | number, rest: string): string {
  const separator = rest === "" || rest.startsWith("[") ? "" : ".";
  if (typeof key === "number") return `[${key}]${separator}${rest}`;
  return `${/^[\w$-]+$/.test(key) ? key : `[${JSON.stringify(key)}]`}${separator}${rest}`;
}

/** Checks a value, and hands back what it was repaired to. Never changes the value itself. */
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
    // A repair may break what an earlier keyword checked: the result must hold as it is.
    const proof = new SchemaRun("loud");
    root(repaired, proof);
    return proof.failures === 0 ? { ok: true, value: repaired } : failure(proof);
  };
}

function failure(run: SchemaRun): SchemaResult {
  return { ok: false, issues: run.issues.map(({ path, message }) => ({ path, message })) };
}

const HOLDS: Check = (value) => value;

class SchemaCompiler {
  readonly #root: unknown;
  /** Checks of `$ref` targets by pointer, so that a target is compiled once and may refer to itself. */
  readonly #targets = new Map<string, { check: Check }>();
  readonly #anchors = new Map<string, unknown>();
  #depth = 0;

  constructor(root: unknown) {
    this.#root = root;
  }

  compileRoot(): Check {
    collectAnchors(this.#root, this.#anchors, 0);
    return this.#compile(this.#root, "#");
  }

  readonly #compile = (schema: unknown, where: string): Check => {
    if (schema === true) return HOLDS;
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
    const check = this.#compileNode({ schema: schema as JsonSchema, where, compile, resolve });
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
    if (type === undefined) return inTurn(checks);
    if (checks.length === 0) return type;
    const rest = inTurn(checks);
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
    const target = known ?? { check: HOLDS };
    if (known === undefined) {
      this.#targets.set(ref, target);
      const inner = this.#compile(this.#resolve(ref, node.where), ref);
      target.check = (value, run) => run.follow(inner, value);
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

/** Runs the checks one after the other, each on what the one before it made of the value. */
function inTurn(checks: readonly Check[]): Check {
  const [only] = checks;
  if (only === undefined) return HOLDS;
  if (checks.length === 1) return only;
  return (value, run) => {
    let current = value;
    for (const check of checks) {
      current = check(current, run);
      if (run.over) break;
    }
    return current;
  };
}

/**
 * The names of parts of the document: `$anchor`, and `$id: "#name"` of draft 7. Values of `enum` and `const`
 * are data, and a part with an `$id` of its own is another document, whose names are not ours.
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

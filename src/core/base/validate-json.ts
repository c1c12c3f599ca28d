import {
  arrayChecks,
  branchChecks,
  choiceChecks,
  numberChecks,
  objectChecks,
  stringChecks,
  typeCheck,
} from "./check-value.ts";
import { isRecord, MAX_JSON_DEPTH } from "./json.ts";
import type { JsonSchema, SchemaResult } from "./schema.ts";
import { type Check, type SchemaNode, SchemaRun, schemaError } from "./schema-run.ts";

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

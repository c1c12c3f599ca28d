import { tooFew, tooMany } from "./check-scalar.ts";
import { expectedForm, type ResolveRef } from "./expected-form.ts";
import { type Fields, isRecord } from "./json.ts";
import {
  mapKeyword,
  namesKeyword,
  numberKeyword,
  patternOf,
  type SchemaNode,
  schemaKeyword,
} from "./schema-keywords.ts";
import type { Check, SchemaRun } from "./schema-run.ts";
import { nearest } from "./text.ts";

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
  return [...fieldChecks(keywords), ...countChecks(node), ...dependencyChecks(node)];
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

function countChecks(node: SchemaNode): readonly Check[] {
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

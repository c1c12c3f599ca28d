import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { Json } from "./errors.ts";
import type { JsonSchema } from "./schema.ts";
import { compileValidator } from "./validate-json.ts";

const EDIT: JsonSchema = {
  type: "object",
  properties: {
    path: { type: "string", minLength: 1 },
    edits: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        properties: {
          old_string: { type: "string" },
          new_string: { type: "string" },
          replace_all: { type: "boolean" },
        },
        required: ["old_string", "new_string"],
        additionalProperties: false,
      },
    },
    limit: { type: "integer", minimum: 1 },
    mode: { enum: ["files", "content", "count"] },
  },
  required: ["path", "edits"],
  additionalProperties: false,
};

function messagesOf(schema: JsonSchema, value: unknown): readonly string[] {
  const result = compileValidator(schema)(value);
  return result.ok ? [] : result.issues.map((issue) => `${issue.path}: ${issue.message}`);
}

describe("compileValidator: reports", () => {
  it("names every fault with its place, in words a model can act on", () => {
    const value = {
      pth: "a",
      edits: [{ old_string: 5, newString: "b" }, "x"],
      limit: 0,
      mode: "file",
    };
    expect(messagesOf(EDIT, value)).toEqual([
      ': unknown property "pth"; did you mean "path"?',
      "edits[0].old_string: expected string, got number",
      'edits[0]: unknown property "newString"; did you mean "new_string"?',
      'edits[0]: missing required property "new_string" (string; is "newString" meant to be it?)',
      "edits[1]: expected object, got string",
      "limit: must be at least 1, got 0",
      'mode: expected one of "files", "content", "count", got "file"; did you mean "files"?',
      ': missing required property "path" (string; is "pth" meant to be it?)',
    ]);
  });

  it("stops after ten issues, whatever the size of the value", () => {
    expect(
      messagesOf(
        { type: "array", items: { type: "string" } },
        Array.from({ length: 100_000 }, () => 1),
      ).length,
    ).toBe(10);
  });

  it.each<[JsonSchema, unknown, string]>([
    [{ type: ["string", "null"] }, 3, ": expected string or null, got number"],
    [{ type: "integer" }, 1.5, ": expected integer, got 1.5"],
    [{ type: "object" }, [], ": expected object, got array"],
    [{ const: "a" }, "b", ': expected "a", got "b"'],
    [{ minLength: 2 }, "😀", ": must have at least 2 characters, got 1"],
    [{ maxLength: 1 }, "ab", ": must have at most 1 character, got 2"],
    [{ pattern: "^a+$" }, "b", ": must match the pattern ^a+$"],
    [{ multipleOf: 5 }, 7, ": must be a multiple of 5, got 7"],
    [{ exclusiveMinimum: 5 }, 5, ": must be greater than 5, got 5"],
    [{ minimum: 5, exclusiveMinimum: true }, 5, ": must be greater than 5, got 5"],
    [
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      ": must not hold the same item twice",
    ],
    [{ contains: { type: "string" } }, [1], ": must have at least 1 item of the wanted form, got 0"],
    [
      { prefixItems: [true], contains: { type: "string" } },
      [],
      ": must have at least 1 item of the wanted form, got 0",
    ],
    [{ minProperties: 1 }, {}, ": must have at least 1 field, got 0"],
    [{ propertyNames: { pattern: "^a" } }, { b: 1 }, ': property name "b" is not allowed'],
    [{ not: { type: "string" } }, "a", ": has a form that is not allowed here"],
    [{ properties: { "a b": false } }, { "a b": 1 }, '["a b"]: is not allowed here'],
    [{ additionalProperties: false }, { a: 1 }, ': unknown property "a"; none are allowed'],
    [{ dependentRequired: { a: ["b"] } }, { a: 1 }, ': missing required property "b"'],
    [
      { oneOf: [{ type: "number" }, { type: "integer" }] },
      1,
      ": fits 2 of the alternatives; it must fit exactly one",
    ],
    [
      { anyOf: [{ type: "string" }, { type: "array" }] },
      1,
      ": fits none of the alternatives: expected string, got number; expected array, got number",
    ],
    [
      { if: { properties: { a: { const: 1 } } }, then: { required: ["b"] } },
      { a: 1 },
      ': missing required property "b"',
    ],
    [{ prefixItems: [{ type: "string" }], items: false }, ["a", 1], "[1]: is not allowed here"],
    [{ items: [{ type: "string" }], additionalItems: false }, ["a", 1], "[1]: is not allowed here"],
  ])("%j refuses %j", (schema, value, message) => {
    expect(messagesOf(schema, value)).toEqual([message]);
  });

  it("reports on the alternative that was meant", () => {
    const shapes: JsonSchema = {
      oneOf: [
        {
          type: "object",
          properties: { kind: { const: "circle" }, r: { type: "number" } },
          required: ["kind", "r"],
        },
        {
          type: "object",
          properties: { kind: { const: "box" }, w: { type: "number" } },
          required: ["kind", "w"],
        },
        { type: "string" },
      ],
    };
    expect(messagesOf(shapes, { kind: "box", w: "wide" })).toEqual(["w: expected number, got string"]);
  });
});

describe("compileValidator: repairs", () => {
  it.each<[JsonSchema, unknown, unknown]>([
    [{ type: "integer" }, "5", 5],
    [{ type: "number" }, "-1.5e3", -1500],
    [{ type: "boolean" }, "true", true],
    [{ type: "array", items: { type: "integer" } }, '["1", 2]', [1, 2]],
    [{ type: "object", properties: { a: { type: "boolean" } } }, ' {"a":"false"}', { a: false }],
    [{ type: "object", properties: { a: { type: "string" } } }, { a: null, b: null }, { b: null }],
    [{ anyOf: [{ type: "number" }, { type: "null" }] }, "7", 7],
    [{ $ref: "#/$defs/n", $defs: { n: { type: "number" } } }, "7", 7],
  ])("%j takes %j as %j", (schema, value, repaired) => {
    expect(compileValidator(schema)(value)).toEqual({ ok: true, value: repaired });
  });

  it.each<[JsonSchema, unknown]>([
    [{ type: "integer" }, "5.5"],
    [{ type: "integer" }, "0x10"],
    [{ type: "integer" }, "12345678901234567890"],
    [{ type: "number" }, ""],
    [{ type: "number" }, " 5"],
    [{ type: "boolean" }, "yes"],
    [{ type: "string" }, 5],
    [{ type: "array", items: { type: "string" } }, "one"],
    [{ type: "array" }, "[1"],
    [{ type: "object", properties: { a: { type: "string" } }, required: ["a"] }, { a: null }],
    [{ allOf: [{ minimum: 10 }, { type: "number" }] }, "5"],
  ])("%j does not guess what %j means", (schema, value) => {
    expect(compileValidator(schema)(value).ok).toBe(false);
  });

  it("leaves alone what holds as it is", () => {
    const schema: JsonSchema = {
      type: "object",
      properties: { a: { type: ["string", "number"] }, b: { type: ["string", "null"] } },
    };
    const value = { a: "5", b: null };
    const result = compileValidator(schema)(value);
    expect(result).toEqual({ ok: true, value: { a: "5", b: null } });
    expect(result.ok && result.value).toBe(value);
  });

  it("never changes the value it is given", () => {
    const value = Object.freeze({
      path: "a",
      limit: "3",
      edits: Object.freeze([Object.freeze({ old_string: "a", new_string: "b", replace_all: "true" })]),
    });
    expect(compileValidator(EDIT)(value)).toEqual({
      ok: true,
      value: { path: "a", limit: 3, edits: [{ old_string: "a", new_string: "b", replace_all: true }] },
    });
    expect(value.limit).toBe("3");
  });

  it("treats a __proto__ key as any other", () => {
    const value: unknown = JSON.parse('{"__proto__":{"admin":true},"n":"5"}');
    const open = compileValidator({ type: "object", properties: { n: { type: "number" } } })(value);
    expect(open.ok && JSON.stringify(open.value)).toBe('{"__proto__":{"admin":true},"n":5}');
    expect(
      messagesOf(
        { properties: { n: { type: "number" } }, additionalProperties: false },
        JSON.parse('{"__proto__":1}'),
      ),
    ).toEqual([': unknown property "__proto__"; allowed: n']);
    expect(messagesOf({ required: ["toString"] }, {})).toEqual([': missing required property "toString"']);
  });
});

describe("compileValidator: references", () => {
  const tree: JsonSchema = {
    $ref: "#/$defs/tree",
    $defs: {
      tree: { type: "object", properties: { left: { $ref: "#/$defs/tree" }, name: { type: "string" } } },
    },
  };

  it("follows a schema that refers to itself", () => {
    expect(messagesOf(tree, { left: { left: { name: 1 } } })).toEqual([
      "left.left.name: expected string, got number",
    ]);
  });

  it("ends where a reference goes round in circles, and on a value that contains itself", () => {
    expect(messagesOf({ $ref: "#" }, 1)).toEqual([]);
    expect(messagesOf({ allOf: [{ $ref: "#" }], type: "string" }, 1)).toEqual([
      ": expected string, got number",
    ]);
    const knot: { left?: unknown } = {};
    knot.left = knot;
    expect(messagesOf(tree, knot)).toEqual([]);
  });

  it("refuses a value nested deeper than the stack is sure to bear", () => {
    let value: unknown = { name: "x" };
    for (let depth = 0; depth < 20_000; depth += 1) value = { left: value };
    const [message = ""] = messagesOf(tree, value);
    expect(message.endsWith("nested deeper than 500 levels")).toBe(true);
  });

  it("takes time in proportion, however often branches meet the same part", () => {
    const both: JsonSchema = {
      anyOf: [
        { $ref: "#/$defs/n", required: ["x"] },
        { $ref: "#/$defs/n", required: ["y"] },
        { type: "null" },
      ],
    };
    const schema: JsonSchema = {
      $ref: "#/$defs/n",
      $defs: { n: { type: "object", properties: { next: both, also: both } } },
    };
    let value: unknown = { x: 1, last: true };
    for (let depth = 0; depth < 60; depth += 1) value = { x: 1, next: value, also: value };
    expect(compileValidator(schema)(value).ok).toBe(true);
    let wrong: unknown = { x: 1, next: 5 };
    for (let depth = 0; depth < 60; depth += 1) wrong = { x: 1, next: wrong, also: wrong };
    expect(compileValidator(schema)(wrong).ok).toBe(false);
    const laughs: Record<string, Json> = { d0: { type: "number" } };
    for (let level = 1; level < 60; level += 1)
      laughs[`d${level}`] = { allOf: [{ $ref: `#/$defs/d${level - 1}` }, { $ref: `#/$defs/d${level - 1}` }] };
    expect(messagesOf({ $ref: "#/$defs/d59", $defs: laughs }, "x").length).toBe(10);
  });

  it.each<[JsonSchema, string]>([
    [{ $ref: "#/$defs/none" }, "#/$ref points to nothing: #/$defs/none"],
    [
      { $ref: "https://example.org/schema" },
      '#/$ref points outside the document: "https://example.org/schema"',
    ],
    [{ properties: { a: { type: "text" } } }, '#/properties/a/type names no type: "text"'],
    [{ pattern: "(" }, "#/pattern is not a regular expression: ("],
    [{ required: "path" }, "#/required must be an array of strings"],
    [{ properties: [] }, "#/properties must be an object"],
    [{ items: 5 }, "#/items must be an object or a boolean"],
    [{ anyOf: {} }, "#/anyOf must be an array of schemas"],
    [{ minimum: "1" }, "#/minimum must be a number"],
  ])("%j is refused as a schema", (schema, problem) => {
    expect(() => compileValidator(schema)).toThrow(`The schema cannot be used: ${problem}.`);
  });
});

describe("compileValidator: against another validator", () => {
  const key = fc.constantFrom("a", "b", "c");
  const scalar = fc.constantFrom<Json>(
    null,
    true,
    false,
    0,
    1,
    -2,
    2.5,
    7,
    "",
    "a",
    "ab",
    "5",
    "true",
    "[]",
    "{}",
  );
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      scalar,
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(key, tie("value"), { maxKeys: 3, noNullPrototype: true }),
    ),
  }));
  const type = fc.constantFrom("string", "number", "integer", "boolean", "null", "array", "object");
  const { schema } = fc.letrec<{ schema: Json }>((tie) => {
    const node = tie("schema");
    const list = fc.array(node, { minLength: 1, maxLength: 3 });
    const keywords = {
      type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
      properties: fc.dictionary(key, node, { maxKeys: 3, noNullPrototype: true }),
      patternProperties: fc.dictionary(fc.constantFrom("^a", "b|c"), node, { maxKeys: 1 }),
      additionalProperties: fc.oneof(fc.boolean(), node),
      propertyNames: fc.constant({ pattern: "^[ab]$" }),
      required: fc.uniqueArray(key),
      dependentRequired: fc.dictionary(key, fc.uniqueArray(key), { maxKeys: 1 }),
      dependentSchemas: fc.dictionary(key, node, { maxKeys: 1 }),
      minProperties: fc.nat(2),
      maxProperties: fc.nat(2),
      items: node,
      prefixItems: list,
      minItems: fc.nat(2),
      maxItems: fc.nat(2),
      uniqueItems: fc.boolean(),
      enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 4 }),
      const: scalar,
      minimum: fc.integer({ min: -3, max: 3 }),
      exclusiveMaximum: fc.integer({ min: -3, max: 8 }),
      multipleOf: fc.constantFrom(1, 2, 0.5),
      minLength: fc.nat(2),
      maxLength: fc.nat(2),
      pattern: fc.constantFrom("^a", "b$"),
      allOf: list,
      anyOf: list,
      oneOf: list,
      not: node,
      if: node,
      then: node,
      else: node,
      $ref: fc.constantFrom("#/$defs/x", "#/$defs/y"),
    };
    return {
      schema: fc.oneof(
        { depthSize: "small" },
        fc.boolean(),
        type.map((name) => ({ type: name })),
        fc
          .array(fc.constantFrom(...(Object.keys(keywords) as (keyof typeof keywords)[])), { maxLength: 4 })
          .chain((names) =>
            fc.record(Object.fromEntries(names.map((name) => [name, keywords[name] as fc.Arbitrary<Json>]))),
          ),
      ),
    };
  });
  const leaf = fc.constantFrom<Json>({ type: "string" }, { minimum: 1 }, { required: ["a"] }, true);
  const root = fc
    .record({ schema, x: leaf, y: leaf })
    .map(({ schema: inner, x, y }): JsonSchema => ({ allOf: [inner], $defs: { x, y } }));

  // Not `contains`: beside `prefixItems` the other validator takes an empty array, against the specification.
  it("accepts what the other accepts; what it repairs, the other accepts", () => {
    fc.assert(
      fc.property(root, fc.array(value, { minLength: 1, maxLength: 5 }), (document, values) => {
        const judge = new Ajv2020({ strict: false, logger: false }).compile<Json>(document);
        const validate = compileValidator(document);
        for (const each of values) {
          const before = JSON.stringify(each);
          const result = validate(each);
          expect(JSON.stringify(each)).toBe(before);
          if (judge(each)) expect(result).toEqual({ ok: true, value: each });
          else if (result.ok)
            expect([judge(result.value), JSON.stringify(result.value) === before]).toEqual([true, false]);
          else expect(result.issues.length).toBeGreaterThan(0);
        }
      }),
      { numRuns: 80 },
    );
  });
});

function messagesOfNothing(schema: JsonSchema): readonly string[] {
  const result = compileValidator(schema)({});
  return result.ok ? [] : result.issues.map(({ message }) => message);
}

const TEXT = { type: "string" };
const DEFS = {
  $defs: {
    Mode: { enum: ["fast", "slow"] },
    Node: { anyOf: [{ $ref: "#/$defs/Node" }, { $ref: "#/$defs/Node" }] },
  },
};

test.each<[JsonSchema, string]>([
  [{ anyOf: [{ type: "integer" }, { type: "null" }], default: null }, " (integer or null)"],
  [{ oneOf: [TEXT, { type: "array", items: TEXT }] }, " (string or array of string)"],
  [{ anyOf: [TEXT, { minLength: 1 }] }, ""],
  [{ anyOf: [TEXT, { ...TEXT, format: "uri" }] }, " (string)"],
  [{ $ref: "#/$defs/Mode" }, ' (one of "fast", "slow")'],
  [{ allOf: [{ $ref: "#/$defs/Mode" }], default: "fast" }, ' (one of "fast", "slow")'],
  [{ type: "array", items: { $ref: "#/$defs/Mode" } }, ' (array of (one of "fast", "slow"))'],
  [{ type: "array", items: { anyOf: [TEXT, { type: "number" }] } }, " (array of (string or number))"],
  [{ const: "v1" }, ' ("v1")'],
  [{ const: null }, " (null)"],
  [{ const: "a".repeat(1_000) }, ""],
  [{ $ref: "#/$defs/Node" }, ""],
])("the message about a missing property that is %j says what it takes:%s", (schema, form) => {
  expect(messagesOfNothing({ properties: { a: schema }, required: ["a"], ...DEFS })).toEqual([
    `missing required property "a"${form}`,
  ]);
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { compileSchema } from "../../core/base/compile-schema.ts";
import { normaliseSchema, originalNames } from "./mcp-tools.ts";

const schemaOf = (schema: unknown): unknown => normaliseSchema(schema)?.schema;
const TEXT = { type: "string" };

test.each<[string, unknown, unknown]>([
  ["no schema", undefined, { type: "object", properties: {} }],
  [
    "no type",
    { properties: { a: TEXT }, required: ["a", "b"] },
    { type: "object", properties: { a: TEXT }, required: ["a"] },
  ],
  ["a list of types", { type: ["object", "null"], properties: {} }, { type: "object", properties: {} }],
  [
    "a reference at the top",
    { $ref: "#/$defs/in", $defs: { in: { type: "object", properties: { a: TEXT }, required: ["a"] } } },
    {
      type: "object",
      properties: { a: TEXT },
      required: ["a"],
      $defs: { in: { type: "object", properties: { a: TEXT }, required: ["a"] } },
    },
  ],
  [
    "alternatives at the top",
    {
      oneOf: [
        { properties: { a: TEXT, b: TEXT }, required: ["a", "b"] },
        { properties: { a: { type: "number" } }, required: ["a"] },
      ],
    },
    { type: "object", properties: { a: { anyOf: [TEXT, { type: "number" }] }, b: TEXT }, required: ["a"] },
  ],
  [
    "all of several",
    { allOf: [{ properties: { a: TEXT }, required: ["a"] }, { properties: { b: TEXT } }], description: "x" },
    { type: "object", properties: { a: TEXT, b: TEXT }, required: ["a"], description: "x" },
  ],
  ["a reference that leads in a circle", { $ref: "#" }, { type: "object", properties: {} }],
])("%s becomes an object schema", (_what, schema, expected) => {
  expect(JSON.parse(JSON.stringify(schemaOf(schema)))).toEqual(expected);
});

test.each([null, 7, "object", [], true])("%j is not a schema", (schema) => {
  expect(normaliseSchema(schema)).toBeUndefined();
});

test("parameters whose names cannot be sent are renamed for the model and named back for the server", () => {
  const normalised = normaliseSchema({ properties: { "a b": TEXT, a_b: TEXT, 日: TEXT }, required: ["a b"] });
  expect(normalised?.schema).toMatchObject({
    properties: { a_b_2: TEXT, a_b: TEXT, _: TEXT },
    required: ["a_b_2"],
  });
  expect(originalNames({ a_b_2: 1, a_b: 2, _: 3, other: 4 }, normalised ?? { renamed: new Map() })).toEqual({
    "a b": 1,
    a_b: 2,
    日: 3,
    other: 4,
  });
});

test("whatever a schema is, it comes out as an object schema without combinators or references at its top", () => {
  const schema = fc.object({
    key: fc.constantFrom("properties", "anyOf", "allOf", "$ref", "required", "x y", "type", "__proto__"),
  });
  fc.assert(
    fc.property(schema, (value) => {
      const normalised = normaliseSchema(value)?.schema ?? {};
      expect(normalised["type"]).toBe("object");
      expect(Object.keys(normalised)).not.toEqual(expect.arrayContaining(["anyOf"]));
      for (const key of ["anyOf", "allOf", "oneOf", "$ref"]) expect(normalised).not.toHaveProperty(key);
      for (const name of Object.keys(normalised["properties"] as object))
        expect(name).toMatch(/^[\w.-]{1,64}$/);
    }),
  );
});

test("a schema in use before is the same after", () => {
  const schema = { type: "object", properties: { a: TEXT }, required: ["a"], additionalProperties: false };
  expect(compileSchema(schemaOf(schema) as never).jsonSchema).toEqual(schema);
});

import { expect, test } from "vitest";
import { schemaFields, valueOfFields } from "./schema-fields.ts";

const SCHEMA = {
  type: "object",
  properties: {
    name: { type: "string", title: "Name", description: "of the person" },
    age: { type: "integer" },
    isNew: { type: "boolean" },
    colour: { type: "string", enum: ["red", "blue"] },
  },
  required: ["name"],
};

test("a flat object is a form, each kind of value with its field", () => {
  expect(schemaFields(SCHEMA)).toEqual([
    { name: "name", label: "Name: of the person", kind: "text", options: [], isRequired: true },
    { name: "age", label: "age", kind: "number", options: [], isRequired: false },
    { name: "isNew", label: "isNew", kind: "boolean", options: [], isRequired: false },
    { name: "colour", label: "colour", kind: "options", options: ["red", "blue"], isRequired: false },
  ]);
});

test.each([
  ["a value that is no object", { type: "string" }],
  ["an object in an object", { type: "object", properties: { a: { type: "object" } } }],
  ["a list", { type: "object", properties: { a: { type: "array" } } }],
  ["a property of any kind", { type: "object", properties: { a: true } }],
])("%s is written as JSON", (_name, schema) => {
  expect(schemaFields(schema)).toBeUndefined();
});

test("the value has what was filled in, in its own type", () => {
  const fields = schemaFields(SCHEMA) ?? [];
  expect(valueOfFields(fields, { name: "Ada", age: "36", isNew: "true" })).toEqual({
    name: "Ada",
    age: 36,
    isNew: true,
  });
  expect(valueOfFields(fields, {})).toEqual({ name: "", isNew: false });
});

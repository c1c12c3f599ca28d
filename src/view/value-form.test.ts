import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../core/base/errors.ts";
import type { JsonSchema } from "../core/base/schema.ts";
import { fieldHint, fitValue, ValueForm } from "./value-form.ts";

function objectOf(property: JsonSchema, required: readonly string[] = ["a"]): JsonSchema {
  return { type: "object", properties: { a: property }, required };
}

const TITLED = [
  { const: "s", title: "Small" },
  { const: "l", title: "Large" },
];

test.each<readonly [string, JsonSchema, string, Json]>([
  ["text", objectOf({ type: "string" }), " Ann ", { a: "Ann" }],
  ["a number", objectOf({ type: "number" }), "1.5", { a: 1.5 }],
  ["a yes", objectOf({ type: "boolean" }), "Y", { a: true }],
  ["one of a list", objectOf({ enum: ["s", "l"] }), "l", { a: "l" }],
  ["one of a list of numbers", objectOf({ enum: [1, 2] }), "2", { a: 2 }],
  ["one by its title", objectOf({ type: "string", oneOf: TITLED }), "large", { a: "l" }],
  ["one by its value", objectOf({ type: "string", oneOf: TITLED }), "l", { a: "l" }],
  ["one by its name", objectOf({ enum: ["s", "l"], enumNames: ["Small", "Large"] }), "Large", { a: "l" }],
  ["several", objectOf({ type: "array", items: { enum: ["x", "y", "z"] } }), "z,  x", { a: ["z", "x"] }],
  ["several by title", objectOf({ type: "array", items: { anyOf: TITLED } }), "Small", { a: ["s"] }],
  ["JSON for what is none of these", objectOf({ type: "object" }), '{"b":[1]}', { a: { b: [1] } }],
  ["what the schema says for nothing", objectOf({ type: "string", default: "x" }, []), "", { a: "x" }],
  ["nothing where nothing is needed", objectOf({ type: "string" }, []), "", {}],
  ["a value that is no object", { type: "integer" }, "7", 7],
  ["a title before a value", objectOf({ enum: ["yes", "no"], enumNames: ["no", "yes"] }), "yes", { a: "no" }],
  [
    "options with commas",
    objectOf({ type: "array", items: { enum: ["Smith, J", "Doe, J", "x"] } }),
    "1, 3",
    { a: ["Smith, J", "x"] },
  ],
  [
    "one option with a comma",
    objectOf({ type: "array", items: { enum: ["Smith, J", "x"] } }),
    "Smith, J",
    { a: ["Smith, J"] },
  ],
  [
    "what a part refers to",
    { ...objectOf({ $ref: "#/$defs/Size" }), $defs: { Size: { enum: ["s", "l"] } } },
    "l",
    { a: "l" },
  ],
  ["a yes to an object without fields", { type: "object" }, "", {}],
  ["a property whose name objects have", objectOf({ type: "string" }), "x", { a: "x" }],
])("takes %s", (_name, schema, text, value) => {
  expect(new ValueForm(schema).take(text)).toEqual({ value });
});

test.each<readonly [string, JsonSchema, string, string]>([
  ["nothing where something is needed", objectOf({ type: "string" }), "", "A value is needed here."],
  ["what is no number", objectOf({ type: "number" }), "one", "Write a number."],
  ["what is not whole", objectOf({ type: "integer" }), "1.5", "Write a whole number."],
  [
    "more digits than a number holds",
    objectOf({ type: "integer" }),
    "12345678901234567890",
    "Write a whole number of at most 15 digits.",
  ],
  [
    "the same with a point",
    objectOf({ type: "number" }),
    "9007199254740993.0",
    "Write a number of at most 15 digits.",
  ],
  ["what is not on the list", objectOf({ enum: ["s", "l"] }), "m", "Write one of: s, l."],
  [
    "one of several that is not",
    objectOf({ type: "array", items: { anyOf: TITLED } }),
    "Small, m",
    "Small, Large",
  ],
  ["a text that is too short", objectOf({ type: "string", minLength: 3 }), "ab", "This does not fit:"],
  ["what is no JSON", objectOf({ type: "object" }), "{", "Write JSON."],
])("refuses %s and waits for another", (_name, schema, text, fault) => {
  const form = new ValueForm(schema);
  const said = form.take(text);
  expect([said, form.at]).toEqual([{ fault: expect.stringContaining(fault) }, 0]);
});

test("a whole that does not fit begins anew, a field before can be taken again", () => {
  const text = { type: "string" };
  const form = new ValueForm({
    type: "object",
    properties: { a: text, b: text },
    maxProperties: 1,
  });
  expect([form.take("x"), form.at]).toEqual([undefined, 1]);
  expect([form.take("y"), form.at]).toEqual([{ fault: expect.any(String) }, 0]);
  form.take("x");
  form.back();
  form.back();
  expect([form.at, form.take(""), form.take("y")]).toEqual([0, undefined, { value: { b: "y" } }]);
});

test("a field says what can be written into it", () => {
  const hint = (property: JsonSchema, required?: readonly string[]): string | undefined =>
    new ValueForm(objectOf(property, required)).fields.map((field) => fieldHint(field))[0];
  expect([
    hint({ type: "string" }),
    hint({ type: "string" }, []),
    hint({ oneOf: TITLED, default: "l" }),
    hint({ type: "array", items: { anyOf: TITLED }, default: ["s", "l"] }),
    hint({ type: "boolean", default: false }),
  ]).toEqual([
    undefined,
    "empty: leave it out",
    "one of: Small, Large; empty: Large",
    "some of: Small, Large; empty: Small, Large",
    "yes or no; empty: false",
  ]);
});

test("whatever is asked and written, a value that is taken fits", () => {
  const name = fc.constantFrom("a", "b", "__proto__", "constructor");
  const property = fc.constantFrom<JsonSchema>(
    { type: "string", maxLength: 2 },
    { type: "integer", minimum: 0 },
    { type: "boolean" },
    { enum: ["x", 1, null] },
    { type: "array", items: { enum: ["x", "y"] }, maxItems: 1 },
    { type: "array" },
    { oneOf: TITLED, default: "l" },
    {},
  );
  const schemas = fc
    .tuple(fc.dictionary(name, property), fc.array(name))
    .map(([properties, required]) => ({ type: "object", properties, required: [...new Set(required)] }));
  const text = fc.oneof(fc.constantFrom("", "x", "1", "null", "x, y", "yes", "[]", "Small"), fc.string());
  fc.assert(
    fc.property(schemas, fc.array(text, { maxLength: 12 }), (schema, texts) => {
      const form = new ValueForm(schema);
      for (const each of texts) {
        const taken = form.take(each);
        if (taken === undefined || "fault" in taken) continue;
        expect(fitValue(schema, taken.value)).toEqual({ value: taken.value });
        return;
      }
    }),
  );
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { compileSchema } from "./compile-schema.ts";
import { plainObjectSchema } from "./plain-object-schema.ts";
import type { JsonSchema } from "./schema.ts";

const text = { type: "string" } as const;
const number = { type: "number" } as const;

test("a schema without a choice at its top stays the same object", () => {
  const schema = { type: "object", properties: { a: { anyOf: [text, number] } } } as const;
  expect(plainObjectSchema(schema)).toBe(schema);
});

test("branches become one object: required is what all of them require", () => {
  const schema: JsonSchema = {
    type: "object",
    properties: { id: text },
    required: ["id"],
    oneOf: [
      { properties: { kind: { const: "file" }, path: text }, required: ["kind", "path"] },
      { $ref: "#/$defs/url" },
    ],
    $defs: {
      url: { type: "object", properties: { kind: { const: "url" }, url: text }, required: ["kind", "url"] },
    },
  };
  expect(plainObjectSchema(schema)).toEqual({
    type: "object",
    properties: { id: text, kind: { anyOf: [{ const: "file" }, { const: "url" }] }, path: text, url: text },
    required: ["id", "kind"],
    $defs: schema["$defs"],
  });
});

test("allOf is all of its parts", () => {
  const allOf = [
    { properties: { a: text }, required: ["a"] },
    { properties: { b: number }, required: ["b"] },
  ];
  expect(plainObjectSchema({ allOf })).toEqual({
    type: "object",
    properties: { a: text, b: number },
    required: ["a", "b"],
  });
});

test("what one of the branches describes, the plain form takes", async () => {
  const names = fc.constantFrom("a", "b", "c", "__proto__");
  const properties = fc.dictionary(names, fc.constantFrom(text, number), { minKeys: 1 });
  await fc.assert(
    fc.asyncProperty(fc.array(properties, { minLength: 1, maxLength: 3 }), fc.nat(), async (all, pick) => {
      const branches = all.map((each) => ({ properties: each, required: Object.keys(each) }));
      const chosen = Object.entries(all[pick % all.length] ?? {});
      const value = Object.fromEntries(chosen.map(([name, { type }]) => [name, type === "string" ? "x" : 1]));
      const plain = compileSchema(plainObjectSchema({ type: "object", anyOf: branches }));
      expect(await plain.validate(value)).toMatchObject({ ok: true });
    }),
  );
});

test("branches that refer to each other come to an end", () => {
  const node = { anyOf: [{ $ref: "#/$defs/node" }, { $ref: "#" }, { $ref: "#/$defs/node" }] };
  const schema: JsonSchema = { properties: { a: text }, ...node, $defs: { node } };
  expect(plainObjectSchema(schema)).toMatchObject({ type: "object", properties: { a: text } });
});

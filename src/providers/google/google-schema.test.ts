import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json } from "../../core/base/errors.ts";
import type { JsonSchema } from "../../core/base/schema.ts";
import { toOpenApiSchema } from "./google-schema.ts";

describe("toOpenApiSchema", () => {
  it.each<[string, JsonSchema, JsonSchema]>([
    [
      "leaves out what the subset does not know",
      {
        $schema: "x",
        type: "object",
        additionalProperties: false,
        properties: { a: { type: "string", format: "uri", examples: ["x"] } },
        required: ["a", "gone"],
      },
      { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
    ],
    ["writes a constant as an enum", { const: "a" }, { type: "string", enum: ["a"] }],
    ["drops an enum of numbers", { type: "integer", enum: [1, 2] }, { type: "integer" }],
    ["makes a list of types nullable", { type: ["string", "null"] }, { type: "string", nullable: true }],
    [
      "makes a list of several types a choice",
      { type: ["string", "integer"], description: "d" },
      {
        description: "d",
        anyOf: [
          { description: "d", type: "string" },
          { description: "d", type: "integer" },
        ],
      },
    ],
    [
      "makes a choice with null nullable",
      { anyOf: [{ type: "string", minLength: 1 }, { type: "null" }] },
      { nullable: true, type: "string", minLength: 1 },
    ],
    [
      "writes oneOf as anyOf",
      { oneOf: [{ type: "string" }, { type: "number" }] },
      { anyOf: [{ type: "string" }, { type: "number" }] },
    ],
    [
      "merges allOf",
      {
        allOf: [
          { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
          { properties: { b: { type: "number" } }, required: ["b"] },
        ],
      },
      { type: "object", properties: { a: { type: "string" }, b: { type: "number" } }, required: ["a", "b"] },
    ],
    [
      "puts a reference in place and opens a recursive one",
      {
        type: "object",
        properties: { node: { $ref: "#/$defs/node", description: "root" } },
        $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
      },
      {
        type: "object",
        properties: {
          node: { type: "object", properties: { next: { type: "object" } }, description: "root" },
        },
      },
    ],
    ["gives a list without items an open one", { type: "array" }, { type: "array", items: {} }],
    [
      "keeps a format the type knows",
      { type: "string", format: "date-time" },
      { type: "string", format: "date-time" },
    ],
  ])("%s", (_what, schema, expected) => {
    expect(toOpenApiSchema(schema)).toEqual(expected);
  });

  it("never throws, and uses only the words of the subset", () => {
    const words = [
      "type",
      "properties",
      "items",
      "anyOf",
      "oneOf",
      "allOf",
      "$ref",
      "enum",
      "const",
      "required",
      "format",
      "$defs",
    ];
    const { schema } = fc.letrec<{ schema: Json }>((tie) => ({
      schema: fc.dictionary(
        fc.constantFrom(...words),
        fc.oneof(
          { depthSize: "small", withCrossShrink: true },
          fc.constantFrom<Json>("string", "object", "array", "#/$defs/a", null, 3, ["string", "null"], ["a"]),
          tie("schema"),
          fc.dictionary(fc.constantFrom("a", "b"), tie("schema")),
          fc.array(tie("schema"), { maxLength: 2 }),
        ),
        { maxKeys: 4 },
      ),
    }));
    fc.assert(
      fc.property(schema, (given) => {
        expect(strangeWords(toOpenApiSchema(given as JsonSchema))).toEqual([]);
      }),
    );
  });
});

const SUBSET = ["type", "properties", "items", "anyOf", "enum", "required", "format", "nullable"];

/**
 * Words at the place of a keyword that the generated schemas may not have; names of properties are no
 * keywords.
 */
function strangeWords(schema: JsonSchema): readonly string[] {
  const { properties, items, anyOf, ...rest } = schema as {
    readonly [key: string]: JsonSchema & readonly JsonSchema[];
  };
  const below = [
    ...Object.values(properties ?? {}),
    ...(items === undefined ? [] : [items]),
    ...(anyOf ?? []),
  ] as readonly JsonSchema[];
  return [...Object.keys(rest).filter((word) => !SUBSET.includes(word)), ...below.flatMap(strangeWords)];
}

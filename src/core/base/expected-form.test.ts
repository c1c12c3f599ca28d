import { expect, test } from "vitest";
import type { JsonSchema } from "./schema.ts";
import { compileValidator } from "./validate-json.ts";

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

import { expect, test } from "vitest";
import { SCHEMA_VALIDATOR } from "./schema-validator.ts";

test("says what is wrong with a value, and where", () => {
  const validate = SCHEMA_VALIDATOR.getValidator({
    type: "object",
    properties: { path: { type: "string" }, line: { type: "integer" } },
    required: ["path"],
  });
  expect([validate({ path: "a", line: 1 }), validate({ line: 1.5 })]).toEqual([
    { valid: true, data: { path: "a", line: 1 }, errorMessage: undefined },
    {
      valid: false,
      data: undefined,
      errorMessage: 'line: expected integer, got 1.5; missing required property "path" (string)',
    },
  ]);
});

test("comes to an end with schemas that refer to themselves, however their branches meet", () => {
  const branch = {
    type: "object",
    properties: { next: { $ref: "#/$defs/node" } },
    required: ["next", "gone"],
  };
  const validate = SCHEMA_VALIDATOR.getValidator({
    type: "object",
    $defs: { node: { anyOf: [branch, { ...branch }, { ...branch }] } },
    allOf: [{ $ref: "#" }, { $ref: "#/$defs/node" }],
  });
  let value: object = {};
  for (let depth = 0; depth < 60; depth += 1) value = { next: value };
  expect(validate(value).valid).toBe(false);
});

import { expect, test } from "vitest";
import { valueFields } from "../../../view/value-fields.ts";
import { initialValues, offeredTexts, readValues } from "./value-form.tsx";

const FIELDS = valueFields({
  type: "object",
  properties: {
    name: { type: "string", title: "Name", description: "of the person" },
    age: { type: "integer" },
    isNew: { type: "boolean", default: true },
    colour: { type: "string", enum: ["red", "blue"], enumNames: ["Red", "Blue"] },
    days: { type: "array", items: { enum: ["Mon", "Tue"] }, default: ["Tue"] },
    more: { type: "object" },
  },
  required: ["name"],
});

test("a form begins with what the schema says, and offers what can be chosen", () => {
  expect([initialValues(FIELDS), FIELDS.map(offeredTexts)]).toEqual([
    [[], [], ["true"], [], ["1"], []],
    [
      [],
      [],
      [
        ["true", "true"],
        ["false", "false"],
      ],
      [
        ["0", "Red"],
        ["1", "Blue"],
      ],
      [
        ["0", "Mon"],
        ["1", "Tue"],
      ],
      [],
    ],
  ]);
});

test("the value has what was filled in, in its own type", () => {
  expect([
    readValues(FIELDS, [["Ada"], ["36"], ["false"], ["1"], ["0", "1"], ['{"a":1}']]),
    readValues(FIELDS, []),
    readValues(FIELDS, [["Ada"], [], [], [], [], ["{"]]),
    readValues(valueFields({ type: "integer" }), [["7"]]),
    // Refused where it is taken, instead of another number.
    readValues(valueFields({ type: "integer" }), [["12345678901234567890"]]),
    readValues(valueFields({ type: "object" }), []),
  ]).toEqual([
    {
      ok: true,
      value: { name: "Ada", age: 36, isNew: false, colour: "blue", days: ["Mon", "Tue"], more: { a: 1 } },
    },
    { ok: true, value: { name: "" } },
    { ok: false },
    { ok: true, value: 7 },
    { ok: true, value: "12345678901234567890" },
    { ok: true, value: {} },
  ]);
});

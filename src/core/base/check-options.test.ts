import fc from "fast-check";
import { expect, test } from "vitest";
import {
  check,
  checkOptions,
  describeSchema,
  findProblem,
  objectSchema,
  optionSchema,
  readText,
} from "./check-options.ts";
import type { JsonSchema } from "./schema.ts";

interface Shop {
  readonly name: string;
  readonly size?: "small" | "large";
  readonly onSale?: () => void;
  readonly till?: { open(): void };
  readonly shelves?: readonly { readonly width: number }[];
  readonly token?: string;
  readonly floors?: number | false;
}

const SHOP = objectSchema<Shop>(
  {
    name: { type: "string", minLength: 1, "x-aka": ["title"] },
    size: { enum: ["small", "large"] },
    onSale: { "x-function": true },
    till: { "x-has": ["open"] },
    shelves: {
      type: "array",
      items: {
        type: "object",
        properties: { width: { type: "number", exclusiveMinimum: 0 } },
        required: ["width"],
      },
    },
    token: { type: "string", minLength: 8, "x-secret": true },
    floors: {
      anyOf: [{ const: false }, { type: "integer", minimum: 1 }],
      "x-say": "a number of floors, or false",
    },
  },
  ["name"],
);

const messages: readonly (readonly [unknown, string | undefined])[] = [
  [{ name: "a", size: "small", onSale: () => 1, till: { open: () => 1 }, floors: false }, undefined],
  [{ name: "a", size: undefined }, undefined],
  [null, "options is null; it must be an object."],
  [{}, "name is missing; it must be a non-empty string."],
  [{ title: "a" }, 'Unknown option "title". Did you mean name?'],
  [{ name: "a", size: "smal" }, 'size is "smal"; it must be "small" or "large". Did you mean small?'],
  [{ name: "a", onSale: [] }, "onSale is a list; it must be a function."],
  [{ name: "a", till: {} }, "till is an object; it must be an object with open()."],
  [
    { name: "a", shelves: [{ width: 1 }, { width: 0 }] },
    "shelves[1].width is 0; it must be a number above 0.",
  ],
  [{ name: "a", shelves: [{}] }, "shelves[0].width is missing; it must be a number above 0."],
  [{ name: "a", token: "abc" }, "token is not usable; it must be a non-empty string."],
  [{ name: "a", floors: Number.NaN }, "floors is NaN; it must be a number of floors, or false."],
  [{ name: 7 }, "name is 7; it must be a non-empty string."],
  [{ name: "a", size: "x".repeat(99) }, 'size is a string of 99 characters; it must be "small" or "large".'],
];

test.each(messages)("%j: %s", (value, message) => {
  expect(findProblem(value, SHOP, "options")?.message).toBe(message);
});

test("a check of options throws what is wrong, one of another value begins with its name", () => {
  expect(() => checkOptions({ name: "" }, SHOP)).toThrow(/^name is ""; it must be a non-empty string\.$/);
  expect(() => check({ name: "" }, SHOP, "shop")).toThrow(/^shop\.name is ""/);
  expect(() => check(5, optionSchema({ "x-function": true }), "The listener")).toThrow(
    /^The listener is 5; it must be a function\.$/,
  );
});

test("nothing is repaired: a text is not the number it spells", () => {
  expect(optionSchema({ type: "integer" }).findIssue("7")).toMatchObject({ value: "7" });
});

const bound = fc.integer({ min: 0, max: 9 });
const schema: fc.Arbitrary<JsonSchema> = fc.oneof(
  fc.record({
    type: fc.constantFrom("number", "integer"),
    minimum: bound,
    maximum: fc.integer({ min: 5, max: 99 }),
  }),
  fc.record({ type: fc.constant("number"), exclusiveMinimum: bound }),
  fc.constantFrom<JsonSchema>({ type: "boolean" }, { enum: ["a", "b"] }, { type: "string", minLength: 1 }),
);
const text = fc.oneof(
  fc.string(),
  fc.nat(200).map(String),
  fc.double().map(String),
  fc.constantFrom("1e3", "yes", "a", "9007199254740993"),
);

test("a text is read as a value that holds, or what it must be is said", () => {
  fc.assert(
    fc.property(schema, text, (given, typed) => {
      const read = readText(typed, given);
      if ("value" in read) expect(optionSchema(given).findIssue(read.value)).toBeUndefined();
      else expect(read.expected.replace(" of at most 15 digits", "")).toBe(describeSchema(given));
    }),
  );
});

test.each([
  ["7", { type: "integer" }, { value: 7 }],
  ["7.0", { type: "integer" }, { value: 7 }],
  ["-1.5e2", { type: "number" }, { value: -150 }],
  ["0x10", { type: "number" }, { expected: "a number" }],
  ["9007199254740993", { type: "integer" }, { expected: "a whole number of at most 15 digits" }],
  ["No", { type: "boolean" }, { value: false }],
  ["perhaps", { type: "boolean" }, { expected: "true or false" }],
] as const)("%j as %j", (given, type, read) => {
  expect(readText(given, type)).toEqual(read);
});

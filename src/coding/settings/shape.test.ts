import fc from "fast-check";
import { expect, test } from "vitest";
import { placedSettings, readVariables, withSetting } from "./setting.ts";
import { CONFIG_SHAPE, PLACED_SETTINGS, SETTINGS } from "./setting-table.ts";
import { findMisfit, formOf, readText, type Shape } from "./shape.ts";

const number = fc.record(
  {
    type: fc.constant("number" as const),
    integer: fc.boolean(),
    minimum: fc.integer({ min: 0, max: 9 }),
    above: fc.integer({ min: 0, max: 9 }),
    maximum: fc.integer({ min: 5, max: 99 }),
  },
  { requiredKeys: ["type"] },
);
const text = fc.oneof(fc.string(), fc.nat(200).map(String), fc.double().map(String), fc.constant("1e3"));

test("a text is read as a value that fits, or what was expected is said", () => {
  fc.assert(
    fc.property(fc.oneof(number, fc.constant({ type: "duration" } as const)), text, (shape: Shape, given) => {
      const read = readText(given, shape);
      if ("value" in read) expect(findMisfit(read.value, shape)).toBeUndefined();
      else expect(read.expected).toBe(formOf(shape));
    }),
  );
});

test("every variable of the table sets its setting, to what a file could hold", () => {
  const named = PLACED_SETTINGS.filter(({ setting }) => setting.variable !== undefined);
  const words: { readonly [name: string]: string } = {
    model: "a/b",
    permissionMode: "plan",
    toolCalls: "text",
  };
  const environment = Object.fromEntries(
    named.map(({ path, setting }) => [setting.variable ?? "", words[path.join(".")] ?? "7"]),
  );
  const config = readVariables(PLACED_SETTINGS, environment).reduce<object>(
    (before, { path, value }) => withSetting(before, path, value),
    {},
  );
  expect(findMisfit(config, CONFIG_SHAPE)).toBeUndefined();
  expect(config).toMatchObject({ model: "a/b", toolCalls: "text", network: { maxRetries: 7 } });
  expect(named.length).toBeGreaterThan(8);
});

test("settings are found at every depth, those in entries of a map below NAME", () => {
  const paths = placedSettings(SETTINGS).map(({ path }) => path.join("."));
  expect(paths).toEqual(
    expect.arrayContaining(["sandbox.mode", "network.proxy.http", "providers.NAME.models.NAME.price.input"]),
  );
  expect(new Set(paths).size).toBe(paths.length);
});

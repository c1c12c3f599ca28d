import { expect, test } from "vitest";
import { placedSettings, readVariables, withSetting } from "./setting.ts";
import { PLACED_SETTINGS, SETTINGS, SETTINGS_SCHEMA } from "./setting-table.ts";

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
  expect(SETTINGS_SCHEMA.findIssue(config)).toBeUndefined();
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

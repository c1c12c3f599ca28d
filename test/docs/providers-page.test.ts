import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { NETWORK } from "../../src/coding/settings/provider-settings.ts";
import { placedSettings } from "../../src/coding/settings/setting.ts";
import { PRESETS } from "../../src/providers/catalog.ts";
import { NETWORK_DEFAULTS } from "../../src/providers/network.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/providers.md"), "utf8");

/** Cells of the table row that begins with `name`, without the marks of code. */
function row(name: string): string {
  return page.split("\n").find((line) => line.startsWith(`| \`${name}\``)) ?? `no row for ${name}`;
}

test.each(PRESETS.map((preset) => [preset.name, preset] as const))(
  "the page tells the names, variables, address and default model of %s",
  (name, preset) => {
    const {
      aliases = [],
      baseUrl,
      keyVariables,
      tokenVariables = [],
      baseUrlVariables,
      defaultModel,
    } = preset;
    const facts = [...aliases, ...keyVariables, ...tokenVariables, ...baseUrlVariables];
    for (const fact of [baseUrl, defaultModel]) if (fact !== undefined && fact !== "") facts.push(fact);
    const line = row(name);
    expect({ line, missing: facts.filter((fact) => !line.includes(`\`${fact}\``)) }).toEqual({
      line,
      missing: [],
    });
  },
);

const NETWORK_TEXTS: { readonly [name: string]: string | undefined } =
  "properties" in NETWORK
    ? Object.fromEntries(
        placedSettings(NETWORK.properties).map(({ path, setting }) => [path.join("."), setting.default]),
      )
    : {};

test("the table of settings tells the network defaults", () => {
  const told = Object.entries(NETWORK_DEFAULTS).flatMap(([name, value]) => {
    const said = NETWORK_TEXTS[name]?.split(";")[0];
    return said === value.toLocaleString("en") ? [] : [`${name} ${value}`];
  });
  expect(told).toEqual([]);
});

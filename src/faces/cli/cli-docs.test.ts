import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { CLI_REFERENCE, cliReference, MANUAL_PAGE, manualPage } from "../../../scripts/gen-cli-docs.ts";
import { helpText } from "./help.ts";
import { FLAGS } from "./read-options.ts";

test("the command reference is what the program's own tables say", () => {
  expect(readFileSync(CLI_REFERENCE, "utf8")).toBe(cliReference());
  expect(readFileSync(MANUAL_PAGE, "utf8")).toBe(manualPage());
});

test("the help names every option and fits a terminal", () => {
  const help = helpText();
  for (const { name } of FLAGS) expect(help).toContain(name);
  expect(help.split("\n").filter((line) => line.length > 130)).toEqual([]);
});

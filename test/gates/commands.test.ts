import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../temp-folder.ts";

const GATES = join(import.meta.dirname, "../../scripts/gates");

function run(gate: string, root: string): { readonly code: number | null; readonly output: string } {
  const done = spawnSync(process.execPath, [join(GATES, `${gate}.ts`), root], { encoding: "utf8" });
  return { code: done.status, output: done.stdout + done.stderr };
}

describe.each(["layers", "sizes", "words"])("the gate %s as a command", (gate) => {
  test("fails when there is nothing to look at", () => {
    const { code, output } = run(gate, tempFolder());
    expect(code).toBe(1);
    expect(output).toMatch(/looked at 0 files, expected at least \d+/);
  });

  test("passes enough blameless files and fails one bad one among them", () => {
    const blameless = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`src/tools/a${index}.ts`, "const own = 1;\n"]),
    );
    expect(run(gate, tempFolder(blameless)).code).toBe(0);
    const bad = `${"// TODO\n".repeat(601)}export const bare = process.env;\n`;
    const { code, output } = run(gate, tempFolder({ ...blameless, "src/tools/bad.ts": bad }));
    expect(code).toBe(1);
    expect(output).toContain("src/tools/bad.ts");
  });
});

test("the gate links as a command fails when there is nothing to look at", () => {
  const { code, output } = run("links", tempFolder());
  expect(code).toBe(1);
  expect(output).toMatch(/looked at 0 files, expected at least \d+/);
});

test.each([
  ["oxlint", ["--deny-warnings"]],
  ["biome", ["check"]],
  ["tsc", ["-p", "."]],
])("%s fails where there are no files", (program, words) => {
  const root = tempFolder({ "tsconfig.json": '{ "include": ["src"] }' });
  const config = program === "biome" ? ["--config-path", join(import.meta.dirname, "../..")] : [];
  const path = join(import.meta.dirname, "../../node_modules/.bin", program);
  expect(() => execFileSync(path, [...words, ...config], { cwd: root, stdio: "pipe" })).toThrow(
    /Command failed/,
  );
});

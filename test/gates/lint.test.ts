import { spawnSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../temp-folder.ts";

const ROOT = join(import.meta.dirname, "../..");

const OFFENCES: Readonly<Record<string, string>> = {
  "no-explicit-any": "export const a = (x: any): unknown => x;",
  "no-floating-promises": "export const b = (): void => { Promise.resolve(1); };",
  "no-misused-promises":
    "export const c = (): void => { [1].forEach(async () => { await Promise.resolve(); }); };",
  "await-thenable": "export const d = async (): Promise<void> => { await 1; };",
  "switch-exhaustiveness-check":
    'export const e = (x: "a" | "b"): void => { switch (x) { case "a": parseInt("1", 10); break; } };',
  "no-empty": "export const f = (): void => { try { parseInt('1', 10); } catch {} };",
  "no-default-export": "export default 1;",
  "no-unused-vars": "const g = 1;",
  "max-params": "export const h = (q: 1, r: 2, s: 3, t: 4, u: 5, v: 6): unknown[] => [q, r, s, t, u, v];",
  "max-lines-per-function": `export const i = (): void => {\n${"parseInt('1', 10);\n".repeat(60)}};`,
  complexity: `export const j = (x: number): void => {\n${"if (x) parseInt('1', 10);\n".repeat(15)}};`,
  "ban-ts-comment": "// @ts-ignore\nexport const k: string = 1;",
  "no-non-null-assertion": "export const l = (x: string | undefined): string => x!;",
  "no-console": 'export const m = (): void => console.log("x");',
  "no-restricted-globals": "export const n = (): unknown => Buffer.from('x');",
  "no-param-reassign": "export const o = (x: number): number => { x = 2; return x; };",
};

interface Report {
  readonly diagnostics: readonly { readonly code: string; readonly filename: string }[];
}

test("every rule of the house is switched on and an error", () => {
  const root = tempFolder({
    "tsconfig.json": '{ "compilerOptions": { "strict": true, "types": ["node"], "module": "nodenext" } }',
    "package.json": '{ "type": "module" }',
    ...Object.fromEntries(Object.entries(OFFENCES).map(([rule, text]) => [`src/core/${rule}.ts`, text])),
  });
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  symlinkSync(join(ROOT, ".oxlintrc.json"), join(root, ".oxlintrc.json"));
  const run = spawnSync(join(ROOT, "node_modules/.bin/oxlint"), ["--deny-warnings", "-f", "json"], {
    cwd: root,
    encoding: "utf8",
  });
  const { diagnostics } = JSON.parse(run.stdout) as Report;
  const caught = Object.keys(OFFENCES).filter((rule) =>
    diagnostics.some(({ code, filename }) => code.includes(`(${rule})`) && filename.endsWith(`/${rule}.ts`)),
  );
  expect({ code: run.status, caught }).toEqual({ code: 1, caught: Object.keys(OFFENCES) });
});

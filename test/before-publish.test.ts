import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "./temp-folder.ts";

const SCRIPT = join(import.meta.dirname, "../scripts/before-publish.ts");

function publishing(manifest: object): { readonly code: number | null; readonly said: string } {
  const cwd = tempFolder({ "package.json": JSON.stringify({ name: "some", version: "1.0.0", ...manifest }) });
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT], { cwd, encoding: "utf8" });
  return { code: status, said: stderr };
}

test("nothing is published that does not say where it lives", () => {
  const { code, said } = publishing({ homepage: "https://example.com" });
  expect(code).toBe(1);
  expect(said).toContain("package.json has no repository, bugs.");
  expect(said).toContain("npm pkg set repository=");
});

test("what says it may be published", () => {
  const manifest = {
    repository: "github:o/n",
    homepage: "https://example.com",
    bugs: "https://example.com/b",
  };
  expect(publishing(manifest)).toEqual({ code: 0, said: "" });
});

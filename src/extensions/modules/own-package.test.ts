import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { resolveOwnPackage } from "./load-extensions.ts";

test("only extensions get the package of their own, and only as long as they are used", () => {
  const folder = tempFolder({ "extensions/a.mjs": "", "else/b.mjs": "" });
  const ending = new AbortController();
  // Node remembers what it has found once, so each time is asked for another entry.
  const isThere = (file: string, entry: string): boolean => {
    try {
      createRequire(join(folder, file))(`nano-agent/${entry}`);
      return true;
    } catch {
      return false;
    }
  };
  const before = isThere("extensions/a.mjs", "testing");
  resolveOwnPackage([{ path: join(folder, "extensions/a.mjs") }], ending.signal);
  const meanwhile = ["extensions/a.mjs", "extensions/more/c.mjs", "else/b.mjs"].map((file) =>
    isThere(file, "testing"),
  );
  ending.abort();
  expect([before, meanwhile, isThere("extensions/a.mjs", "session")]).toEqual([
    false,
    [true, true, false],
    false,
  ]);
});

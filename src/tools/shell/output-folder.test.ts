import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { OutputFolder } from "./output-folder.ts";

const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

async function write(folder: OutputFolder, text: string): Promise<string> {
  const { path, handle } = await folder.openFile();
  await handle.appendFile(text);
  await handle.close();
  return path;
}

describe("the output folder", () => {
  test("is private to the user, and goes at the end", async () => {
    const folder = new OutputFolder(undefined, 1000);
    const file = await write(folder, "x");
    const modes = [mode(await folder.path()), mode(file)];
    await folder.dispose();
    expect([modes, existsSync(file)]).toEqual([["700", "600"], false]);
  });

  test("that was given is made private, never overwrites a file, and stays", async () => {
    const path = join(tempFolder(), "deep", "session");
    const first = new OutputFolder(path, 1000);
    await write(first, "x");
    await first.dispose();
    const second = new OutputFolder(path, 1000);
    await write(second, "y");
    expect([mode(path), readdirSync(path)]).toEqual(["700", ["output-1.txt", "output-2.txt"]]);
  });

  test("that was removed is made anew", async () => {
    const folder = new OutputFolder(undefined, 1000);
    rmSync(await folder.path(), { recursive: true });
    const paths = await Promise.all([folder.path(), folder.path()]);
    const made = paths.map((path) => existsSync(path));
    await folder.dispose();
    expect([new Set(paths).size, made, existsSync(paths[0] ?? "")]).toEqual([1, [true, true], false]);
  });

  test("drops its oldest files when all together are too large", async () => {
    const path = tempFolder();
    const folder = new OutputFolder(path, 100);
    for (let count = 0; count < 4; count++) await write(folder, "x".repeat(60));
    expect(readdirSync(path)).toEqual(["output-3.txt", "output-4.txt"]);
  });
});

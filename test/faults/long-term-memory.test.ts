import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { SqliteLongTermMemory } from "../../src/memory/sqlite-long-term-memory.ts";
import { tempFolder } from "../temp-folder.ts";
import { isFullSweep } from "./sweep.ts";

const PROGRAM = join(import.meta.dirname, "remember.ts");
const KILLED_AT = isFullSweep ? Array.from({ length: 20 }, (_, at) => at + 1) : [1, 7];

interface CommandEnding {
  readonly told: readonly string[];
  readonly stderr: string;
}

function remember(
  path: string,
  name: string,
  { count, killAt }: { count: number; killAt?: number },
): Promise<CommandEnding> {
  const child = spawn(process.execPath, [PROGRAM, path, name, String(count)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    if (killAt !== undefined && stdout.split("\n").length > killAt) child.kill("SIGKILL");
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  return new Promise((resolve) => {
    child.on("close", () => resolve({ told: stdout.split("\n").slice(0, -1), stderr }));
  });
}

async function kept(path: string): Promise<readonly string[]> {
  const notices: string[] = [];
  const memory = new SqliteLongTermMemory({ path, onNotice: (message) => notices.push(message) });
  onTestFinished(() => memory.close());
  const texts = (await memory.list({ limit: 1_000 })).map(({ text }) => text);
  expect(notices).toEqual([]);
  return texts;
}

test.each(KILLED_AT)("what was told to be kept is there after a kill at record %i", async (killAt) => {
  const path = join(tempFolder(), "memory.db");
  const { told } = await remember(path, "first", { count: 1_000, killAt });
  const texts = await kept(path);
  expect(told.filter((fact) => !texts.includes(fact))).toEqual([]);
});

test("processes that record at once lose nothing, keep what they share once, and print nothing", async () => {
  const path = join(tempFolder(), "memory.db");
  const count = 20;
  const ended = await Promise.all(["ann", "bob", "eve"].map((name) => remember(path, name, { count })));
  expect(ended.map(({ told, stderr }) => [told.length, stderr])).toEqual(ended.map(() => [count, ""]));
  expect((await kept(path)).length).toBe(4 * count);
});

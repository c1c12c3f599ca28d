import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { says } from "../../src/testing/script.ts";
import { temporaryName } from "../../src/tools/files/write-atomically.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv } from "./command.ts";

test("a start removes what a killed run left half written, and nothing else", async () => {
  const cwd = tempFolder({ "src/kept.ts": "" });
  const dead = spawnSync(process.execPath, ["-e", "0"]).pid;
  const [own, left] = [temporaryName(), temporaryName().replace(`-${process.pid}-`, `-${dead}-`)];
  for (const name of [own, left]) writeFileSync(join(cwd, "src", name), "half");
  const server = await modelServer([says("done")]);
  const end = await runCommand(["-p", "go"], { env: serverEnv(server), cwd });
  expect(end.code).toBe(0);
  expect(["kept.ts", own, left].map((name) => existsSync(join(cwd, "src", name)))).toEqual([
    true,
    true,
    false,
  ]);
});

import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { ownIdentity } from "../../src/session/process-identity.ts";
import { tempFolder } from "../temp-folder.ts";
import { isFullSweep } from "./sweep.ts";

const ROUNDS = isFullSweep ? 30 : 2;
const PROCESSES = 6;

it("gives the lock of a dead process to exactly one of several processes that want it at the same moment", async () => {
  const script = join(import.meta.dirname, "lock-race.ts");
  for (let round = 0; round < ROUNDS; round++) {
    const lock = join(tempFolder(), "s.lock");
    writeFileSync(lock, JSON.stringify({ ...ownIdentity(), start: "1", token: "of the dead" }));
    const start = String(Date.now() + 700);
    const said = await Promise.all(
      Array.from({ length: PROCESSES }, () => promisify(execFile)(process.execPath, [script, lock, start])),
    );
    expect(said.map(({ stdout }) => stdout.trim()).sort()).toEqual([
      "got it",
      ...Array(PROCESSES - 1).fill("refused"),
    ]);
  }
}, 120_000);

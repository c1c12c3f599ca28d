import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { describeFleet } from "./fleet.contract.ts";

describe("embedded", () => {
  let folder = "";
  let schemas = 0;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "nano-agent-embedded-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  describeFleet("embedded", () => ({
    options: { dataDir: join(folder, "database"), schema: `fleet_${++schemas}` },
    isShared: false,
  }));
});

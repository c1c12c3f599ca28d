import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { FAULT_TABLE_FILE, withFaultTables } from "../../scripts/gen-fault-table.ts";
import { WIRES } from "./fault.ts";
import { PROVIDER_FAULTS } from "./provider-faults.ts";
import { isFullSweep } from "./sweep.ts";
import { tryFault } from "./try-fault.ts";

const CASES = PROVIDER_FAULTS.flatMap((fault) => {
  const wires = fault.wires ?? WIRES;
  return isFullSweep
    ? wires.map((wire) => ({ fault, wire, scenario: fault.scenario }))
    : fault.sampled === true
      ? wires.slice(0, 1).map((wire) => ({ fault, wire, scenario: fault.scenario }))
      : [];
});

it("stands in the document as it is tried", () => {
  const document = readFileSync(FAULT_TABLE_FILE, "utf8");
  expect(document, "run node scripts/gen-fault-table.ts").toBe(withFaultTables(document));
});

it.each(CASES)("$wire: $scenario", { timeout: 120_000 }, ({ fault, wire }) => tryFault(fault, wire));

import { expect, it } from "vitest";
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

it.each(CASES)("$wire: $scenario", async ({ fault, wire }) => {
  await expect(tryFault(fault, wire)).resolves.toBeUndefined();
});

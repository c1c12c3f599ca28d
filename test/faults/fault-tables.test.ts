import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { FAULT_TABLE_FILE, withFaultTables } from "../../scripts/gen-fault-table.ts";

it("every table of faults stands in the document as it is tried", () => {
  const document = readFileSync(FAULT_TABLE_FILE, "utf8");
  expect(document, "run node scripts/gen-fault-table.ts").toBe(withFaultTables(document));
});

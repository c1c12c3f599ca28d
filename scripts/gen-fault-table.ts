import { readFileSync, writeFileSync } from "node:fs";
import { type Fault, WIRES } from "../test/faults/fault.ts";
import { PROVIDER_FAULTS } from "../test/faults/provider-faults.ts";

/** The document that holds the table, between {@link FAULT_TABLE_MARKS}. */
export const FAULT_TABLE_FILE = "docs/reliability.md";

/** Lines around the table. */
export const FAULT_TABLE_MARKS: readonly [begin: string, end: string] = [
  "<!-- Made by scripts/gen-fault-table.ts from test/faults: change that. -->",
  "<!-- End of the table of provider faults. -->",
];

/** The table of provider faults as Markdown, made from what the tests run. */
export function faultTable(): string {
  const rows = PROVIDER_FAULTS.map(
    (fault) =>
      `| ${cell(fault.scenario)} | ${cell(fault.outcome)} | ${fault.code} | ${fault.requests === "any" ? "" : fault.requests} | ${triedOn(fault)} | yes |`,
  );
  return [
    "| scenario | required outcome | exit | requests | wires | result |",
    "|---|---|---:|---:|---|---|",
    ...rows,
  ].join("\n");
}

/** `document` with the table as it is now. */
export function withFaultTable(document: string): string {
  const [begin, end] = FAULT_TABLE_MARKS;
  const [before = "", rest = ""] = document.split(begin);
  const [, after = ""] = rest.split(end);
  return `${before}${begin}\n\n${faultTable()}\n\n${end}${after}`;
}

function triedOn({ wires = WIRES }: Fault): string {
  return wires.length === WIRES.length ? "all" : wires.map((wire) => `\`${wire}\``).join(", ");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

if (import.meta.main) writeFileSync(FAULT_TABLE_FILE, withFaultTable(readFileSync(FAULT_TABLE_FILE, "utf8")));

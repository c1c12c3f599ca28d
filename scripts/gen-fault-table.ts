import { readFileSync, writeFileSync } from "node:fs";
import { type Fault, WIRES } from "../test/faults/fault.ts";
import { LIBRARY_FAULTS } from "../test/faults/library-faults.ts";
import { LOCAL_FAULTS } from "../test/faults/local-faults.ts";
import { PROVIDER_FAULTS } from "../test/faults/provider-faults.ts";

/** The document that holds the tables, each between two lines that name it. */
export const FAULT_TABLE_FILE = "docs/reliability.md";

const BEGIN = "<!-- Made by scripts/gen-fault-table.ts from test/faults: change that. Table: NAME. -->";
const END = "<!-- End of table: NAME. -->";

/** `document` with the tables as they are now. */
export function withFaultTables(document: string): string {
  return TABLES.reduce((text, [name, table]) => {
    const [begin, end] = [BEGIN.replace("NAME", name), END.replace("NAME", name)];
    const [before = "", rest = ""] = text.split(begin);
    const [, after = ""] = rest.split(end);
    return `${before}${begin}\n\n${table()}\n\n${end}${after}`;
  }, document);
}

const TABLES: readonly (readonly [name: string, table: () => string])[] = [
  ["providers", providerTable],
  ["children, disks, signals", localTable],
  ["tools and hooks", libraryTable],
];

function providerTable(): string {
  return tableOf(
    ["scenario", "required outcome", "exit", "requests", "wires"],
    PROVIDER_FAULTS.map((fault) => [
      fault.scenario,
      fault.outcome,
      fault.code ?? "killed",
      fault.requests === "any" ? "" : fault.requests,
      triedOn(fault),
    ]),
  );
}

function localTable(): string {
  return tableOf(
    ["scenario", "required outcome", "exit"],
    LOCAL_FAULTS.map(({ scenario, outcome, code }) => [scenario, outcome, code ?? "killed"]),
  );
}

function libraryTable(): string {
  return tableOf(
    ["scenario", "required outcome", "stop reason"],
    LIBRARY_FAULTS.map(({ scenario, outcome, stopReason }) => [scenario, outcome, `\`${stopReason}\``]),
  );
}

function tableOf(heads: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const isNumber = (at: number): boolean => rows.some((row) => typeof row[at] === "number");
  return [
    lineOf([...heads, "result"]),
    `|${heads.map((_, at) => (isNumber(at) ? "---:" : "---")).join("|")}|---|`,
    ...rows.map((row) => lineOf([...row, "yes"])),
  ].join("\n");
}

function lineOf(cells: readonly (string | number)[]): string {
  return `| ${cells.map((cell) => String(cell).replaceAll("|", "\\|")).join(" | ")} |`;
}

function triedOn({ wires = WIRES }: Fault): string {
  return wires.length === WIRES.length ? "all" : wires.map((wire) => `\`${wire}\``).join(", ");
}

if (import.meta.main)
  writeFileSync(FAULT_TABLE_FILE, withFaultTables(readFileSync(FAULT_TABLE_FILE, "utf8")));

import { readFileSync, writeFileSync } from "node:fs";
import type { Fault } from "../test/faults/fault.ts";
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
  ["providers", () => tableOf("exit", PROVIDER_FAULTS.map(commandRow))],
  ["children, disks, signals", () => tableOf("exit", LOCAL_FAULTS.map(commandRow))],
  [
    "tools and hooks",
    () =>
      tableOf(
        "stop reason",
        LIBRARY_FAULTS.map(({ scenario, outcome, stopReason }) => [scenario, outcome, `\`${stopReason}\``]),
      ),
  ],
];

type Row = readonly [scenario: string, outcome: string, end: string];

function commandRow({ scenario, outcome, code }: Fault): Row {
  return [scenario, outcome, String(code ?? "killed")];
}

/** One row for each outcome and end, with all its scenarios. */
function tableOf(end: string, rows: readonly Row[]): string {
  const groups = Map.groupBy(rows, ([, ...rest]) => JSON.stringify(rest));
  return [
    lineOf(["scenario", "required outcome", end]),
    "|---|---|---|",
    ...[...groups.values()].map((group) => {
      const [[, ...rest] = ["", "", ""]] = group;
      return lineOf([scenarioList(group.map(([scenario]) => scenario)), ...rest]);
    }),
  ].join("\n");
}

/** Scenarios that differ in their first code span only become one, with all of these. */
function scenarioList(scenarios: readonly string[]): string {
  const alike = Map.groupBy(scenarios, (scenario) => scenario.replace(CODE_SPAN, "``"));
  return [...alike.values()]
    .map((group) => {
      const spans = group.flatMap((scenario) => CODE_SPAN.exec(scenario) ?? []);
      return group[0]?.replace(CODE_SPAN, () => spans.join(", "));
    })
    .join("<br>");
}

const CODE_SPAN = /`[^`]+`/;

function lineOf(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

if (import.meta.main)
  writeFileSync(FAULT_TABLE_FILE, withFaultTables(readFileSync(FAULT_TABLE_FILE, "utf8")));

import type { RunRecord } from "../../../evaluation/results-folder.ts";
import {
  type Comparison,
  changeText,
  comparisonVerdict,
  counts,
  type ModelSummary,
  ratioText,
  SUMMARY_COLUMNS,
  shareText,
  summaryCells,
} from "../../../evaluation/summarize.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import { columnsOf } from "../../text/columns.ts";
import type { Style } from "../style.ts";

const MAX_NAME = 80;
const MAX_REASON = 300;

/** The figures of models as a table. */
export function summaryText(summaries: readonly ModelSummary[], style: Style): string {
  const [first, ...others] = SUMMARY_COLUMNS;
  const rows = summaries.map((each) => summaryCells(each).map((cell) => terminalLine(cell, MAX_NAME)));
  return tableText([[first ?? "", ...others], ...rows], style);
}

/** The tasks, each with the runs that solved it by model, and why others did not. */
export function taskText(records: readonly RunRecord[], style: Style): string {
  const names = [...new Set(records.map(({ task }) => task))].sort();
  const lines = names.flatMap((name) => {
    const runs = records.filter(({ task }) => task === name);
    const counted = runs.filter(counts);
    const solved = counted.filter((run) => run.solved).length;
    const isSolved = solved === runs.length;
    const mark = isSolved ? style.green("✓") : style.red("✗");
    const reasons = new Map(
      runs
        .filter((run) => !run.solved)
        .map(({ model, error, reason }) => {
          const why = `${model}: ${error === undefined ? "" : "failed: "}${reason}`;
          return [why, style.dim(`    ${terminalLine(why, MAX_REASON)}`)];
        }),
    );
    return [`${mark} ${terminalLine(name, MAX_NAME)}  ${solved} of ${counted.length}`, ...reasons.values()];
  });
  return lines.map((line) => `${line}\n`).join("");
}

/** A comparison in plain words. */
export function comparisonText(comparison: Comparison, style: Style): string {
  const { a, b, better, worse, missing, changed } = comparison;
  const line = (text: string): string => `  ${terminalLine(text, 4_000)}`;
  const named = (what: string, names: readonly string[]): readonly string[] =>
    names.length === 0 ? [] : [line(`${what}: ${names.join(", ")}`)];
  const lines = [
    style.bold(terminalLine(`${a} → ${b}`, MAX_NAME * 3)),
    line(shareText(comparison)),
    line(comparisonVerdict(comparison)),
    ...(better.length === 0 ? [] : [line(`better: ${changeText(better)}`)]),
    ...(worse.length === 0 ? [] : [line(`worse: ${changeText(worse)}`)]),
    ...(ratioText(comparison) === "" ? [] : [line(ratioText(comparison))]),
    ...named("left out, because only one side has them", missing),
    ...named("left out, because they were changed in between", changed),
  ];
  return lines.map((each) => `${each}\n`).join("");
}

/** Rows under a head; the first column stands left, the others right. */
export function tableText(rows: readonly (readonly string[])[], style: Style): string {
  const [head = []] = rows;
  const widths = head.map((_name, at) => Math.max(...rows.map((row) => columnsOf(row[at] ?? ""))));
  const lines = rows.map((row, index) => {
    const cells = row.map((cell, at) => {
      const blank = " ".repeat(Math.max(0, (widths[at] ?? 0) - columnsOf(cell)));
      return at === 0 ? cell + blank : blank + cell;
    });
    const line = cells.join("  ").trimEnd();
    return index === 0 ? style.dim(line) : line;
  });
  return lines.map((line) => `${line}\n`).join("");
}

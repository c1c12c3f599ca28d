import { parseShell } from "../../src/permission/shell/parse-shell.ts";
import { printShell } from "../../src/permission/shell/print-shell.ts";
import type { BashTrace, BashTraces } from "./bash-traces.ts";

/** The form of a line that would run; `undefined` where there is none. */
export function printed(line: string): string | undefined {
  const { script } = parseShell(line);
  return script === undefined ? undefined : printShell(script, line).text;
}

/** Lines whose printed form does something else in Bash than they do themselves. */
export function differing(lines: readonly string[], room: BashTraces): readonly string[] {
  const pairs = lines.flatMap((line) => {
    const form = printed(line);
    // Numbers of processes differ from run to run.
    return form === undefined || form === line || /\$[!$]/.test(line) ? [] : [[line, form] as const];
  });
  const traces = room.run(pairs.flat());
  return pairs.flatMap(([line, form], index) => {
    const [one, other] = [traces[2 * index], traces[2 * index + 1]].map((trace) => comparable(line, trace));
    return one === other ? [] : [`${JSON.stringify(line)} as ${JSON.stringify(form)}:\n${one}\n${other}`];
  });
}

/** Without what two runs of one line differ in: the order of what runs at the same time. */
function comparable(line: string, trace: BashTrace | undefined): string {
  if (trace === undefined || !/&(?![&>\d-])|[<>]\(/.test(line)) return JSON.stringify(trace);
  const { ran, output, files } = trace;
  const letters = [...output].toSorted((a, b) => a.localeCompare(b)).join("");
  return JSON.stringify({ ran, letters, files: Object.keys(files) });
}

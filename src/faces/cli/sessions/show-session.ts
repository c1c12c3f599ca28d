import { counted } from "../../../core/base/text.ts";
import { type SessionUsage, sessionUsage } from "../../../journal/session-usage.ts";
import { readSession, type SessionContent, sessionTitle } from "../../../session/read-session.ts";
import type { SessionFile } from "../../../session/session-store.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import type { SessionCall } from "../command-call.ts";
import { answer } from "../command-context.ts";
import { usageText } from "./show-stats.ts";
import { type StepLine, stepLines, timeText } from "./step-lines.ts";
import { subagentJson, subagentText } from "./subagent-text.ts";

/** Writes what a session is about, what it has used up, and its steps with their numbers. */
export function showSession(call: SessionCall, { path }: SessionFile): number {
  const content = readSession(path);
  const figures = {
    stats: sessionUsage([...content.setAside, ...content.entries]),
    title: sessionTitle(path),
  };
  answer(call.context, call, { json: () => facts(content, figures), text: () => text(content, figures) });
  return EXIT.done;
}

interface SessionFigures {
  readonly stats: SessionUsage;
  readonly title: string | undefined;
}

function facts(
  { sessionId, path, header, damaged, records, entries }: SessionContent,
  { stats, title }: SessionFigures,
): object {
  return {
    session_id: sessionId,
    file: path,
    cwd: header?.cwd ?? null,
    forked_from: header?.forkedFrom?.sessionId ?? null,
    title: title ?? null,
    started_at: timeText(header?.time ?? entries[0]?.time),
    changed_at: timeText(entries.at(-1)?.time),
    records,
    damaged,
    runs: stats.runs,
    stop_reason: stats.stopReason ?? null,
    models: stats.models,
    tools: stats.tools,
    steps: stepLines(entries).map(stepJson),
  };
}

function text(
  { sessionId, path, header, damaged, records, entries }: SessionContent,
  { stats, title }: SessionFigures,
): string {
  const rows: readonly (readonly [name: string, value: string])[] = [
    ["session", sessionId],
    ["file", path],
    ["folder", header?.cwd ?? "unknown"],
    ["copy of", header?.forkedFrom?.sessionId ?? ""],
    ["began", timeText(header?.time ?? entries[0]?.time) ?? "unknown"],
    ["last", timeText(entries.at(-1)?.time) ?? "unknown"],
    ["first", title ?? "(no text)"],
    ["records", `${records}${damaged.length === 0 ? "" : `, ${damaged.length} damaged`}`],
    ["runs", `${stats.runs}, the last one: ${stats.stopReason ?? "cut or still at work"}`],
  ];
  return rows
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name.padEnd(8)}  ${terminalLine(value, 200)}\n`)
    .join("")
    .concat("\n", usageText(stats), stepText(stepLines(entries)));
}

/** Steps that are written out; `--json` writes all. */
const SHOWN_STEPS = 200;

function stepText(steps: readonly StepLine[]): string {
  const left = steps.length - SHOWN_STEPS;
  const lines = left > 0 ? [`  … ${counted(left, "step")} before, see --json`] : [];
  const width = String(steps.length).length;
  for (const { step, input, tools, text, subagents } of steps.slice(-SHOWN_STEPS)) {
    for (const line of input) lines.push(`${" ".repeat(width + 8)}> ${terminalLine(line, 100)}`);
    const called = tools.length === 0 ? "" : ` → ${tools.join(", ")}`;
    lines.push(`step ${String(step).padStart(width)}  ${terminalLine(`${text}${called}`.trim(), 120)}`);
    lines.push(...subagentText(subagents, " ".repeat(width + 7)));
  }
  return lines.length === 0 ? "" : `\n${lines.join("\n")}\n`;
}

/** A step for programs; most start no subagent. */
function stepJson({ subagents, ...step }: StepLine): object {
  return subagents.length === 0 ? step : { ...step, subagents: subagents.map(subagentJson) };
}

import { type SessionUsage, sessionUsage } from "../../../journal/session-usage.ts";
import { readSession, type SessionContent, sessionTitle } from "../../../session/read-session.ts";
import type { SessionFile } from "../../../session/session-store.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import type { SessionCall } from "../command-call.ts";
import { answer } from "../command-context.ts";
import { usageText } from "./show-stats.ts";
import { stepsJson, timeText } from "./steps-json.ts";

/** Writes what a session is about, what it has used up, and its steps with their numbers. */
export async function showSession(call: SessionCall, { path }: SessionFile): Promise<number> {
  const content = readSession(path);
  const figures = {
    stats: sessionUsage([...content.setAside, ...content.entries]),
    title: sessionTitle(path),
  };
  const { sessionLines } = await import("../../terminal/line-drawer.ts");
  const { stdout, environment } = call.context;
  const place = {
    environment,
    isStyled: stdout.isTerminal,
    columns: () => (stdout.isTerminal ? process.stdout.columns : FILE_COLUMNS),
  };
  const lines = (): string => sessionLines(content.entries, SHOWN_STEPS, place);
  answer(call.context, call, {
    json: () => facts(content, figures),
    text: () => text(content, figures) + lines(),
  });
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
    steps: stepsJson(entries),
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
    .concat("\n", usageText(stats));
}

/** Steps that are written out; `--json` writes all. */
const SHOWN_STEPS = 200;
/** Width of a text that no terminal shows. */
const FILE_COLUMNS = 100;

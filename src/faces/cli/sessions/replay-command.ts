import { type LiveTools, openLiveTools } from "../../../coding/replay/live-tools.ts";
import { existingFolder } from "../../../coding/settings/paths.ts";
import { loadSettings, type Settings } from "../../../coding/settings/settings.ts";
import { describedTools } from "../../../coding/setup/builtin-tools.ts";
import { misuse } from "../../../core/base/errors.ts";
import { defined } from "../../../core/base/json.ts";
import { counted } from "../../../core/base/text.ts";
import { stepNumbered } from "../../../journal/steps.ts";
import { readSession, type SessionContent } from "../../../session/read-session.ts";
import {
  type ReplayOptions,
  type ReplayReport,
  replaySession,
} from "../../../session/replay/replay-session.ts";
import type { SessionFile } from "../../../session/session-store.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { noticeText } from "../../../view/notice-text.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import type { CommandCall, SessionCall } from "../command-call.ts";
import { answer, say } from "../command-context.ts";
import { readStep } from "../session-flags.ts";

/** Runs a session again and writes where it differs. Resolves to 0 when it does not, to 1 when it does. */
export async function replayCommand(call: SessionCall, { path }: SessionFile): Promise<number> {
  assertAgreement(call);
  const { context } = call;
  const { environment } = context;
  const from = readStep(call.text("--from"));
  const workspace = call.text("--workspace");
  const content = readSession(path);
  if (from !== undefined) stepNumbered(content.entries, from);
  const cwd = workspace === undefined ? call.cwd : existingFolder(workspace, "--workspace");
  const settings = await loadSettings({ environment, cwd });
  const onNotice = (text: string): void => say(context, text);
  const live = call.has("--live-tools") ? await liveTools(settings, onNotice, content, call) : undefined;
  const tools = describedTools(settings);
  try {
    const report = await replayed(content, { tools, runTool: live?.run, ...defined({ from }) });
    const facts = { content, report, kept: live?.kept ?? new Map<string, number>() };
    answer(context, call, { json: () => asJson(facts), text: () => asText(facts) });
    return report.same ? EXIT.done : EXIT.failed;
  } finally {
    await live?.dispose();
  }
}

function assertAgreement({ has }: CommandCall): void {
  const isAboutTools = has("--workspace") || has("--yolo") || has("--allowed-tools");
  if (isAboutTools && !has("--live-tools"))
    throw misuse("--workspace, --yolo and --allowed-tools say how tools run: they need --live-tools.");
}

function liveTools(
  settings: Settings,
  onNotice: (message: string) => void,
  { header }: SessionContent,
  call: CommandCall,
): Promise<LiveTools> {
  const named = call.text("--workspace");
  const origin = named ?? header?.cwd;
  if (origin === undefined)
    throw misuse("The session does not say in which folder it worked. Name one with --workspace FOLDER.");
  return openLiveTools({
    settings,
    onNotice: (notice) => onNotice(noticeText(notice)),
    workspace: existingFolder(origin, named === undefined ? "The folder of the session" : "--workspace"),
    allowed: call.list("--allowed-tools"),
    ...(call.has("--yolo") ? { mode: "bypassPermissions" as const } : {}),
  });
}

async function replayed(
  { entries, otherTypes }: SessionContent,
  options: ReplayOptions,
): Promise<ReplayReport> {
  const report = await replaySession(entries, options);
  const others = Object.entries(otherTypes).map(([type, count]) => [`records of type ${type}`, count]);
  return {
    ...report,
    notReplayed: { ...report.notReplayed, ...(Object.fromEntries(others) as Record<string, number>) },
  };
}

interface ReplayFacts {
  readonly content: SessionContent;
  readonly report: ReplayReport;
  readonly kept: ReadonlyMap<string, number>;
}

function asJson({ content, report, kept }: ReplayFacts): object {
  return {
    session_id: content.sessionId,
    same: report.same,
    runs: report.runs,
    requests: report.requests,
    calls: report.calls,
    calls_run: report.callsRun,
    not_replayed: report.notReplayed,
    kept_from_record: Object.fromEntries(kept),
    damaged: content.damaged,
    differences: report.differences,
  };
}

const SHOWN = 50;

function asText({ content, report, kept }: ReplayFacts): string {
  const { differences, runs, requests, calls, callsRun, same } = report;
  const run = callsRun > 0 ? `, ${callsRun} of them run` : "";
  const lines = [
    `${content.sessionId}: ${same ? "the same" : counted(differences.length, "difference")}`,
    `${counted(runs, "run")}, ${counted(requests, "request")}, ${counted(calls, "tool call")} compared${run}`,
    ...Object.entries(report.notReplayed).map(([kind, count]) => `not run again: ${kind} (${count})`),
    ...[...kept].map(([reason, count]) => `from the record: ${counted(count, "call")} (${reason})`),
    ...differences.slice(0, SHOWN).flatMap(differenceLines),
  ];
  if (differences.length > SHOWN) lines.push(`and ${differences.length - SHOWN} more; --json writes all`);
  return lines.map((line) => `${line.startsWith("  ") ? "  " : ""}${terminalLine(line, 300)}\n`).join("");
}

function differenceLines(difference: ReplayReport["differences"][number]): readonly string[] {
  const { run, step, aspect, call, path, recorded, replayed: now } = difference;
  const at = step === null ? "" : `, step ${step}`;
  const of = call === undefined ? "" : `, ${call.name} (${call.id})`;
  return [
    `run ${run}${at}${of}: ${aspect.replace("_", " ")} differs at ${path}`,
    `  recorded ${recorded}`,
    `  now      ${now}`,
  ];
}

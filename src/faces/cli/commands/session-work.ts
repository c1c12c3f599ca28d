import { type LiveTools, openLiveTools } from "../../../coding/replay/live-tools.ts";
import type { CodingSession, CompactionResult } from "../../../coding/session/coding-session.ts";
import { createCodingSession } from "../../../coding/session/prepare-coding-session.ts";
import { existingFolder } from "../../../coding/settings/paths.ts";
import { loadSettings, type Settings } from "../../../coding/settings/settings.ts";
import { describedTools } from "../../../coding/setup/builtin-tools.ts";
import { SessionState } from "../../../core/agent/state.ts";
import { invalidArgument, isNanoAgentError, toNanoAgentError } from "../../../core/base/errors.ts";
import { omitUndefined } from "../../../core/base/json.ts";
import { pluralize } from "../../../core/base/text.ts";
import type { Usage } from "../../../core/message/message.ts";
import { costOf } from "../../../core/model/budget.ts";
import { stepByNumber } from "../../../journal/steps.ts";
import { undoNewestCompaction } from "../../../memory/context/compactor.ts";
import { knownModelInfo } from "../../../providers/model-info.ts";
import { type ImportReport, importSession } from "../../../session/import/import-session.ts";
import { readSession, type SessionContent, sessionTitle } from "../../../session/read-session.ts";
import { type ReplayReport, replaySession } from "../../../session/replay/replay-session.ts";
import { type FoundSession, findSessions } from "../../../session/search/find-sessions.ts";
import type { SessionFile } from "../../../session/session-store.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { noticeText } from "../../../view/notice-text.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import { phraseText } from "../../../view/words.ts";
import type { CommandCall, SessionCall } from "../command-call.ts";
import { factLines, listTime, loadLocalSettings, say, writeResult } from "../command-context.ts";
import { readStep } from "../run-flags.ts";

/**
 * Compacts a session with its model, shows what that would do, or undoes the newest compaction. Returns 1 if
 * the session is unchanged.
 */
export async function compactSession(call: SessionCall, session: SessionFile): Promise<number> {
  const [isPreview, isUndo] = [call.has("--preview"), call.has("--undo")];
  if (isPreview && isUndo)
    throw invalidArgument(
      "sessions compact shows what would happen or takes it back. Leave --preview or --undo out.",
    );
  if (isUndo) return undo(call, session);
  const { cwd, environment } = call;
  const { config } = await loadLocalSettings(call);
  const coding = await createCodingSession({
    environment,
    cwd,
    resume: { id: session.sessionId },
    // An explicit compaction happens even if automatic compaction is off.
    ...(config.values.compaction === false ? { settings: { compaction: {} } } : {}),
    onNotice: (notice) => (notice.code === "model_chosen" ? undefined : say(call, noticeText(notice))),
  });
  try {
    return isPreview ? await preview(coding, call) : await compact(coding, call);
  } finally {
    await coding.close();
  }
}

async function compact(coding: CodingSession, call: SessionCall): Promise<number> {
  coding.onEvent((event) => {
    if (event.type === "warning") say(call, event.message);
  });
  const result = await coding.compact();
  const { method = "none", tokensBefore = null, tokensAfter = null } = result ?? {};
  const undoing = `Take it back with: nano-agent sessions compact ${coding.id} --undo`;
  writeResult(
    call,
    { session_id: coding.id, method, tokens_before: tokensBefore, tokens_after: tokensAfter },
    result === undefined ? "" : `${coding.id}: ${compactionText(result)} ${undoing}\n`,
  );
  return result === undefined ? EXIT.failed : EXIT.done;
}

async function preview(coding: CodingSession, call: SessionCall): Promise<number> {
  const { replaced, kept, pinned, isNeeded, ...figures } = await coding.previewCompaction();
  const { method, tokensBefore, tokensAfter, window, limit } = figures;
  const limits =
    window === undefined
      ? "the window of the model is unknown"
      : `compacted above ${limit ?? window}, window ${window}`;
  const messages = pluralize(replaced.length + kept.length, "message");
  const isSmaller = method === "none" || tokensAfter < tokensBefore;
  const todo = pinned.todo ? "the todo list" : "no todo list";
  const lines = factLines([
    ["session", coding.id],
    ["size", `${messages}, about ${tokensBefore} tokens (${limits})`],
    ["method", method === "none" ? "nothing could go" : method],
    ["goes", pluralize(replaced.length, "older message")],
    ["stays", pluralize(kept.length, "newest message")],
    [
      "pinned",
      `${pluralize(pinned.userMessages, "message")} of the user, ${pluralize(pinned.files, "file")}, ${todo}`,
    ],
    ["after", `about ${tokensAfter} tokens${isSmaller ? "" : ": no less, so it would stay as it is"}`],
  ]);
  return writeResult(
    call,
    {
      session_id: coding.id,
      needed: isNeeded,
      method,
      tokens_before: tokensBefore,
      tokens_after: tokensAfter,
      limit: limit ?? null,
      window: window ?? null,
      replaced: replaced.length,
      kept: kept.length,
      pinned: { user_messages: pinned.userMessages, files: pinned.files, todo: pinned.todo },
    },
    `${lines.join("\n")}\n`,
  );
}

async function undo(call: SessionCall, session: SessionFile): Promise<number> {
  const { sessionId } = session;
  const journal = await call.store.resume(session);
  try {
    const state = new SessionState();
    for (const entry of journal.entries()) state.apply(entry);
    await undoNewestCompaction({ journal, state, scope: undefined, emit: () => undefined });
    const { length: messages } = state.transcript.messages;
    const left = `the conversation has ${pluralize(messages, "message")}`;
    return writeResult(
      call,
      { session_id: sessionId, messages },
      `${sessionId}: the newest compaction is undone; ${left}.\n`,
    );
  } finally {
    await journal.close();
  }
}

function compactionText({
  method,
  tokensBefore: before,
  tokensAfter: after,
}: NonNullable<CompactionResult>): string {
  return phraseText({ code: "compacted", before, after, method }, String);
}

export async function findCommand(call: SessionCall, text: string): Promise<number> {
  const { store } = call;
  const cwd = call.has("--all") ? undefined : call.cwd;
  const { sessions, by, notices } = await findSessions(store, text, { cwd });
  for (const notice of notices) say(call, notice);
  const none = `No session holds ${terminalLine(text, 100)}.${cwd === undefined ? "" : " See --all."}\n`;
  return writeResult(
    call,
    sessions.map((session) => ({ ...foundJson(session), by })),
    sessions.map(foundText).join("") || none,
  );
}

function foundJson({ sessionId, path, changedAt, step, excerpt, passages }: FoundSession): object {
  return {
    session_id: sessionId,
    file: path,
    changed_at: new Date(changedAt).toISOString(),
    title: sessionTitle(path) ?? null,
    step,
    excerpt,
    passages,
  };
}

function foundText({ sessionId, changedAt, step, excerpt, passages }: FoundSession): string {
  const more = passages > 1 ? ` (and ${passages - 1} more)` : "";
  return `${listTime(changedAt)}  ${sessionId}  step ${step}${more}\n    ${terminalLine(excerpt, 200)}\n`;
}

/**
 * Imports session files and writes one line for each. Resolves to 0 if all were imported, to 2 if one is not
 * a session file or was imported before; the reason goes to standard error. Throws `journal` if a session
 * cannot be written.
 */
export async function importCommand(call: SessionCall): Promise<number> {
  const { store, cwd } = call;
  let code: number = EXIT.done;
  for (const file of call.words) {
    try {
      const report = await importSession(store, file, { cwd, costOf: knownCost, again: call.has("--again") });
      writeResult(call, importJson(report), importText(report));
    } catch (error) {
      if (!isNanoAgentError(error, "invalid_argument")) throw error;
      say(call, toNanoAgentError(error).message);
      code = EXIT.usage;
    }
  }
  return code;
}

function knownCost(model: string, usage: Usage): number | undefined {
  const slash = model.indexOf("/");
  const price = knownModelInfo(model.slice(0, slash), model.slice(slash + 1))?.price;
  return price && costOf(usage, price);
}

function importJson({ sessionId: session_id, leftOut: left_out, repairs, ...report }: ImportReport): object {
  const { file, program, path, inputs, answers, calls, damaged, unknown } = report;
  const found = { inputs, answers, calls, damaged, left_out, unknown };
  return {
    file,
    program,
    session_id,
    path,
    ...found,
    repairs: {
      unanswered_calls: repairs.unansweredCalls,
      stray_results: repairs.strayResults,
      renamed_calls: repairs.renamedCalls,
      empty_answers: repairs.emptyAnswers,
    },
  };
}

function importText(report: ImportReport): string {
  const { file, program, sessionId, inputs, answers, calls, damaged, leftOut, unknown, repairs } = report;
  const { unansweredCalls: unanswered, strayResults: stray, renamedCalls: renamed } = repairs;
  const lines = [
    `${file} (${program}): ${pluralize(inputs, "input")}, ${pluralize(answers, "answer")}, ${pluralize(calls, "tool call")}`,
    ...damaged.slice(0, 20).map(({ line, reason }) => `  damaged: line ${line}, ${reason}`),
  ];
  if (damaged.length > 20) lines.push(`  damaged: ${pluralize(damaged.length - 20, "more line")}`);
  for (const [kind, count] of Object.entries(unknown)) lines.push(`  unknown, left out: ${count} × ${kind}`);
  for (const [kind, count] of Object.entries(leftOut)) lines.push(`  left out: ${count} × ${kind}`);
  if (unanswered > 0)
    lines.push(`  ${pluralize(unanswered, "call")} had no result; each got one that says so`);
  if (stray > 0)
    lines.push(`  ${pluralize(stray, "result")} had no call and ${stray === 1 ? "was" : "were"} dropped`);
  if (renamed > 0)
    lines.push(`  ${pluralize(renamed, "call")} got an id of ${renamed === 1 ? "its" : "their"} own`);
  lines.push(`  continue with nano-agent -p -r ${sessionId} "…"`);
  return lines.map((line) => `${line.startsWith("  ") ? "  " : ""}${terminalLine(line, 400)}\n`).join("");
}

/** Replays a session and writes the differences. Resolves to 0 if there are none, else to 1. */
export async function replayCommand(call: SessionCall, { path }: SessionFile): Promise<number> {
  assertToolOptions(call);
  const { environment } = call;
  const from = readStep(call.text("--from"));
  const workspace = call.text("--workspace");
  const content = readSession(path);
  if (from !== undefined) stepByNumber(content.entries, from);
  const cwd = workspace === undefined ? call.cwd : existingFolder(workspace, "--workspace");
  const settings = await loadSettings({ environment, cwd });
  const live = call.has("--live-tools") ? await liveTools(settings, content, call) : undefined;
  const tools = describedTools(settings);
  try {
    const replayed = await replaySession(content.entries, {
      tools,
      runTool: live?.run,
      ...omitUndefined({ from }),
    });
    const notReplayed: Record<string, number> = { ...replayed.notReplayed };
    for (const [type, count] of Object.entries(content.otherTypes))
      notReplayed[`records of type ${type}`] = count;
    const report = { ...replayed, notReplayed };
    const kept = live?.skipped ?? new Map<string, number>();
    writeResult(call, replayJson(content, report, kept), replayText(content, report, kept));
    return report.same ? EXIT.done : EXIT.failed;
  } finally {
    await live?.dispose();
  }
}

function assertToolOptions({ has }: CommandCall): void {
  const isAboutTools = has("--workspace") || has("--yolo") || has("--allowed-tools");
  if (isAboutTools && !has("--live-tools"))
    throw invalidArgument(
      "--workspace, --yolo and --allowed-tools say how tools run: they need --live-tools.",
    );
}

function liveTools(settings: Settings, { header }: SessionContent, call: SessionCall): Promise<LiveTools> {
  const named = call.text("--workspace");
  const origin = named ?? header?.cwd;
  if (origin === undefined)
    throw invalidArgument(
      "The session does not say in which folder it worked. Name one with --workspace FOLDER.",
    );
  return openLiveTools({
    settings,
    onNotice: (notice) => say(call, noticeText(notice)),
    workspace: existingFolder(origin, named === undefined ? "The folder of the session" : "--workspace"),
    allowed: call.list("--allowed-tools"),
    ...(call.has("--yolo") ? { mode: "bypassPermissions" as const } : {}),
  });
}

function replayJson(
  content: SessionContent,
  report: ReplayReport,
  kept: ReadonlyMap<string, number>,
): object {
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

const MAX_DIFFERENCES = 50;

function replayText(
  content: SessionContent,
  report: ReplayReport,
  kept: ReadonlyMap<string, number>,
): string {
  const { differences, runs, requests, calls, callsRun, same } = report;
  const run = callsRun > 0 ? `, ${callsRun} of them run` : "";
  const lines = [
    `${content.sessionId}: ${same ? "the same" : pluralize(differences.length, "difference")}`,
    `${pluralize(runs, "run")}, ${pluralize(requests, "request")}, ${pluralize(calls, "tool call")} compared${run}`,
    ...Object.entries(report.notReplayed).map(([kind, count]) => `not run again: ${kind} (${count})`),
    ...[...kept].map(([reason, count]) => `from the record: ${pluralize(count, "call")} (${reason})`),
    ...differences.slice(0, MAX_DIFFERENCES).flatMap(differenceLines),
  ];
  if (differences.length > MAX_DIFFERENCES)
    lines.push(`and ${differences.length - MAX_DIFFERENCES} more; --json writes all`);
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

import { existsSync } from "node:fs";
import { currentFolder, userPaths } from "../../../coding/settings/paths.ts";
import { sessionStore } from "../../../coding/setup/open-session.ts";
import { removeSession } from "../../../coding/setup/undo-target.ts";
import type { JournalEntry, RunEndEntry } from "../../../core/agent/entries.ts";
import type { Spending } from "../../../core/agent/state.ts";
import { toNanoAgentError } from "../../../core/base/errors.ts";
import { pluralize } from "../../../core/base/text.ts";
import { messageText, toolCallsOf } from "../../../core/message/message.ts";
import { Scopes, type SubagentScope } from "../../../journal/scopes.ts";
import { type SessionUsage, SpendingTally, sessionUsage } from "../../../journal/session-usage.ts";
import { sessionSteps } from "../../../journal/steps.ts";
import {
  readSession,
  type SessionContent,
  sessionTitle,
  verifySession,
} from "../../../session/read-session.ts";
import { isSessionId } from "../../../session/session-file.ts";
import type { SessionFile } from "../../../session/session-store.ts";
import { describeDuration } from "../../../tools/shell/describe-result.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import type { ViewItem } from "../../../view/view.ts";
import { EMPTY_HOST, ViewFold } from "../../../view/view-fold.ts";
import type { CommandCall, SessionCall } from "../command-call.ts";
import { factLines, linePlace, listTime, say, tableLines, writeResult } from "../command-context.ts";
import { exportSession } from "./export-session.ts";

const ACTIONS: { readonly [name: string]: (call: SessionCall) => number | Promise<number> } = {
  list: listSessions,
  find: async (call) => (await import("./session-work.ts")).findCommand(call, call.words.join(" ")),
  show: (call) => (call.has("--stats") ? showStats : showSession)(call, chosenSession(call)),
  export: (call) => exportSession(call, chosenSession(call)),
  verify: verifySessions,
  compact: async (call) => (await import("./session-work.ts")).compactSession(call, chosenSession(call)),
  replay: async (call) => (await import("./session-work.ts")).replayCommand(call, chosenSession(call)),
  import: async (call) => (await import("./session-work.ts")).importCommand(call),
  rm: async (call) => {
    const { store } = call;
    const session = chosenSession(call);
    await removeSession({ paths: userPaths(call.environment), store }, session);
    call.stdout.write(`Removed ${session.sessionId}\n`);
    return EXIT.done;
  },
};

export async function sessions(call: CommandCall): Promise<number> {
  const store = sessionStore(userPaths(call.environment));
  const code = await ACTIONS[call.action]?.({ ...call, store, cwd: currentFolder() });
  return code ?? EXIT.usage;
}

/** The session a command names, by default the newest of the working directory. */
function chosenSession({ store, cwd, words }: SessionCall): SessionFile {
  const [id] = words;
  return id === undefined ? store.newest(cwd) : store.find(id, cwd);
}

function listSessions(call: SessionCall): number {
  const { store, cwd } = call;
  const sessions = store
    .list(call.has("--all") ? undefined : cwd)
    .map((session) => ({ ...session, title: sessionTitle(session.path) }));
  const lines = sessions.map(
    ({ sessionId, changedAt, title = "(no text)" }) =>
      `${listTime(changedAt)}  ${sessionId}  ${terminalLine(title, 70)}\n`,
  );
  return writeResult(
    call,
    sessions.map(({ sessionId, path, bytes, changedAt, title }) => ({
      session_id: sessionId,
      file: path,
      bytes,
      changed_at: new Date(changedAt).toISOString(),
      title: title ?? null,
    })),
    lines.join("") || `No sessions of ${terminalLine(cwd, 500)}. See --all.\n`,
  );
}

/**
 * Verifies session files, named by path or id, and writes one JSON line each; unreadable files are named on
 * standard error. Returns 0 if all are intact, 1 if damage was found, 2 if a file could not be read.
 */
function verifySessions(call: SessionCall): number {
  const { words, store, cwd } = call;
  let code: number = EXIT.done;
  for (const word of words) {
    try {
      const isId = isSessionId(word) && !existsSync(word);
      const check = verifySession(isId ? store.find(word, cwd).path : word);
      call.stdout.write(`${JSON.stringify(check)}\n`);
      if (!check.ok && code === EXIT.done) code = EXIT.failed;
    } catch (error) {
      say(call, toNanoAgentError(error).message);
      code = EXIT.usage;
    }
  }
  return code;
}

async function showSession(call: SessionCall, { path }: SessionFile): Promise<number> {
  const content = readSession(path);
  const stats = sessionUsage([...content.setAside, ...content.entries]);
  const title = sessionTitle(path);
  const { sessionLines } = await import("../../terminal/line-drawer.ts");
  const lines = sessionLines(content.entries, MAX_STEPS, linePlace(call));
  return writeResult(call, sessionJson(content, stats, title), sessionText(content, stats, title) + lines);
}

function sessionJson(
  { sessionId, path, header, damaged, records, entries }: SessionContent,
  stats: SessionUsage,
  title: string | undefined,
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

function sessionText(
  { sessionId, path, header, damaged, records, entries }: SessionContent,
  stats: SessionUsage,
  title: string | undefined,
): string {
  const lines = factLines([
    ["session", sessionId],
    ["file", path],
    ["folder", header?.cwd ?? "unknown"],
    ["copy of", header?.forkedFrom?.sessionId],
    ["began", timeText(header?.time ?? entries[0]?.time) ?? "unknown"],
    ["last", timeText(entries.at(-1)?.time) ?? "unknown"],
    ["first", terminalLine(title ?? "(no text)", 200)],
    ["records", `${records}${damaged.length === 0 ? "" : `, ${damaged.length} damaged`}`],
    ["runs", `${stats.runs}, the last one: ${stats.stopReason ?? "interrupted or still running"}`],
  ]);
  return `${lines.join("\n")}\n\n${usageText(stats)}`;
}

/** Maximum steps written; `--json` writes all. */
const MAX_STEPS = 200;

function showStats(call: SessionCall, { path }: SessionFile): number {
  const { sessionId, setAside, entries } = readSession(path);
  const stats = sessionUsage([...setAside, ...entries]);
  return writeResult(call, statsJson(sessionId, stats), statsText(sessionId, stats));
}

function statsJson(sessionId: string, stats: SessionUsage): object {
  const { models, tools, total, runs, runMs, toolMs, stopReason } = stats;
  return {
    session_id: sessionId,
    runs,
    stop_reason: stopReason ?? null,
    time: { run_ms: runMs, model_ms: total.durationMs, tool_ms: toolMs },
    total: modelJson(total),
    models: mapValues(models, modelJson),
    tools: mapValues(tools, ({ calls, failed, refused, durationMs }) => ({
      calls,
      errors: failed,
      refused,
      duration_ms: durationMs,
    })),
  };
}

function modelJson(used: Spending): object {
  return {
    requests: used.requests,
    interrupted: used.interrupted,
    input_tokens: used.usage.inputTokens,
    cache_read_tokens: used.usage.cacheReadTokens ?? 0,
    cache_write_tokens: used.usage.cacheWriteTokens ?? 0,
    cache_hit_rate: hitRate(used),
    output_tokens: used.usage.outputTokens,
    cost_usd: used.costUsd ?? null,
    duration_ms: used.durationMs,
  };
}

function mapValues<T>(values: { readonly [key: string]: T }, map: (value: T) => object): object {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]));
}

function statsText(sessionId: string, stats: SessionUsage): string {
  const times = `models ${describeDuration(stats.total.durationMs)}, tools ${describeDuration(stats.toolMs)}`;
  const runs = `${pluralize(stats.runs, "run")}, ${describeDuration(stats.runMs)}`;
  return `${sessionId}: ${runs} (${times})\n\n${usageText(stats)}`;
}

function usageText(stats: SessionUsage): string {
  const tables = usageTables(stats).filter((rows) => rows.length > 1);
  const safe = tables.map((rows) => rows.map((cells) => cells.map((cell) => terminalLine(cell, 60))));
  return safe.map((rows) => `${tableLines(rows, 1).join("\n")}\n`).join("\n");
}

type Table = readonly (readonly string[])[];

function usageTables({ models, tools, total }: SessionUsage): readonly [models: Table, tools: Table] {
  const rows = Object.entries(models);
  if (rows.length > 1) rows.push(["all", total]);
  return [
    [
      ["model", "requests", "input", "cached", "hits", "output", "cost", "time"],
      ...rows.map(([name, used]) => [name, ...modelCells(used)]),
    ],
    [
      ["tool", "calls", "errors", "refused", "time", "a call"],
      ...Object.entries(tools).map(([name, { calls, failed, refused, durationMs }]) => {
        const times = [describeDuration(durationMs), describeDuration(durationMs / calls)];
        return [name, ...[calls, failed, refused].map(String), ...times];
      }),
    ],
  ];
}

/** Share of the input that came from the provider's cache; `null` without input. */
function hitRate({ usage: { inputTokens, cacheReadTokens = 0 } }: Spending): number | null {
  return inputTokens === 0 ? null : Math.round((cacheReadTokens / inputTokens) * 1_000) / 1_000;
}

function modelCells(used: Spending): readonly string[] {
  const rate = hitRate(used);
  return [
    String(used.requests),
    String(used.usage.inputTokens),
    String(used.usage.cacheReadTokens ?? 0),
    rate === null ? "-" : `${Math.round(rate * 100)}%`,
    String(used.usage.outputTokens),
    used.costUsd === undefined ? "unknown" : `$${used.costUsd.toFixed(4)}`,
    describeDuration(used.durationMs),
  ];
}

export function stepsJson(entries: readonly JournalEntry[]): readonly object[] {
  let from = 0;
  const steps = sessionSteps(entries);
  const items = new Map(steps.map(({ answerAt }) => [answerAt, 0]));
  const fold = new ViewFold(EMPTY_HOST);
  const { items: all } = fold.view;
  for (const [at, entry] of entries.entries()) {
    if (items.has(at)) items.set(at, all.length);
    fold.apply(entry);
  }
  fold.endAbandonedRun();
  const runs = subagentRuns(entries);
  return steps.map(({ number: step, at, answerAt, run }, index) => {
    const input = entries.slice(from, at).flatMap(userTexts);
    from = answerAt + 1;
    const answer = entries[answerAt];
    const messages =
      answer?.type === "assistant_message"
        ? [answer.message]
        : answer?.type === "history"
          ? answer.messages
          : [];
    const subagents = subagentsIn(
      all.slice(items.get(answerAt), items.get(steps[index + 1]?.answerAt ?? entries.length)),
      runs,
    );
    return {
      step,
      run,
      time: timeText(answer?.time),
      input,
      text: messages.map((message) => messageText(message, "\n")).join("\n"),
      tools: messages.flatMap((message) => toolCallsOf(message).map(({ name }) => name)),
      ...(subagents.length === 0 ? {} : { subagents }),
    };
  });
}

interface SubagentRun {
  readonly model: string;
  readonly startedAt: number;
  /** Including its own subagents. */
  readonly spent: SpendingTally;
  readonly turns: { readonly text: string; readonly tools: readonly string[] }[];
  toolCalls: number;
  /** Calls that failed, were refused or were stopped. */
  failedCalls: number;
  durationMs: number;
  /** Undefined while it works, or if it was interrupted. */
  end: RunEndEntry | undefined;
}

type SubagentRuns = ReadonlyMap<string, SubagentRun>;

/** The key of a subagent: the path of calls that lead to it. */
function callPath({ callId, parent }: SubagentScope): string {
  return parent === undefined ? callId : `${callPath(parent)}/${callId}`;
}

function subagentRuns(entries: readonly JournalEntry[]): SubagentRuns {
  const scopes = new Scopes();
  const runs = new Map<string, SubagentRun>();
  for (const entry of entries) {
    for (let from = scopes.of(entry); from !== undefined; from = from.parent) {
      const path = callPath(from);
      if (entry.type === "run_start" && entry.scope === from.scope && !runs.has(path)) {
        const none = { toolCalls: 0, failedCalls: 0, durationMs: 0, end: undefined };
        const { model, time: startedAt } = entry;
        runs.set(path, { model, startedAt, spent: new SpendingTally(), turns: [], ...none });
      }
      const run = runs.get(path);
      if (run !== undefined) addToRun(run, entry, entry.scope === from.scope);
    }
  }
  return runs;
}

function addToRun(run: SubagentRun, entry: JournalEntry, isOwn: boolean): void {
  run.durationMs = Math.max(run.durationMs, entry.time - run.startedAt);
  run.spent.add(entry);
  if (!isOwn) return;
  if (entry.type === "run_end") run.end = entry;
  else if (entry.type === "run_resume") run.end = undefined;
  else if (entry.type === "assistant_message") {
    const { message } = entry;
    run.turns.push({ text: messageText(message, "\n"), tools: toolCallsOf(message).map(({ name }) => name) });
  } else if (entry.type === "tool_result") {
    run.toolCalls++;
    if (entry.status !== "ok") run.failedCalls++;
  }
}

function subagentsIn(items: readonly ViewItem[], runs: SubagentRuns, within = ""): readonly object[] {
  return items.flatMap((item) => {
    const path = item.type === "tool" ? within + item.callId : "";
    const run = runs.get(path);
    if (item.type !== "tool" || item.agent === undefined || run === undefined) return [];
    const { name: agent, items: inner } = item.agent;
    const { model, spent, toolCalls, failedCalls, durationMs, end, turns } = run;
    const { requests, usage, costUsd } = spent.total;
    const last = inner.findLast(({ type }) => type === "answer");
    const calls = inner.flatMap((each) =>
      each.type === "tool" ? [{ tool: each.name, title: each.title, state: each.state }] : [],
    );
    return [
      {
        call_id: item.callId,
        agent,
        model,
        state: item.state,
        requests,
        tool_calls: toolCalls,
        failed_calls: failedCalls,
        input_tokens: usage.inputTokens,
        output_tokens: usage.outputTokens,
        cost_usd: costUsd ?? null,
        duration_ms: durationMs,
        stop_reason: end?.stopReason ?? null,
        error: end?.error,
        detail: end?.detail,
        turns,
        calls,
        text: last?.type === "answer" ? last.text : "",
        subagents: subagentsIn(inner, runs, `${path}/`),
      },
    ];
  });
}

function userTexts(entry: JournalEntry): readonly string[] {
  if (entry.type !== "user_message" || entry.scope !== undefined) return [];
  const text = messageText(entry.message, "\n");
  return [text === "" ? "(no text)" : text];
}

/** An ISO time; null if it is missing or not a valid date. */
export function timeText(time: number | undefined): string | null {
  const date = new Date(time ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

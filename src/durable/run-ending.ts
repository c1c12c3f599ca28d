import type { JournalEntry } from "../core/agent/entries.ts";
import type { PendingCall, RunResult } from "../core/agent/result.ts";
import { pendingCalls, SessionState } from "../core/agent/state.ts";
import { NanoAgentError, recordedError } from "../core/base/errors.ts";
import { createIds } from "../core/base/ids.ts";
import { defined } from "../core/base/json.ts";
import { encodeRecord } from "../session/record.ts";
import type { Sql } from "./database.ts";
import { type EntryStore, entriesIn } from "./entry-store.ts";
import { lineOf } from "./run-journal.ts";
import type { RunRow, StoredReport } from "./run-row.ts";
import type { RunStore } from "./run-store.ts";

/** An end that a run did not come to by itself. */
export type OutsideEnd =
  | { readonly stopReason: "aborted"; readonly detail?: string }
  | { readonly stopReason: "budget"; readonly limit: "wall_time"; readonly detail: string }
  | { readonly stopReason: "error"; readonly error: NanoAgentError };

/** The fold of a journal. */
export function foldOf(entries: readonly JournalEntry[]): SessionState {
  const state = new SessionState();
  for (const entry of entries) state.apply(entry);
  return state;
}

/** The calls that a run waits for; none while it does not wait. */
export function waitingCalls(state: SessionState): readonly PendingCall[] {
  return state.isWaiting ? pendingCalls(state) : [];
}

/** The calls that take an answer, also while a worker goes on with those that were answered before. */
export function awaitedCalls(entries: readonly JournalEntry[]): readonly PendingCall[] {
  const state = new SessionState();
  let outside: readonly string[] = [];
  for (const entry of entries) {
    state.apply(entry);
    if (state.isWaiting) outside = pendingCalls(state).flatMap(resultId);
    else if (!state.transcript.hasPending) outside = [];
  }
  return pendingCalls(state).filter(
    ({ callId, waitsFor }) => waitsFor === "approval" || outside.includes(callId),
  );
}

/** The id of a call whose result comes from outside. */
function resultId({ callId, waitsFor }: PendingCall): readonly string[] {
  return waitsFor === "result" ? [callId] : [];
}

/** The end of a run whose deadline is over. */
export function overdueEnd(deadline: number): OutsideEnd {
  const detail = `Its deadline was ${new Date(deadline).toISOString()}.`;
  return { stopReason: "budget", limit: "wall_time", detail };
}

/** The end of a run that was cancelled; `reason` is JSON. */
export function cancelledEnd(reason: string): OutsideEnd {
  return { stopReason: "aborted", detail: JSON.parse(reason) as string };
}

/** The entry of such an end. */
export function endEntry(
  state: SessionState,
  end: OutsideEnd,
): Omit<Extract<JournalEntry, { readonly type: "run_end" }>, "id" | "parent" | "time"> {
  const { stopReason, limit, detail, error } = fieldsOf(end);
  return {
    type: "run_end",
    stopReason,
    iterations: state.progress.iterations,
    ...defined({ limit, detail, error: error && { code: error.code, message: error.message } }),
  };
}

/** The part of it that is kept beside the journal. */
export function reportOfEnd(state: SessionState, end: OutsideEnd): StoredReport {
  const { stopReason, limit, detail, error } = fieldsOf(end);
  return {
    text: state.progress.lastText,
    stopReason,
    ...defined({ limit, detail, error: error && recordedError(error) }),
    iterations: state.progress.iterations,
    usage: state.run.usage,
    cost: state.run.costUsd,
  };
}

function fieldsOf(end: OutsideEnd): {
  readonly stopReason: OutsideEnd["stopReason"];
  readonly limit?: "wall_time";
  readonly detail?: string;
  readonly error?: NanoAgentError;
} {
  return end;
}

/** The part of a result that is kept beside the journal. */
export function reportOfResult(result: RunResult): StoredReport {
  const { text, stopReason, output, limit, circle, detail, error, iterations, usage, cost } = result;
  return {
    text,
    stopReason,
    ...defined({ output, limit, circle, detail, error: error && recordedError(error) }),
    iterations,
    usage,
    cost,
  };
}

/** The result that was kept, with its conversation. */
export function resultOfReport(
  run: string,
  report: StoredReport,
  entries: readonly JournalEntry[],
): RunResult {
  const { error, cost, ...fields } = report;
  const { code, message, details, retryable } = error ?? {};
  return {
    ...fields,
    ...(code !== undefined && {
      error: new NanoAgentError(code, message ?? "", defined({ details, retryable })),
    }),
    cost,
    messages: foldOf(entries).transcript.messages.slice(),
    sessionId: run,
  } as RunResult;
}

/** Ends a run that no worker holds; false where one does, or it has ended. */
export async function endIdle(
  { runs, entries }: { readonly runs: RunStore; readonly entries: EntryStore },
  sql: Sql,
  { id, end }: { readonly id: string; readonly end: (row: RunRow) => OutsideEnd },
): Promise<boolean> {
  const row = await runs.claimIdle(id, sql);
  if (row === undefined) return false;
  const state = foldOf(entriesIn(await entries.read(sql, id)));
  const ending = end(row);
  const base = { id: createIds()("entry"), parent: row.newest, time: Date.now() };
  const { bytes } = encodeRecord({ ...base, ...endEntry(state, ending) });
  await entries.append(sql, {
    run: id,
    epoch: row.epoch,
    after: row.seq,
    ids: [base.id],
    records: [lineOf(bytes)],
    isProgress: true,
    took: [],
  });
  await runs.end(sql, id, reportOfEnd(state, ending));
  return true;
}

import type { Journal } from "../core/agent/journal.ts";
import { JsonlJournal } from "../session/jsonl-journal.ts";
import { type Environment, variable } from "./config/env.ts";

/** What the commands of a run carry, so that they are found when the run was killed: the writer of its session. */
export function runMark(journal: Journal | undefined): string | undefined {
  return journal instanceof JsonlJournal ? journal.writer : undefined;
}

/** Milliseconds between the request to end and the kill. */
const GRACE_MS = 2_000;

/**
 * Ends what the commands of a run left behind that was killed at work on this session, and says so: nobody else would. Costs nothing where
 * the session was given back in good order.
 */
export async function endLeftRunning(
  journal: Journal,
  {
    environment,
    onNotice,
  }: { readonly environment: Environment; readonly onNotice: (message: string) => void },
): Promise<void> {
  const mark = journal instanceof JsonlJournal ? journal.killedWriter : undefined;
  if (mark === undefined) return;
  const [{ endProcesses }, { findProcesses }, { CALL_VARIABLE }] = await Promise.all([
    import("../tools/shell/end-processes.ts"),
    import("../tools/shell/process-table.ts"),
    import("../tools/shell/shell.ts"),
  ]);
  // Started from such a command, this process would end what it runs in.
  if (variable(environment, CALL_VARIABLE)?.includes(mark) === true) return;
  const query = { mark, roots: [] };
  const left = await findProcesses(query);
  if (left.length === 0) return;
  const stayed = await endProcesses(query, { graceMs: GRACE_MS });
  const names = left.slice(0, 3).map(({ pid, command }) => `${command} (${pid})`);
  const more = left.length > names.length ? `, and ${left.length - names.length} more` : "";
  const end = stayed.length === 0 ? "and was ended" : "and could not be ended";
  onNotice(
    `The last run was killed. What its commands had started still ran ${end}: ${names.join(", ")}${more}.`,
  );
}

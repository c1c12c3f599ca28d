import type { Journal } from "../core/agent/journal.ts";
import { JsonlJournal } from "../session/jsonl-journal.ts";
import { endProcesses } from "../tools/shell/end-processes.ts";
import { findProcesses } from "../tools/shell/process-table.ts";
import { CALL_VARIABLE } from "../tools/shell/shell.ts";
import { about, type OnNotice } from "./coding-session/notice.ts";
import { type Environment, variable } from "./config/env.ts";

/** What {@link markedJournal} is given. */
interface MarkedJournalOptions {
  readonly settings: { readonly environment: Environment };
  readonly openJournal: () => Promise<Journal>;
  readonly onNotice: OnNotice;
}

/**
 * A journal whose writer is the mark that the commands of the run carry, so that they are found when the run
 * is killed; what a killed one left running is ended when it is opened.
 */
export function markedJournal({ settings, openJournal, onNotice }: MarkedJournalOptions): {
  readonly mark: () => string | undefined;
  readonly openJournal: () => Promise<Journal>;
} {
  let journal: Journal | undefined;
  return {
    mark: () => (journal instanceof JsonlJournal ? journal.writer : undefined),
    openJournal: async () => {
      journal = await openJournal();
      await endLeftRunning(journal, { environment: settings.environment, onNotice });
      return journal;
    },
  };
}

/** Milliseconds between the request to end and the kill. */
const GRACE_MS = 2_000;

/**
 * Ends what the commands of a run left behind that was killed at work on this session, and says so: nobody
 * else would. Costs nothing where the session was given back in good order.
 */
async function endLeftRunning(
  journal: Journal,
  { environment, onNotice }: { readonly environment: Environment; readonly onNotice: OnNotice },
): Promise<void> {
  const mark = journal instanceof JsonlJournal ? journal.killedWriter : undefined;
  if (mark === undefined) return;
  // Started from such a command, this process would end what it runs in.
  if (variable(environment, CALL_VARIABLE)?.includes(mark) === true) return;
  const query = { mark, roots: [] };
  const left = await findProcesses(query);
  if (left.length === 0) return;
  const stayed = await endProcesses(query, { graceMs: GRACE_MS });
  const names = left.slice(0, 3).map(({ pid, command }) => `${command} (${pid})`);
  const more = left.length > names.length ? `, and ${left.length - names.length} more` : "";
  const end = stayed.length === 0 ? "and was ended" : "and could not be ended";
  about(
    "left_running",
    onNotice,
  )(`The last run was killed. What its commands had started still ran ${end}: ${names.join(", ")}${more}.`);
}

import { endProcesses } from "../tools/shell/end-processes.ts";
import { findProcesses } from "../tools/shell/process-table.ts";
import { CALL_VARIABLE } from "../tools/shell/shell.ts";
import type { OnNotice } from "./coding-session/notice.ts";
import { type Environment, variable } from "./config/env.ts";
import type { OpenSession } from "./open-session.ts";

/** Milliseconds between the request to end and the kill. */
const GRACE_MS = 2_000;

/**
 * Ends what the commands of a run left behind that was killed at work on this session, and says so: nobody
 * else would. Costs nothing where the session was given back in good order.
 */
export async function endLeftRunning(
  { kept }: OpenSession,
  { environment, onNotice }: { readonly environment: Environment; readonly onNotice: OnNotice },
): Promise<void> {
  const mark = kept?.killedWriter;
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
  const message = `The last run was killed. What its commands had started still ran ${end}: ${names.join(", ")}${more}.`;
  onNotice({ level: "warning", code: "left_running", message });
}

import { misuse, NanoAgentError, toNanoAgentError } from "../../../core/base/errors.ts";
import type { DurableState } from "../../../durable/durable-run.ts";
import { createFleet, type Fleet } from "../../../durable/fleet.ts";
import { variable } from "../../../system/env.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { type CommandCall, numberOf } from "../command-call.ts";
import { answer, type CommandContext, lookOf, say } from "../command-context.ts";
import { newestEntries, runJson, runLines, runTable } from "./run-text.ts";
import { withoutPassword } from "./shown-url.ts";

/** The variable that names the database, for those who do not want its password in a command line. */
const VARIABLE = "NANO_AGENT_DATABASE_URL";

const LIMIT = { least: 1, most: 999_999, what: "how many runs to list, from 1" };

interface RunsCall extends CommandCall {
  readonly context: CommandContext;
  readonly fleet: Fleet;
}

const ACTIONS: { readonly [name: string]: (call: RunsCall) => Promise<void> } = {
  list: async (call) => {
    const state = call.text("--state") as DurableState | undefined;
    const agent = call.text("--agent");
    const limit = numberOf(call, "--limit", LIMIT) ?? 50;
    const found = await call.fleet.list({
      limit,
      ...(state !== undefined && { state }),
      ...(agent !== undefined && { agent }),
    });
    answer(call.context, call, {
      json: () => found.map(runJson),
      text: () => runTable(found, { now: Date.now(), limit }),
    });
  },
  show: async (call) => {
    const run = call.fleet.run(idOf(call));
    const status = await run.status();
    const entries = await newestEntries(run, status.entries);
    answer(call.context, call, {
      json: () => ({ ...runJson(status), journal: entries }),
      text: () => runLines(status, entries, lookOf(call.context)),
    });
  },
  cancel: async (call) => {
    const run = call.fleet.run(idOf(call));
    const { state, stopReason } = await run.status();
    await run.cancel(call.text("--reason"));
    const ended = `${run.id} had ended before (${stopReason ?? "unknown"}): there is nothing to cancel.`;
    call.context.stdout.write(`${state === "ended" ? ended : `Cancelled ${run.id}.`}\n`);
  },
  retry: async (call) => {
    await call.fleet.run(idOf(call)).retry();
    call.context.stdout.write(`${idOf(call)} is handed out again.\n`);
  },
  approve: async (call) => {
    const [, callId = ""] = call.words;
    const reason = call.text("--reason");
    const isDenied = call.has("--deny");
    if (reason !== undefined && !isDenied)
      throw misuse("--reason says why a call is refused: give --deny with it.");
    const no = reason === undefined ? { approved: false } : { approved: false, reason };
    await call.fleet.run(idOf(call)).approve(callId, isDenied ? no : true);
    call.context.stdout.write(`${isDenied ? "Refused" : "Approved"} ${callId} of ${idOf(call)}.\n`);
  },
};

/** Does one thing about the runs of a database, with a fleet that works on nothing. */
export async function aboutRuns(context: CommandContext, call: CommandCall): Promise<number> {
  const databaseUrl = call.text("--database") ?? variable(context.environment, VARIABLE);
  if (databaseUrl === undefined)
    throw misuse(`Which database? Write --database postgres://…, or set ${VARIABLE}.`);
  const schema = call.text("--schema");
  try {
    await using fleet = await createFleet({
      databaseUrl,
      concurrency: 0,
      onWarning: (message) => say(context, withoutPassword(message, databaseUrl)),
      ...(schema !== undefined && { schema }),
    });
    await ACTIONS[call.action]?.({ ...call, context, fleet });
    return EXIT.done;
  } catch (thrown) {
    const error = toNanoAgentError(thrown);
    throw new NanoAgentError(error.code, withoutPassword(error.message, databaseUrl), { cause: error });
  }
}

function idOf({ words: [id = ""] }: CommandCall): string {
  return id;
}

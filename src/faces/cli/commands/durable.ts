import { existsSync } from "node:fs";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { currentFolder } from "../../../coding/settings/paths.ts";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import {
  errorMessage,
  invalidArgument,
  invalidConfig,
  NanoAgentError,
  toNanoAgentError,
} from "../../../core/base/errors.ts";
import { isRecord, omitUndefined } from "../../../core/base/json.ts";
import { pluralize } from "../../../core/base/text.ts";
import type { DurableRun, DurableState, FleetOptions, RunStatus } from "../../../durable/durable-run.ts";
import { createFleet, type Fleet } from "../../../durable/fleet.ts";
import { variable } from "../../../system/env.ts";
import { EXIT, SIGNAL_EXITS } from "../../../view/exit-code.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import { ageText } from "../../text/amounts.ts";
import { type CommandCall, numberOf } from "../command-call.ts";
import {
  type CommandContext,
  factLines,
  linePlace,
  say,
  type TextLayout,
  tableLines,
  textLayoutOf,
  writeResult,
} from "../command-context.ts";
import { EndingSignals, untilAborted } from "../ending-signals.ts";
import { timeText } from "./sessions.ts";

/** The variable with the database address, which keeps its password out of the command line. */
const VARIABLE = "NANO_AGENT_DATABASE_URL";

const LIMIT = { least: 1, most: 999_999, what: "how many runs to list, from 1" };

interface RunsCall extends CommandCall {
  readonly fleet: Fleet;
}

const ACTIONS: { readonly [name: string]: (call: RunsCall) => Promise<void> } = {
  list: async (call) => {
    const state = call.text("--state") as DurableState | undefined;
    const agent = call.text("--agent");
    const limit = numberOf(call, "--limit", LIMIT) ?? 50;
    const found = await call.fleet.list({ limit, ...omitUndefined({ state, agent }) });
    writeResult(call, found.map(runJson), runTable(found, limit));
  },
  show: async (call) => {
    const run = runOf(call);
    const status = await run.status();
    const entries = await firstEntries(run, status.entries);
    const { sessionLines } = await import("../../terminal/line-drawer.ts");
    const conversation = sessionLines(entries, SHOWN_STEPS, linePlace(call));
    const json = { ...runJson(status), journal: entries.slice(-SHOWN_ENTRIES) };
    writeResult(call, json, `${runLines(status, textLayoutOf(call))}${conversation}`);
  },
  cancel: async (call) => {
    const run = runOf(call);
    const { state, stopReason } = await run.status();
    await run.cancel(call.text("--reason"));
    const ended = `${run.id} had ended before (${stopReason ?? "unknown"}): there is nothing to cancel.`;
    call.stdout.write(`${state === "ended" ? ended : `Cancelled ${run.id}.`}\n`);
  },
  retry: async (call) => {
    await runOf(call).retry();
    call.stdout.write(`${call.words[0]} is handed out again.\n`);
  },
  approve: async (call) => {
    const [, callId = ""] = call.words;
    const reason = call.text("--reason");
    const isDenied = call.has("--deny");
    if (reason !== undefined && !isDenied)
      throw invalidArgument("--reason says why a call is refused: give --deny with it.");
    const no = { approved: false, ...omitUndefined({ reason }) };
    await runOf(call).approve(callId, isDenied ? no : true);
    call.stdout.write(`${isDenied ? "Refused" : "Approved"} ${callId} of ${call.words[0]}.\n`);
  },
};

/** Performs one action on a database's runs, with a fleet that processes none. */
export async function runsCommand(call: CommandCall): Promise<number> {
  const databaseUrl = call.text("--database") ?? variable(call.environment, VARIABLE);
  if (databaseUrl === undefined)
    throw invalidArgument(`Which database? Write --database postgres://…, or set ${VARIABLE}.`);
  const schema = call.text("--schema");
  try {
    await using fleet = await createFleet({
      databaseUrl,
      concurrency: 0,
      onWarning: (message) => say(call, withoutPassword(message, databaseUrl)),
      ...(schema !== undefined && { schema }),
    });
    await ACTIONS[call.action]?.({ ...call, fleet });
    return EXIT.done;
  } catch (thrown) {
    const error = toNanoAgentError(thrown);
    throw new NanoAgentError(error.code, withoutPassword(error.message, databaseUrl), { cause: error });
  }
}

function runOf({ fleet, words: [id = ""] }: RunsCall): DurableRun {
  return fleet.run(id);
}

/** Maximum entries and steps of a run that are shown, the newest. */
const SHOWN_ENTRIES = 20;
const SHOWN_STEPS = 10;

function runJson(status: RunStatus): object {
  const { id, agent, state, version, priority, deadline, entries, worker, losses, pending } = status;
  return {
    id,
    agent,
    state,
    version: version ?? null,
    priority,
    deadline: timeText(deadline),
    entries,
    worker: worker ?? null,
    losses,
    pending: pending.map(({ callId, waitsFor, ...call }) => ({
      call_id: callId,
      waits_for: waitsFor,
      ...call,
    })),
    stop_reason: status.stopReason ?? null,
    error: status.error ?? null,
    created_at: timeText(status.createdAt),
    changed_at: timeText(status.changedAt),
    ended_at: timeText(status.endedAt),
  };
}

function runTable(runs: readonly RunStatus[], limit: number): string {
  if (runs.length === 0) return "There are no such runs.\n";
  const rows = runs.map((run) => [
    run.state,
    terminalLine(run.agent, 24),
    terminalLine(run.id, 40),
    ageText(Date.now() - run.createdAt),
    String(run.entries),
    terminalLine(statusText(run), 80),
  ]);
  const lines = [...tableLines([["STATE", "AGENT", "ID", "AGE", "ENTRIES", "STATUS"], ...rows])];
  if (runs.length === limit) lines.push(`The newest ${limit}; --limit shows more.`);
  return `${lines.join("\n")}\n`;
}

function runLines(status: RunStatus, { style }: TextLayout): string {
  const lines = factLines([
    ["run", status.id],
    ["agent", status.agent],
    ["state", `${status.state}${status.worker === undefined ? "" : `, by ${status.worker}`}`],
    ["how", statusText(status)],
    ["version", status.version],
    ["priority", status.priority === 0 ? "" : String(status.priority)],
    ["deadline", timeText(status.deadline) ?? ""],
    ["started", timeText(status.createdAt) ?? ""],
    ["ended", timeText(status.endedAt) ?? ""],
    ["lost", status.losses === 0 ? "" : `${pluralize(status.losses, "worker")} since it came further`],
  ]);
  const pending = status.pending.flatMap(({ callId, name, input, waitsFor, reason }) => [
    "",
    `${style.bold("waits")} ${waitsFor === "approval" ? "for a yes" : "for its result"}: call ${terminalLine(callId, 80)}`,
    `  ${terminalLine(`${name} ${JSON.stringify(input)}`, 300)}`,
    ...(reason === undefined ? [] : [`  ${terminalLine(reason, 300)}`]),
  ]);
  return `${[...lines, ...pending].join("\n")}\n`;
}

/** Exactly `count` entries: later ones may not exist yet. */
async function firstEntries(run: DurableRun, count: number): Promise<readonly JournalEntry[]> {
  const entries: JournalEntry[] = [];
  if (count === 0) return entries;
  for await (const entry of run.events()) if (entries.push(entry) === count) break;
  return entries;
}

function statusText({ state, pending, stopReason, error }: RunStatus): string {
  if (state === "waiting") return `waits for ${pending.map(({ name }) => name).join(", ")}`;
  if (state !== "ended") return "";
  return error === undefined ? (stopReason ?? "") : `${stopReason}: ${error}`;
}

/**
 * Processes the runs configured by a module until SIGINT or SIGTERM; then releases them and exits with 0. A
 * second signal ends it at once, as does a first one before its database is open.
 */
export async function runWorker(call: CommandCall): Promise<number> {
  const file = call.text("--config");
  if (file === undefined)
    throw invalidArgument("worker needs to know what to work on: nano-agent worker --config worker.mjs");
  const concurrency = numberOf(call, "--concurrency", {
    least: 1,
    most: 999_999,
    what: "how many runs to work on at the same time, from 1",
  });
  using signals = new EndingSignals();
  const opened = await Promise.race([
    loadWorkerConfig(file, currentFolder()).then(async (loaded) => {
      const options = { ...loaded, ...omitUndefined({ concurrency }) };
      return { options, fleet: await openFleet(call, file, options) };
    }),
    signals.forced,
  ]);
  if (typeof opened === "string") return SIGNAL_EXITS[opened];
  call.stdout.write(`${startText(opened.options)}\n`);
  // Releasing takes as long as the options allow; only a second signal cuts it short.
  signals.allowGrace(Number.POSITIVE_INFINITY);
  await untilAborted(signals.signal);
  call.stdout.write("Releasing the runs in progress. Press again to quit immediately.\n");
  const forced = await Promise.race([opened.fleet.close(), signals.forced]);
  return forced === undefined ? EXIT.done : SIGNAL_EXITS[forced];
}

function openFleet(context: CommandContext, file: string, options: FleetOptions): Promise<Fleet> {
  const { databaseUrl } = options;
  return createFleet({
    ...options,
    onWarning: (message) => {
      say(context, withoutPassword(message, databaseUrl));
      options.onWarning?.(message);
    },
  }).catch((error: unknown) => {
    throw configError(file, error, databaseUrl);
  });
}

function startText({
  agents = {},
  concurrency = 50,
  version = "1",
  databaseUrl,
  dataDir,
}: FleetOptions): string {
  const names = Object.keys(agents).join(", ");
  const place = databaseUrl === undefined ? dataDir : printableUrl(databaseUrl);
  return `Working on ${names}: up to ${pluralize(concurrency, "run")} at the same time, version ${version}, from ${place}. Ctrl+C releases them.`;
}

/** An error whose message may be printed. Invalid options are an error in the file. */
function configError(file: string, thrown: unknown, url: string | undefined): NanoAgentError {
  const error = toNanoAgentError(thrown);
  const message = withoutPassword(error.message, url);
  if (error.code === "invalid_argument") return invalidConfig(`${file}: ${message}`, { cause: error });
  return new NanoAgentError(error.code, message, { cause: error });
}

/** A printable database address: without its password and parameters. */
function printableUrl(url: string): string {
  const parts = /^([a-z][a-z\d+.-]*:\/\/)(?:([^/?#]*)@)?([^?#]*)/i.exec(url);
  if (parts === null) return "(an address that cannot be read)";
  const [, protocol = "", login, place = ""] = parts;
  const user = login?.split(":")[0];
  return `${protocol}${user === undefined || user === "" ? "" : `${user}@`}${place}`;
}

/** Removes the passwords of a database address from text such as an error message. */
function withoutPassword(text: string, url: string | undefined): string {
  if (url === undefined) return text;
  const [, login = ""] = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)@/i.exec(url) ?? [];
  const asParameter = [...url.matchAll(/[?&]password=([^&#]*)/gi)].map(([, value = ""]) => value);
  const inLogin = login.includes(":") ? [login.slice(login.indexOf(":") + 1)] : [];
  const secrets = [...asParameter, ...inLogin].flatMap((secret) => [secret, decodeUri(secret)]);
  return [url, ...secrets]
    .filter((secret) => secret !== "")
    .reduce((rest, secret) => rest.replaceAll(secret, secret === url ? printableUrl(url) : "***"), text);
}

function decodeUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Kept as the user wrote it.
    return text;
  }
}

/**
 * Loads the options of a module: its default export, or the result if that is a function. Throws
 * `invalid_config` for a file that is missing or cannot be loaded, and for options no worker can use.
 */
async function loadWorkerConfig(file: string, cwd: string): Promise<FleetOptions> {
  const path = resolve(cwd, file);
  if (!existsSync(path))
    throw invalidConfig(`There is no ${path}. Name a module whose default export is the options of a fleet.`);
  const options = await rejectIfIdle(
    file,
    importDefault(path, file).then((exported) => resolveOptions(file, exported)),
  );
  if (!isRecord(options))
    throw invalidConfig(
      `${file} has ${options === undefined ? "no default export" : "a default export of another kind"}: export default { databaseUrl, agents }, or a function that gives that.`,
    );
  const { agents, databaseUrl, dataDir, concurrency } = options as FleetOptions;
  if (!isRecord(agents) || Object.keys(agents).length === 0)
    throw invalidConfig(
      `${file} names no agents, so there is nothing to work on: agents: { triage: (host) => new Agent({ model, ...host }) }.`,
    );
  if (databaseUrl === undefined && dataDir === undefined)
    throw invalidConfig(
      `${file} names no database: without databaseUrl (or dataDir) runs are in the memory of this process, so no other process can start one.`,
    );
  if (concurrency === 0)
    throw invalidConfig(
      `${file} says concurrency: 0, which works on nothing. Leave it out, or give --concurrency.`,
    );
  return options;
}

/** Rejects if nothing is left to do: the process would otherwise end without a message. */
async function rejectIfIdle<T>(file: string, loading: Promise<T>): Promise<T> {
  const idle = Promise.withResolvers<never>();
  const onIdle = (): void =>
    idle.reject(invalidConfig(`${file} is never loaded: it waits for something that does not come.`));
  process.once("beforeExit", onIdle);
  try {
    return await Promise.race([loading, idle.promise]);
  } finally {
    process.off("beforeExit", onIdle);
  }
}

async function importDefault(path: string, file: string): Promise<unknown> {
  try {
    const module: { readonly default?: unknown } = await import(pathToFileURL(path).href);
    return module.default;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const advice =
      code === "ERR_UNKNOWN_FILE_EXTENSION"
        ? ` Node ${process.versions.node} cannot load ${extname(path)} files: write .mjs, or take Node 24.`
        : "";
    throw invalidConfig(`${file} cannot be loaded: ${errorMessage(error)}.${advice}`.replace("..", "."), {
      cause: error,
    });
  }
}

async function resolveOptions(file: string, exported: unknown): Promise<unknown> {
  const isFunction = typeof exported === "function";
  try {
    const options = isFunction ? await (exported as () => unknown)() : exported;
    // Copied here, because reading them may also fail.
    return isRecord(options) ? { ...options } : options;
  } catch (error) {
    const what = isFunction ? `The function in ${file} failed` : `The options in ${file} cannot be read`;
    throw invalidConfig(`${what}: ${toNanoAgentError(error).message}`, { cause: error });
  }
}

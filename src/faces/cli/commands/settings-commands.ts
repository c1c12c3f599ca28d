import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import type { ImportReport } from "../../../coding/import-settings/apply-import.ts";
import {
  IMPORT_SOURCES,
  type ImportItem,
  type ImportPlan,
  type ImportSource,
} from "../../../coding/import-settings/import-plan.ts";
import { findMcpServers, unusableServerText } from "../../../coding/mcp/find-servers.ts";
import { userPaths } from "../../../coding/settings/paths.ts";
import { PLACED_SETTINGS } from "../../../coding/settings/setting-table.ts";
import type { Settings } from "../../../coding/settings/settings.ts";
import { openSettingsSandbox, sandboxMode, shellEnvironment } from "../../../coding/setup/confine.ts";
import { openModel } from "../../../coding/setup/open-model.ts";
import { sessionStore } from "../../../coding/setup/open-session.ts";
import { errorMessage, invalidArgument } from "../../../core/base/errors.ts";
import { revealInvisible } from "../../../core/base/hidden-characters.ts";
import { isRecord } from "../../../core/base/json.ts";
import { didYouMean, pluralize } from "../../../core/base/text.ts";
import { findLocalServers } from "../../../providers/local/local-servers.ts";
import { chooseModel } from "../../../providers/model-choice.ts";
import { type Environment, variable } from "../../../system/env.ts";
import { CALL_VARIABLE } from "../../../system/process-watcher.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { untrustedText } from "../../../view/notice-text.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import { confirmItems } from "../answer-questions.ts";
import type { CommandCall } from "../command-call.ts";
import {
  type CommandContext,
  loadLocalSettings,
  say,
  textLayoutOf,
  wrapText,
  writeResult,
} from "../command-context.ts";
import { untilAborted, withSignals } from "../ending-signals.ts";

/** `nano-agent config`: the effective settings and their sources. Secrets are masked. */
export async function config(call: CommandCall): Promise<number> {
  const { config: effective, paths, trust } = await loadLocalSettings(call);
  for (const notice of effective.notices) say(call, notice);
  if (trust.leftOut.length > 0) say(call, untrustedText(trust.leftOut));
  const rows = [...effective.sources]
    .map(([key, source]) => ({ key, value: masked(key, valueAt(effective.values, key)), source }))
    .sort((left, right) => left.key.localeCompare(right.key, "en"));
  const none = `Nothing is set. Your own settings go to ${paths.configFolder}/config.json, a project's to nano-agent.json.`;
  const lines = rows.map(
    ({ key, value, source }) =>
      `${key} = ${terminalLine(JSON.stringify(value), 200)}  (${terminalLine(source, 300)})`,
  );
  return writeResult(call, rows, `${lines.join("\n") || none}\n`);
}

function valueAt(values: object, path: string): unknown {
  const dot = path.indexOf(".");
  const [first, rest] = dot === -1 ? [path, ""] : [path.slice(0, dot), path.slice(dot + 1)];
  const value = isRecord(values) ? values[first] : undefined;
  return rest === "" ? value : isRecord(value) ? value[rest] : undefined;
}

/** Headers may contain keys, and addresses passwords. */
function masked(key: string, value: unknown): unknown {
  if (typeof value === "string") return value.replace(/(\/\/)[^/@\s]+@/g, "$1***@");
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([name, item]): [string, unknown] => {
    if (name !== "headers" || !isRecord(item)) return [name, masked(`${key}.${name}`, item)];
    return [name, Object.fromEntries(Object.keys(item).map((header) => [header, "***"]))];
  });
  return Object.fromEntries(entries);
}

interface Check {
  readonly name: string;
  /** `bad`: a run cannot work · `warn`: something works less well. */
  readonly state: "ok" | "warn" | "bad";
  readonly message: string;
}

/** `nano-agent doctor`: checks what a run needs, without a provider. Exit 1 if something is missing. */
export async function doctor(call: CommandCall): Promise<number> {
  // Code loaded by a check may listen for signals too, and then the process no longer ends by itself.
  return withSignals(({ signal }) =>
    Promise.race([report(call), untilAborted(signal).then(() => EXIT.failed)]),
  );
}

async function report(call: CommandCall): Promise<number> {
  const checks = await runChecks(call);
  const { style } = textLayoutOf(call);
  const marks = { ok: style.green("✓"), warn: style.yellow("!"), bad: style.red("✗") };
  const lines = checks.map(({ name, state, message }) => {
    // The problem on one line, the remedy on the next.
    const [what = "", ...todo] = terminalLine(message, 1_000).split(/(?<=\.) (?=[A-Z])/);
    const rest =
      state === "ok" || todo.length === 0 ? todo.join(" ") : `\n    ${style.bold("→")} ${todo.join(" ")}`;
    return `${marks[state]} ${name}: ${what}${rest === "" || rest.startsWith("\n") ? "" : " "}${rest}\n`;
  });
  const missing = checks.filter(({ state }) => state !== "ok").map(({ name }) => name);
  const end =
    missing.length === 0 ? "Nothing is missing.\n" : `Missing: ${[...new Set(missing)].join(", ")}.\n`;
  writeResult(call, checks, `${lines.join("")}\n${end}`);
  return checks.some(({ state }) => state === "bad") ? EXIT.failed : EXIT.done;
}

async function runChecks(context: CommandContext): Promise<readonly Check[]> {
  const checks: Check[] = [
    { name: "Node", state: "ok", message: `${process.versions.node} (${process.execPath})` },
    programCheck(
      "bash",
      context.environment["PATH"],
      "Commands run in sh instead. Install bash for the syntax that models write.",
    ),
    programCheck(
      "git",
      context.environment["PATH"],
      "Install git, so that the agent can look at the history of a project.",
    ),
    {
      ...programCheck("rg", context.environment["PATH"], "The search that comes with nano-agent is used."),
      state: "ok",
    },
  ];
  const check = (name: string, state: Check["state"], message: string): number =>
    checks.push({ name, state, message });
  let settings: Settings;
  try {
    settings = await loadLocalSettings(context);
  } catch (error) {
    check("Settings", "bad", errorMessage(error));
    return checks;
  }
  const { environment } = settings;
  const { notices, sources, values } = settings.config;
  check("Settings", "ok", `${pluralize(sources.size, "value")} set; see nano-agent config`);
  check("Commands", "ok", variablesSeen(settings));
  checks.push(sessionsCheck(sessionStore(settings.paths).root), await sandboxCheck(settings));
  checks.push(...(await serverChecks(settings)));
  for (const notice of [...notices, ...unknownVariables(environment)]) check("Settings", "warn", notice);
  for (const server of await findLocalServers({ environment, config: values })) {
    const { provider, baseUrl, models, isLoading } = server;
    const state = isLoading === true ? "and is loading its model" : pluralize(models.length, "model");
    check(provider, "ok", `answers at ${baseUrl}, ${state}`);
  }
  try {
    const { name, source } = await chooseModel(settings);
    await openModel(name, { environment, config: values, onNotice: () => undefined });
    check("Model", "ok", `${name}, because of ${source}. nano-agent auth check tries it`);
  } catch (error) {
    check("Model", "bad", errorMessage(error));
  }
  return checks;
}

/** Checks that sessions can be stored, or their folders created. */
function sessionsCheck(root: string): Check {
  let folder = root;
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
  try {
    // `.` exists only below a folder.
    accessSync(`${folder}/.`, constants.W_OK);
    return { name: "Sessions", state: "ok", message: `kept in ${root}` };
  } catch (error) {
    const message = `cannot be kept in ${root}: ${errorMessage(error)}. Make room for them, or run with --no-session`;
    return { name: "Sessions", state: "bad", message };
  }
}

/** Checks for MCP servers whose definition or program is unusable. Starts none: `mcp test` does that. */
async function serverChecks(settings: Settings): Promise<readonly Check[]> {
  const name = "MCP servers";
  const { servers, problems } = await findMcpServers(settings);
  const missing = servers.flatMap((server): readonly Check[] => {
    if (server.type !== "stdio" || server.command.includes("/")) return [];
    const { state } = programCheck(server.command, server.env["PATH"] ?? settings.environment["PATH"], "");
    if (state === "ok") return [];
    const message = `${server.name} cannot start: ${server.command} is not on PATH. Install it, or see nano-agent mcp test ${server.name}`;
    return [{ name, state: "warn", message }];
  });
  return [
    ...problems.map((fault): Check => ({ name, state: "warn", message: unusableServerText(fault) })),
    ...missing,
  ];
}

/** Tries the sandbox even if the settings turn it off. */
async function sandboxCheck(settings: Settings): Promise<Check> {
  const mode = sandboxMode(settings);
  const opened = await openSettingsSandbox(settings, [settings.cwd]);
  const name = "Sandbox";
  if ("problem" in opened) {
    const states = { on: "bad", auto: "warn", off: "ok" } as const;
    return { name, state: states[mode], message: `${mode}: ${opened.problem}` };
  }
  const limits = opened.sandbox.describe();
  await opened.sandbox.dispose();
  const whenOff = "off: commands can do all you can. It works here: --sandbox auto";
  return { name, state: "ok", message: mode === "off" ? whenOff : `${mode}, and it works: ${limits}` };
}

function variablesSeen({ environment, config }: Settings): string {
  const { env, withheld } = shellEnvironment(environment, config.values);
  const count = `see ${Object.keys(env).length} variables`;
  // The shell sets `_` for each program it starts.
  const names = withheld.filter((name) => name !== "_").toSorted();
  if (names.length === 0) return count;
  const shown = `${names.slice(0, 40).join(", ")}${names.length > 40 ? ", …" : ""}`;
  return `${count}. Not passed: ${shown} (--pass-env or environment.pass passes one)`;
}

/** Our own variables that belong to no setting. */
const OTHER_VARIABLES = ["NANO_AGENT_PLAIN", "NANO_AGENT_PROJECT_DIR", CALL_VARIABLE];

/** Warns about variables with our prefix that have no meaning. */
function unknownVariables(environment: Environment): readonly string[] {
  const known = [...PLACED_SETTINGS.flatMap(({ setting }) => setting.variable ?? []), ...OTHER_VARIABLES];
  return Object.keys(environment)
    .filter((name) => name.startsWith("NANO_AGENT_") && !known.includes(name))
    .map((name) => `${name} has no effect: there is no such variable.${didYouMean(name, known)}`);
}

function programCheck(program: string, path: string | undefined, otherwise: string): Check {
  for (const folder of (path ?? "").split(delimiter)) {
    const file = join(folder, program);
    try {
      accessSync(file, constants.X_OK);
      return { name: program, state: "ok", message: file };
    } catch {
      // Not in this folder.
    }
  }
  return { name: program, state: "warn", message: `not on PATH. ${otherwise}` };
}

const KINDS: { readonly [K in ImportItem["kind"]]: string } = {
  setting: "Settings",
  rule: "Permission rules",
  hook: "Hooks",
  mcp_server: "MCP servers",
  command: "Commands",
  agent: "Subagents",
  skill: "Skills",
};

/**
 * `nano-agent import-settings AGENT`: shows which of another agent's settings can be imported and which
 * cannot, and imports them once the person agrees (`--yes`: at once). Existing settings are kept. Exit 3 if
 * the person does not agree to an import.
 */
export async function importSettings(call: CommandCall): Promise<number> {
  const { stdout, environment } = call;
  const source = sourceOf(call);
  const [json, yes] = [call.has("--json"), call.has("--yes")];
  if (yes && variable(environment, "NANO_AGENT_CALL") !== undefined)
    throw invalidArgument(
      "nano-agent import-settings --yes is for people: an agent cannot decide for its user.",
    );
  const paths = userPaths(environment);
  const { applyImport, readForeign } = await import("../../../coding/import-settings/import-parts.ts");
  const plan = await readForeign(source, { home: paths.home, environment });
  const count = plan.items.length;
  if (!json) stdout.write(planText(plan, source, textLayoutOf(call).width));
  const isAgreed = count > 0 && (yes || (!json && (await confirmItems(call, count, "Take {} over?"))));
  const report = isAgreed ? await applyImport(plan, paths) : undefined;
  if (json) stdout.write(`${JSON.stringify({ ...plan, ...report })}\n`);
  else if (report !== undefined) stdout.write(reportText(report, paths.configFolder));
  if (count === 0 || isAgreed || json) return EXIT.done;
  say(call, `nothing was taken over. To do it: nano-agent import-settings ${source} --yes`);
  return EXIT.refused;
}

function sourceOf({ words: [name = ""] }: CommandCall): ImportSource {
  const source = IMPORT_SOURCES.find((each) => each === name);
  if (source !== undefined) return source;
  throw invalidArgument(`import-settings ${JSON.stringify(name)}: name one of ${IMPORT_SOURCES.join(", ")}.`);
}

function planText({ items, left, notes }: ImportPlan, source: string, width: number | undefined): string {
  const lines: string[] = [];
  const add = (text: string, indent: string): number =>
    lines.push(
      ...wrapText(terminalLine(revealInvisible(text), 2_000), { width, first: indent, rest: `${indent}  ` }),
    );
  if (items.length === 0) add(`There is nothing to take over from ${source}.`, "");
  for (const [kind, title] of Object.entries(KINDS)) {
    const own = items.filter((item) => item.kind === kind);
    if (own.length > 0) add(`${title} (${own.length}):`, "");
    for (const { does, from } of own) add(`${does}  (${from})`, "  ");
  }
  if (left.length > 0) add(`Not taken over (${left.length}):`, "");
  for (const { what, why, from } of left) add(`${what}: ${why.replace(/\.$/, "")}  (${from})`, "  ");
  for (const note of notes) add(note, "");
  return `${lines.join("\n")}\n`;
}

function reportText({ taken, skipped }: ImportReport, folder: string): string {
  const lines = skipped.map(({ item, why }) => `  left as it is: ${item.does}: ${why}`);
  const done = `Took ${taken.length} over into ${folder}.`;
  return `${[done, ...lines].map((line) => terminalLine(line, 1_000)).join("\n")}\n`;
}

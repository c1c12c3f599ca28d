import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { PLACED_SETTINGS } from "../../../coding/settings/setting-table.ts";
import type { Settings } from "../../../coding/settings/settings.ts";
import { openModel } from "../../../coding/setup/open-model.ts";
import { sessionStore } from "../../../coding/setup/open-session.ts";
import { shellEnvironment } from "../../../coding/setup/secrets.ts";
import { openSettingsSandbox, sandboxMode } from "../../../coding/setup/settings-sandbox.ts";
import { errorMessage } from "../../../core/base/errors.ts";
import { counted, didYouMean } from "../../../core/base/text.ts";
import { findLocalServers } from "../../../providers/local/local-servers.ts";
import { chooseModel } from "../../../providers/model-choice.ts";
import type { Environment } from "../../../system/env.ts";
import { CALL_VARIABLE } from "../../../system/process-watcher.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import type { CommandCall } from "../command-call.ts";
import { answer, type CommandContext, lookOf, settingsHere } from "../command-context.ts";
import { untilAborted, withSignals } from "../ending-signals.ts";

interface Check {
  readonly name: string;
  /** `bad`: a run cannot work · `warn`: something works less well. */
  readonly state: "ok" | "warn" | "bad";
  readonly message: string;
}

/** `nano-agent doctor`: checks what a run needs, without a provider. Exit 1 when something is missing. */
export async function doctor(context: CommandContext, call: CommandCall): Promise<number> {
  // What a check loads may listen for signals too, and then the process no longer ends by itself.
  return withSignals(({ signal }) =>
    Promise.race([report(context, call), untilAborted(signal).then(() => EXIT.failed)]),
  );
}

async function report(context: CommandContext, call: CommandCall): Promise<number> {
  const checks = await runChecks(context);
  const { style } = lookOf(context);
  const marks = { ok: style.green("✓"), warn: style.yellow("!"), bad: style.red("✗") };
  const lines = checks.map(({ name, state, message }) => {
    // What is wrong on one line, what to do about it on the next.
    const [what = "", ...todo] = terminalLine(message, 1_000).split(/(?<=\.) (?=[A-Z])/);
    const rest =
      state === "ok" || todo.length === 0 ? todo.join(" ") : `\n    ${style.bold("→")} ${todo.join(" ")}`;
    return `${marks[state]} ${name}: ${what}${rest === "" || rest.startsWith("\n") ? "" : " "}${rest}\n`;
  });
  const missing = checks.filter(({ state }) => state !== "ok").map(({ name }) => name);
  const end =
    missing.length === 0 ? "Nothing is missing.\n" : `Missing: ${[...new Set(missing)].join(", ")}.\n`;
  answer(context, call, { json: () => checks, text: () => `${lines.join("")}\n${end}` });
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
    settings = await settingsHere(context);
  } catch (error) {
    check("Settings", "bad", errorMessage(error));
    return checks;
  }
  const { environment } = settings;
  const { notices, sources, values } = settings.config;
  check("Settings", "ok", `${counted(sources.size, "value")} set; see nano-agent config`);
  check("Commands", "ok", variablesSeen(settings));
  checks.push(sessionsCheck(sessionStore(settings.paths).root), await sandboxCheck(settings));
  for (const notice of [...notices, ...unknownVariables(environment)]) check("Settings", "warn", notice);
  for (const server of await findLocalServers({ environment, config: values })) {
    const { provider, baseUrl, models, isLoading } = server;
    const state = isLoading === true ? "and is loading its model" : counted(models.length, "model");
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

/** Checks that sessions can be kept, or the folders for them made. */
function sessionsCheck(root: string): Check {
  let folder = root;
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
  try {
    // Only a folder has a dot in it.
    accessSync(`${folder}/.`, constants.W_OK);
    return { name: "Sessions", state: "ok", message: `kept in ${root}` };
  } catch (error) {
    const message = `cannot be kept in ${root}: ${errorMessage(error)}. Make room for them, or run with --no-session`;
    return { name: "Sessions", state: "bad", message };
  }
}

/** Tries the sandbox, also where the settings do not ask for it. */
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
  const isOff = "off: commands can do all you can. It works here: --sandbox auto";
  return { name, state: "ok", message: mode === "off" ? isOff : `${mode}, and it works: ${limits}` };
}

function variablesSeen({ environment, config }: Settings): string {
  const { env, withheld } = shellEnvironment(environment, config.values);
  const count = `see ${Object.keys(env).length} variables`;
  // The shell sets `_` for each program it starts: nobody's setting.
  const names = withheld.filter((name) => name !== "_").toSorted();
  if (names.length === 0) return count;
  const shown = `${names.slice(0, 40).join(", ")}${names.length > 40 ? ", …" : ""}`;
  return `${count}. Not passed: ${shown} (--pass-env or environment.pass passes one)`;
}

/** Variables of our own that no setting has, besides settings. */
const OTHER_VARIABLES = ["NANO_AGENT_PLAIN", "NANO_AGENT_PROJECT_DIR", CALL_VARIABLE];

/** A remark about each variable that is named like ours and read by nobody. */
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

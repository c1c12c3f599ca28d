import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { INSTRUCTION_FILES } from "../../../coding/setup/system-prompt.ts";
import { ownValue } from "../../../core/base/json.ts";
import { line, span } from "../paint/line.ts";
import { THEME_NAMES } from "../paint/theme.ts";
import { chooseModel } from "./choose-model.ts";
import { type Control, ownCommand, type SlashCommand } from "./control.ts";
import { chooseMode } from "./onboarding.ts";
import { openHelp, showContext, showCost, showDiff, showPermissions, showPlan } from "./pages.ts";
import { openRewind, openSessions, redo, undo } from "./session-pickers.ts";

interface OwnCommand {
  readonly note: string;
  /** Unavailable during a run. */
  readonly needsIdle?: boolean;
  readonly run: (control: Control, args: string) => void | Promise<void>;
}

const COMMANDS: { readonly [name: string]: OwnCommand } = {
  help: { note: "keys and commands", run: (control) => openHelp(control, slashCommands(control)) },
  model: { note: "choose the model", run: chooseModel },
  mode: { note: "auto, ask, plan: what runs without asking", run: chooseMode },
  until: {
    note: "/until npm test: a command that must pass before a run ends; off: none",
    run: setUntil,
  },
  clear: {
    note: "begin a new conversation; this one stays in /resume",
    run: (control) => control.switchTo(() => control.ports.openSession(), false),
  },
  compact: { note: "make room in the conversation", needsIdle: true, run: compact },
  context: { note: "what fills the context window", run: showContext },
  cost: { note: "tokens and money so far", run: showCost },
  resume: { note: "resume another session", run: (control) => openSessions(control) },
  fork: {
    note: "continue in a copy; this conversation stays unchanged in /resume",
    needsIdle: true,
    run: fork,
  },
  rewind: {
    note: "go back to before an earlier message",
    needsIdle: true,
    run: (control) => openRewind(control),
  },
  undo: {
    note: "put files back to how they were before the last run that changed any",
    needsIdle: true,
    run: undo,
  },
  redo: { note: "take the newest undo back", needsIdle: true, run: redo },
  diff: { note: "what this session changed in files", run: showDiff },
  plan: { note: "the plan that was approved", run: showPlan },
  permissions: { note: "mode and rules in force", run: showPermissions },
  mcp: { note: "servers of tools and their state", run: showServers },
  agents: {
    note: "subagents that can be used",
    run: (control) => control.pageOf(["agents", "list"], "Subagents"),
  },
  skills: {
    note: "skills that can be used",
    run: (control) => control.pageOf(["skills", "list"], "Skills"),
  },
  memory: { note: "write something into AGENTS.md, or see what is remembered", run: remember },
  init: { note: "write an AGENTS.md for this project", run: (control) => control.send(INIT_PROMPT) },
  export: { note: "write the conversation to a file", run: exportSession },
  theme: { note: THEME_NAMES.join(", "), run: chooseTheme },
  editor: { note: "write the message in $VISUAL or $EDITOR", run: (control) => control.act("editor", "") },
  doctor: { note: "check what a run needs", run: (control) => control.pageOf(["doctor"], "Doctor") },
  stop: { note: "stop the run", run: async (control) => control.screen.session?.stop() },
  quit: { note: "leave", run: (control) => control.ports.end() },
};

const INIT_PROMPT =
  "Look at this project and write an AGENTS.md at its root for coding agents: what it is, how to build, test and lint it (the exact commands), how the code is laid out, and the conventions a newcomer would get wrong. At most 60 lines, only what you found in the files. If there is an AGENTS.md, improve it instead.";

export function slashCommands(control: Control): readonly SlashCommand[] {
  const own = Object.entries(COMMANDS).map(([name, { note }]) => ({ name, note, isOwn: true }));
  const others = (control.screen.session?.info.commands ?? [])
    .filter(({ name }) => !Object.hasOwn(COMMANDS, name))
    .map(({ name, description = "", hint }) => ({ name, note: description, isOwn: false, hint }));
  return [...own, ...others];
}

export function findCommand(control: Control, name: string): SlashCommand | undefined {
  const wanted = ownValue(ALIASES, name) ?? name;
  return slashCommands(control).find((each) => each.name === wanted);
}

const ALIASES: { readonly [name: string]: string } = {
  exit: "quit",
  new: "clear",
  models: "model",
  sessions: "resume",
  continue: "resume",
};

export function runSlashCommand(control: Control, name: string, args: string): void {
  const command = COMMANDS[name];
  if (command?.needsIdle === true && control.screen.session?.view.run !== undefined) {
    control.say(`Still running: esc stops it, then /${name}.`);
    return;
  }
  const work = async (): Promise<void> => command?.run(control, args);
  control.run(work());
}

function setUntil(control: Control, args: string): void {
  const { session } = control.screen;
  if (session === undefined) return;
  if (args === "off") session.setUntil(undefined);
  else if (args !== "") session.setUntil(args);
  const { until } = session;
  const text =
    until === undefined
      ? "No command is to pass before a run ends."
      : `A run ends when this passes: ${until}`;
  control.say(text, args === "" ? "muted" : "good");
}

async function compact(control: Control, args: string): Promise<void> {
  const { session } = control.screen;
  if (session === undefined) return;
  control.say("making room", "muted");
  const result = await session.compact(args === "" ? undefined : args);
  if (result === undefined) control.say("The conversation stays as it is.", "muted");
  else control.screen.clearHint();
}

async function fork(control: Control): Promise<void> {
  const { session } = control.screen;
  if (session === undefined) return;
  await control.switchTo(() => session.fork(), true);
  control.say("This is a copy now.", "good");
}

function showServers(control: Control): void {
  const servers = control.screen.session?.info.mcpServers ?? [];
  if (servers.length === 0)
    control.print([
      line("No MCP servers. They are named in .mcp.json or in the settings.", { role: "muted" }),
    ]);
  else
    control.print(
      servers.map(({ name, status, error }) => [
        span(`  ${name}  `),
        span(status, { role: status === "connected" ? "good" : "warning" }),
        span(error === undefined ? "" : `  ${error}`, { role: "muted" }),
      ]),
    );
}

function chooseTheme(control: Control, args: string): void {
  const names: readonly string[] = THEME_NAMES;
  if (names.includes(args)) control.ports.setTheme(args);
  else control.say(`/theme ${THEME_NAMES.join("|")}: now ${control.screen.appearance.theme}`, "muted");
}

async function exportSession(control: Control, args: string): Promise<void> {
  const { session } = control.screen;
  if (session === undefined) return;
  const file = args === "" ? `nano-agent-${session.id.slice(0, 8)}.md` : args;
  const format = /\.html?$/.test(file) ? "html" : file.endsWith(".json") ? "json" : "markdown";
  const words = ["sessions", "export", session.id, "--format", format, "--output", file];
  await ownCommand(words, control.ports);
  control.say(`written to ${resolve(control.ports.cwd, file)}`, "good");
}

/** Adds text to the folder's effective instructions file; without text, shows long-term memory. */
async function remember(control: Control, args: string): Promise<void> {
  if (args === "") {
    await control.pageOf(["memory", "list"], "Remembered");
    return;
  }
  const { cwd } = control.ports;
  const name = INSTRUCTION_FILES.find((each) => existsSync(join(cwd, each))) ?? INSTRUCTION_FILES[0];
  const path = join(cwd, name);
  const before = existsSync(path) ? readFileSync(path, "utf8") : "";
  const lineEnd = before === "" ? "" : before.endsWith("\n") ? "" : "\n";
  appendFileSync(path, `${lineEnd}- ${args.replaceAll(/\s*\n\s*/g, " ")}\n`);
  control.say(`remembered in ${name}`, "good");
}

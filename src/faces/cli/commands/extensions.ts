import { findExtensionFiles } from "../../../coding/plugins/open-plugins.ts";
import { extensionTrust } from "../../../coding/project/acting-files.ts";
import { describedTools } from "../../../coding/setup/builtin-tools.ts";
import { type Extensions, findExtensions } from "../../../coding/setup/subagents-and-skills.ts";
import type { Finding, IsTrusted } from "../../../extensions/markdown/origin.ts";
import type { LoadedExtension } from "../../../extensions/modules/load-extensions.ts";
import type { Skill } from "../../../extensions/skills/load-skills.ts";
import type { LoadedSubagent } from "../../../extensions/subagents/task-tool.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import type { CommandCall } from "../command-call.ts";
import {
  type CommandContext,
  loadLocalSettings,
  say,
  type TextLayout,
  textLayoutOf,
  wrapText,
  writeResult,
} from "../command-context.ts";

/** A list entry as shown by `--json`. */
interface Row {
  readonly name: string;
  readonly description?: string;
  readonly origin: string;
  readonly path: string | null;
}

interface Listing<R extends Row> {
  readonly name: string;
  readonly rows: readonly R[];
  /** Further facts shown to people, after the name and origin. */
  readonly facts: (row: R) => readonly string[];
  readonly findings: readonly Finding[];
  readonly none: string;
}

export async function agents(call: CommandCall): Promise<number> {
  const { found } = await extensionsHere(call);
  const rows = found.agents.map(({ name, description, origin, path = null, trusted, ...agent }) => ({
    name,
    description,
    origin,
    path,
    trusted,
    tools: toolsOf(agent),
    model: typeof agent.model === "string" ? agent.model : null,
    maxTurns: agent.maxIterations ?? null,
  }));
  return list(call, {
    name: "agents",
    rows,
    facts: ({ trusted }) => trustText(trusted, "it only reads"),
    findings: found.findings.agents,
    none: "There are no subagents.",
  });
}

export async function skills(call: CommandCall): Promise<number> {
  const { found, isTrusted } = await extensionsHere(call);
  return list(call, {
    name: "skills",
    rows: await Promise.all(found.skills.map((skill) => skillRow(skill, isTrusted))),
    facts: ({ scripts = [], trusted }) => {
      const more = scripts.length > MAX_SCRIPTS ? ` and ${scripts.length - MAX_SCRIPTS} more` : "";
      const named = terminalLine(scripts.slice(0, MAX_SCRIPTS).join(", "), 300);
      const shown = scripts.length === 0 ? [] : [`scripts: ${named}${more}`];
      return [...shown, ...trustText(trusted, "its scripts are left out")];
    },
    findings: found.findings.skills,
    none: "There are no skills. A skill is a folder with a SKILL.md below .agents/skills, .claude/skills or .nano-agent/skills, here or in your home folder.",
  });
}

const MAX_SCRIPTS = 8;

/** `nano-agent extensions list`: loads the extensions of this folder and lists what each provides. */
export async function extensions(call: CommandCall): Promise<number> {
  const settings = await loadLocalSettings(call);
  const found = findExtensionFiles(settings);
  const { loadExtensions } = await import("../../../coding/plugins/plugin-loaders.ts");
  const loaded = await loadExtensions(found.files, { cwd: settings.cwd, onFailure: () => undefined });
  const untrusted = settings.trust.leftOut
    .filter(({ kind }) => kind === "extension")
    .map(({ path, does }): Finding => {
      return { path, level: "note", message: `${does} once you trust it: nano-agent trust` };
    });
  return list(call, {
    name: "extensions",
    rows: loaded.extensions.map(extensionRow),
    facts: ({ name: _name, origin: _origin, path: _path, ...brings }) =>
      Object.entries(brings).flatMap(([what, names]) =>
        names.length === 0 ? [] : [`${what}: ${names.join(", ")}`],
      ),
    findings: [...found.findings, ...loaded.findings, ...untrusted],
    none: "There are no extensions. One is a .ts, .mts, .mjs or .js file in ~/.config/nano-agent/extensions/, or in .nano-agent/extensions/ of a project that you trust.",
  });
}

async function extensionsHere(
  context: CommandContext,
): Promise<{ readonly found: Extensions; readonly isTrusted: IsTrusted }> {
  const settings = await loadLocalSettings(context);
  const isTrusted = extensionTrust(settings.trust);
  return { found: await findExtensions(settings, describedTools(settings), isTrusted), isTrusted };
}

async function skillRow(skill: Skill, isTrusted: IsTrusted) {
  const { skillScripts } = await import("../../../coding/plugins/plugin-loaders.ts");
  const { name, description, origin, path, forModel } = skill;
  const { scripts, isTrusted: trusted } = await skillScripts(skill, isTrusted);
  return {
    name,
    description,
    origin,
    path,
    forModel,
    ...(scripts.length === 0 ? {} : { scripts }),
    ...(origin === "project" && scripts.length > 0 ? { trusted } : {}),
  };
}

function extensionRow({ name, origin, path, tools, commands, hooks, providers, statuses }: LoadedExtension) {
  return {
    name,
    origin,
    path,
    tools: tools.map((tool) => tool.name),
    commands: commands.map((command) => `/${command.name}`),
    hooks: hooks.map(({ event, matcher }) => (matcher === undefined ? event : `${event} (${matcher})`)),
    providers: providers.map((provider) => provider.name),
    status: statuses.map(() => "1"),
  };
}

function list<R extends Row>(call: CommandCall, listing: Listing<R>): number {
  const { name, rows, findings, none, facts } = listing;
  const look = textLayoutOf(call);
  const lines =
    rows.length === 0 ? wrapText(none, look) : rows.flatMap((row) => rowLines(row, facts(row), look));
  writeResult(call, { [name]: rows, findings }, `${lines.join("\n")}\n`);
  if (call.has("--json")) return EXIT.done;
  for (const { path, level, message } of findings) say(call, `${level}: ${path}: ${message}`);
  return EXIT.done;
}

function rowLines(row: Row, facts: readonly string[], { style, width }: TextLayout): readonly string[] {
  const { description = "", path, origin } = row;
  const name = terminalLine(row.name, 200);
  const head = `${name}  ${terminalLine(description, 200)}`.trimEnd();
  const [first = "", ...rest] = wrapText(head, { width, rest: "    " });
  const from = path === null ? "built in" : `${origin}: ${path}`;
  const below = [from, ...facts].flatMap((text) =>
    wrapText(terminalLine(text, 500), { width, first: "    " }).map(style.dim),
  );
  return [style.bold(name) + first.slice(name.length), ...rest, ...below];
}

function trustText(trusted: boolean | undefined, otherwise: string): readonly string[] {
  if (trusted === undefined) return [];
  return [trusted ? "trusted" : `not trusted, so ${otherwise}: see nano-agent trust`];
}

function toolsOf({ tools, disallowedTools = [], readOnly }: Partial<LoadedSubagent>): string {
  const names = tools?.map((tool) => (typeof tool === "string" ? tool : tool.name));
  return [
    names === undefined ? "all" : names.join(", "),
    ...(disallowedTools.length === 0 ? [] : [`without ${disallowedTools.join(", ")}`]),
    ...(readOnly === true ? ["only those that read"] : []),
  ].join("; ");
}

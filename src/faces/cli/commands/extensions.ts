import { describedTools } from "../../../app/builtin-tools.ts";
import { EXIT } from "../../../app/coding-session/exit-code.ts";
import { currentFolder } from "../../../app/config/paths.ts";
import { type Extensions, findExtensions } from "../../../app/extensions.ts";
import { terminalLine } from "../../../app/safe-text.ts";
import { loadSettings } from "../../../app/settings.ts";
import { extensionTrust } from "../../../app/trust/acting-files.ts";
import type { IsTrusted } from "../../../extensions/markdown/origin.ts";
import type { Skill } from "../../../extensions/skills/skill.ts";
import type { LoadedSubagent } from "../../../extensions/subagents/subagent.ts";
import type { CommandCall } from "../command-call.ts";
import type { CommandContext } from "../command-context.ts";
import { type Style, styleFor } from "../style.ts";
import { widthOf, wrapText } from "../wrap-text.ts";

/**
 * `nano-agent agents list`: the subagents of this folder, where each comes from, and what stands in the way
 * of others.
 */
export async function agents(context: CommandContext, call: CommandCall): Promise<number> {
  return list(context, call, {
    name: "agents",
    rows: (found) =>
      found.agents.map((agent) => ({
        name: agent.name,
        description: agent.description,
        origin: agent.origin,
        path: agent.path ?? null,
        ...(agent.trusted === undefined ? {} : { trusted: agent.trusted }),
        tools: toolsOf(agent),
        model: typeof agent.model === "string" ? agent.model : null,
        maxTurns: agent.maxIterations ?? null,
      })),
    none: "There are no subagents.",
  });
}

/**
 * `nano-agent skills list`: the skills of this folder, where each comes from, and what stands in the way of
 * others.
 */
export async function skills(context: CommandContext, call: CommandCall): Promise<number> {
  return list(context, call, {
    name: "skills",
    rows: ({ skills: found }, isTrusted) => Promise.all(found.map((skill) => skillRow(skill, isTrusted))),
    none: "There are no skills. A skill is a folder with a SKILL.md below .agents/skills, .claude/skills or .nano-agent/skills, here or in your home folder.",
  });
}

async function skillRow(skill: Skill, isTrusted: IsTrusted): Promise<Row> {
  const { skillScripts } = await import("../../../app/extension-loaders.ts");
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

/** One thing in a list, as `--json` shows it. */
interface Row {
  readonly name: string;
  readonly description: string;
  readonly origin: string;
  readonly path: string | null;
  /** Whether what it may do is trusted; absent where there is nothing to trust. */
  readonly trusted?: boolean;
  /** Files of a skill that can be run. */
  readonly scripts?: readonly string[];
  readonly [more: string]: unknown;
}

interface Listing {
  readonly name: "agents" | "skills";
  readonly rows: (found: Extensions, isTrusted: IsTrusted) => readonly Row[] | Promise<readonly Row[]>;
  readonly none: string;
}

async function list(context: CommandContext, call: CommandCall, listing: Listing): Promise<number> {
  const { environment, stdout, stderr } = context;
  const settings = await loadSettings({ environment, cwd: currentFolder() });
  const isTrusted = extensionTrust(settings.trust);
  const found = await findExtensions(settings, { tools: describedTools(settings), isTrusted });
  const rows = await listing.rows(found, isTrusted);
  const findings = found.findings[listing.name];
  if (call.has("--json")) {
    stdout.write(`${JSON.stringify({ [listing.name]: rows, findings })}\n`);
    return EXIT.done;
  }
  const width = widthOf(stdout, 1);
  if (rows.length === 0) stdout.write(`${wrapText(listing.none, { width }).join("\n")}\n`);
  const style = styleFor(stdout.isTerminal, environment);
  for (const row of rows) stdout.write(`${rowLines(row, { style, width }).join("\n")}\n`);
  for (const { path, level, message } of findings) {
    const text = terminalLine(`${path}: ${message}`, 1_000);
    const lines = wrapText(text, { width: widthOf(stderr, 2), first: `nano-agent: ${level}: `, rest: "  " });
    stderr.write(`${lines.join("\n")}\n`);
  }
  return EXIT.done;
}

function rowLines(
  row: Row,
  { style, width }: { readonly style: Style; readonly width: number | undefined },
): readonly string[] {
  const { name, description, path, origin, scripts = [] } = row;
  const from = path === null ? "built in" : `${origin}: ${terminalLine(path, 300)}`;
  const below = (text: string): string[] =>
    wrapText(text, { width, first: "    " }).map((line) => style.dim(line));
  const [first = "", ...rest] = wrapText(`${name}  ${terminalLine(description, 200)}`, {
    width,
    rest: "    ",
  });
  const more = scripts.length > MAX_SCRIPTS ? ` and ${scripts.length - MAX_SCRIPTS} more` : "";
  const named = terminalLine(scripts.slice(0, MAX_SCRIPTS).join(", "), 300);
  return [
    style.bold(name) + first.slice(name.length),
    ...rest,
    ...below(from),
    ...(scripts.length === 0 ? [] : below(`scripts: ${named}${more}`)),
    ...trustText(row).flatMap(below),
  ];
}

const MAX_SCRIPTS = 8;

function trustText({ trusted, scripts = [] }: Row): readonly string[] {
  if (trusted === undefined) return [];
  if (trusted) return ["trusted"];
  const left = scripts.length > 0 ? "its scripts are left out" : "it only reads";
  return [`not trusted, so ${left}: see nano-agent trust`];
}

function toolsOf({ tools, disallowedTools = [], readOnly }: LoadedSubagent): string {
  const given =
    tools === undefined
      ? "all"
      : tools.map((tool) => (typeof tool === "string" ? tool : tool.name)).join(", ");
  return [
    given,
    ...(disallowedTools.length === 0 ? [] : [`without ${disallowedTools.join(", ")}`]),
    ...(readOnly === true ? ["only those that read"] : []),
  ].join("; ");
}

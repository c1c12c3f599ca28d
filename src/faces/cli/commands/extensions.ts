import { describedTools } from "../../../app/builtin-tools.ts";
import { currentFolder } from "../../../app/config/paths.ts";
import { type Extensions, findExtensions } from "../../../app/extensions.ts";
import { loadSettings } from "../../../app/settings.ts";
import { extensionTrust } from "../../../app/trust/extension-trust.ts";
import type { LoadedSubagent } from "../../../extensions/subagents/subagent.ts";
import type { CommandContext } from "../command-context.ts";
import { commandWords } from "../command-words.ts";
import { EXIT } from "../exit-code.ts";
import { styleFor } from "../style.ts";
import { terminalLine } from "../terminal-text.ts";
import { usageError } from "../usage-error.ts";

/** `nano-agent agents list`: the subagents of this folder, where each comes from, and what stands in the way of others. */
export async function agents(context: CommandContext, args: readonly string[]): Promise<number> {
  return list(context, args, {
    name: "agents",
    rows: (found) =>
      found.agents.map((agent) => ({
        name: agent.name,
        description: agent.description,
        origin: agent.origin,
        path: agent.path ?? null,
        tools: toolsOf(agent),
        model: typeof agent.model === "string" ? agent.model : null,
        maxTurns: agent.maxIterations ?? null,
      })),
    none: "There are no subagents.",
  });
}

/** `nano-agent skills list`: the skills of this folder, where each comes from, and what stands in the way of others. */
export async function skills(context: CommandContext, args: readonly string[]): Promise<number> {
  return list(context, args, {
    name: "skills",
    rows: (found) =>
      found.skills.map(({ name, description, origin, path, forModel }) => ({
        name,
        description,
        origin,
        path,
        forModel,
      })),
    none: "There are no skills. A skill is a folder with a SKILL.md below .agents/skills, .claude/skills or .nano-agent/skills, here or in your home folder.",
  });
}

/** One thing in a list, as `--json` shows it. */
interface Row {
  readonly name: string;
  readonly description: string;
  readonly origin: string;
  readonly path: string | null;
  readonly [more: string]: unknown;
}

interface Listing {
  readonly name: "agents" | "skills";
  readonly rows: (found: Extensions) => readonly Row[];
  readonly none: string;
}

async function list(context: CommandContext, args: readonly string[], listing: Listing): Promise<number> {
  const { words, json } = commandWords(args, { name: listing.name, max: 1 });
  if (words[0] !== undefined && words[0] !== "list")
    throw usageError(`Write nano-agent ${listing.name} list [--json].`);
  const { environment, stdout, stderr } = context;
  const settings = await loadSettings({ environment, cwd: currentFolder() });
  const found = await findExtensions(settings, {
    tools: describedTools(settings),
    isTrusted: extensionTrust(settings.trust),
  });
  const rows = listing.rows(found);
  const findings = found.findings[listing.name];
  if (json) {
    stdout.write(`${JSON.stringify({ [listing.name]: rows, findings })}\n`);
    return EXIT.done;
  }
  if (rows.length === 0) stdout.write(`${listing.none}\n`);
  const style = styleFor(stdout.isTerminal, environment);
  for (const { name, description, origin, path } of rows) {
    const from = path === null ? "built in" : `${origin}: ${terminalLine(path, 300)}`;
    stdout.write(`${style.bold(name)}  ${terminalLine(description, 200)}\n    ${style.dim(from)}\n`);
  }
  for (const { path, level, message } of findings)
    stderr.write(`nano-agent: ${level}: ${terminalLine(`${path}: ${message}`, 1_000)}\n`);
  return EXIT.done;
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

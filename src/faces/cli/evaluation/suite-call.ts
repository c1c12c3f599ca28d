import { tmpdir } from "node:os";
import type { ConfigFile } from "../../../coding/settings/config-schema.ts";
import { existingFolder } from "../../../coding/settings/paths.ts";
import { loadSettings, type McpSources, type Settings } from "../../../coding/settings/settings.ts";
import { counted } from "../../../core/base/text.ts";
import { readSuites, type SuiteTasks } from "../../../evaluation/read-suites.ts";
import type { TaskFault } from "../../../evaluation/task.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { type CommandCall, numberOf } from "../command-call.ts";
import { type CommandContext, say } from "../command-context.ts";

/** The tasks that a command line means. Throws `invalid_argument` for suites that cannot be read. */
export function tasksOf(call: CommandCall): Promise<SuiteTasks> {
  return readSuites(call.words, { names: call.list("--task"), tags: call.list("--tag") });
}

/** A whole number from 1 to `most` behind an option; 1 without it. Throws `invalid_argument`. */
export function countOf(call: CommandCall, name: "--jobs" | "--repeat", most: number): number {
  return numberOf(call, name, { least: 1, most, what: `a whole number from 1 to ${most}` }) ?? 1;
}

/**
 * The settings that hold in scratch folders: those of the user and the command line, not those of the folder
 * the command is given in.
 */
export function scratchSettings(
  { environment }: CommandContext,
  { config = {}, mcp }: { readonly config?: ConfigFile; readonly mcp?: McpSources } = {},
): Promise<Settings> {
  return loadSettings({
    environment,
    cwd: existingFolder(tmpdir(), "The temporary folder"),
    flags: config,
    mcp,
  });
}

/** Says what keeps folders from being tasks. Resolves to the exit code for it. */
export function tellFaults(context: CommandContext, faults: readonly TaskFault[]): number {
  for (const { folder, faults: sentences } of faults)
    for (const sentence of sentences) say(context, `${folder} ${sentence}.`);
  say(
    context,
    `${counted(faults.length, "task")} cannot be used. nano-agent eval validate tells more about the others.`,
  );
  return EXIT.usage;
}

import { dirname } from "node:path";
import type { Model } from "../core/model/model.ts";
import type { Tool } from "../core/tool/tool.ts";
import type { Finding, IsTrusted } from "../extensions/markdown/origin.ts";
import { sourceFolders } from "../extensions/markdown/source-folders.ts";
import type { Skill } from "../extensions/skills/skill.ts";
import { createTaskTool } from "../extensions/subagents/task-tool.ts";
import type { RatePauses } from "../providers/rate-pause.ts";
import { about, type OnNotice } from "./coding-session/notice.ts";
import type { CommandSource } from "./coding-session/session-command.ts";
import { findExtensions } from "./extensions.ts";
import type { Instructions } from "./instructions.ts";
import { openModel } from "./open-model.ts";
import type { Settings } from "./settings.ts";
import { systemPrompt } from "./system-prompt.ts";
import { extensionTrust } from "./trust/extension-trust.ts";

/** What {@link composeExtensions} works with. */
export interface ComposeExtensionsOptions {
  readonly settings: Settings;
  /** The built-in tools. */
  readonly tools: readonly Tool[];
  readonly instructions: readonly Instructions[];
  /** The limits of commands, when they are confined. */
  readonly sandbox: string | undefined;
  /** Shared with the model of the agent. */
  readonly pauses: RatePauses;
  readonly onNotice: OnNotice;
}

/** What subagents and skills make of a terminal agent. */
export interface ComposedExtensions {
  /** The built-in tools, `task`, and where there are skills `skill`. */
  readonly tools: readonly Tool[];
  /** Names of the subagents and of the skills. */
  readonly agents: readonly string[];
  readonly skills: readonly string[];
  /** Folders of skills: what they speak of must be readable. */
  readonly readable: readonly string[];
  /** The skills as commands. */
  readonly commands: CommandSource;
}

/** Finds the subagents and skills that hold in a folder, tells what cannot be used, and makes their tools. */
export async function composeExtensions(options: ComposeExtensionsOptions): Promise<ComposedExtensions> {
  const { settings, tools, instructions, sandbox, onNotice } = options;
  const isTrusted = extensionTrust(settings.trust);
  const { agents, skills, findings, skillTool } = await findExtensions(settings, { tools, isTrusted });
  for (const notice of faultNotices([...findings.skills, ...findings.agents]))
    about("extension", onNotice)(notice);
  const place = { base: "", cwd: settings.cwd, platform: process.platform };
  const task = createTaskTool({
    agents,
    models: modelOpener(options),
    // What only reads needs no rules for changes: tokens are paid with each of its requests.
    surroundings: ({ readOnly }) =>
      systemPrompt({
        ...place,
        ...(readOnly === true ? { instructions: [] } : { instructions, sandbox }),
      }),
  });
  return {
    tools: [...tools, task, ...(skillTool === undefined ? [] : [skillTool])],
    agents: agents.map(({ name }) => name),
    skills: skills.map(({ name }) => name),
    readable: readableFolders(skills, settings),
    commands: await skillCommands(skills, isTrusted),
  };
}

/**
 * The folders of skills that may be read wherever they lie. Of a project only those that are in its places for
 * skills: a link there could name any folder of the repository, or all of it.
 */
function readableFolders(skills: readonly Skill[], { folders, paths }: Settings): readonly string[] {
  const { home, configFolder } = paths;
  const places = sourceFolders("skills", { projectFolders: folders, home, configFolder });
  const isInPlace = (folder: string): boolean => places.some(({ path }) => dirname(folder) === path);
  return skills
    .filter(({ origin, folder }) => origin !== "project" || isInPlace(folder))
    .map(({ folder }) => folder);
}

async function skillCommands(skills: readonly Skill[], isTrusted: IsTrusted): Promise<CommandSource> {
  if (skills.length === 0) return () => [];
  const { skillCommand } = await import("./plugins/plugin-loaders.ts");
  const commands = skills.map((skill) => skillCommand(skill, isTrusted));
  return () => commands;
}

/** Opens models by name, each once: a model keeps its connections and what it has serialised. */
function modelOpener({
  settings,
  onNotice,
  pauses,
}: ComposeExtensionsOptions): (name: string) => Promise<Model> {
  const { environment, config } = settings;
  const opened = new Map<string, Promise<Model>>();
  return (name) => {
    const known =
      opened.get(name) ??
      openModel(name, { environment, config: config.values, onNotice: about("setting", onNotice), pauses });
    opened.set(name, known);
    // A key may be set later: the next task looks again.
    known.catch(() => opened.delete(name));
    return known;
  };
}

/** Faults told at every start; the rest is in the lists. */
const MAX_NOTICES = 3;

function faultNotices(findings: readonly Finding[]): readonly string[] {
  const faults = findings.filter(({ level }) => level === "fault");
  const told = faults.slice(0, MAX_NOTICES).map(({ path, message }) => `${path}: ${message}`);
  const more = faults.length - told.length;
  return more === 0 ? told : [...told, `${more} more: see nano-agent skills list and nano-agent agents list`];
}

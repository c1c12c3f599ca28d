import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { omitUndefined } from "../../core/base/json.ts";
import type { Model } from "../../core/model/model.ts";
import type { Tool } from "../../core/tool/tool.ts";
import {
  type Finding,
  type IsTrusted,
  type SourceFolder,
  sourceFolders,
  trustNoProject,
} from "../../extensions/markdown/origin.ts";
import type { Skill } from "../../extensions/skills/load-skills.ts";
import {
  BUILT_IN_SUBAGENTS,
  createTaskTool,
  type LoadedSubagent,
} from "../../extensions/subagents/task-tool.ts";
import { type OnNotice, warnAbout } from "../../view/notice.ts";
import { reportProblems } from "../plugins/open-plugins.ts";
import { extensionTrust } from "../project/acting-files.ts";
import type { SessionCommand } from "../session/session-command.ts";
import type { Settings } from "../settings/settings.ts";
import { type Instructions, systemPrompt } from "./system-prompt.ts";

export interface ComposedExtensions {
  readonly tools: readonly Tool[];
  readonly agents: readonly string[];
  readonly skills: readonly string[];
  /** Folders of skills: the files they mention must be readable. */
  readonly readable: readonly string[];
  readonly commands: readonly SessionCommand[];
}

/** Finds a folder's subagents and skills, reports unusable ones, and creates their tools. */
export async function composeExtensions(
  settings: Settings,
  tools: readonly Tool[],
  instructions: readonly Instructions[],
  openModel: (name: string) => Promise<Model>,
  onNotice: OnNotice,
): Promise<ComposedExtensions> {
  const { sandbox } = settings.config.values;
  const isTrusted = extensionTrust(settings.trust);
  const { agents, skills, findings, skillTool } = await findExtensions(settings, tools, isTrusted);
  reportProblems([...findings.skills, ...findings.agents], {
    warn: warnAbout("extension", onNotice),
    lists: "nano-agent skills list and nano-agent agents list",
  });
  const base = { systemPrompt: "", cwd: settings.cwd, platform: process.platform };
  const task = createTaskTool({
    agents,
    models: openOnce(openModel),
    // A read-only subagent gets no instructions on changes: every request would pay for their tokens.
    surroundings: ({ readOnly }) =>
      systemPrompt({
        ...base,
        ...(readOnly === true
          ? { instructions: [], sandbox: { mode: "off" } }
          : { instructions, ...omitUndefined({ sandbox }) }),
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

/** Readable skill folders; for a project only its own places, since a link may lead anywhere. */
function readableFolders(skills: readonly Skill[], { folders, paths }: Settings): readonly string[] {
  const { home, configFolder } = paths;
  const places = sourceFolders("skills", { projectFolders: folders, home, configFolder });
  const isInPlace = (folder: string): boolean => places.some(({ path }) => dirname(folder) === path);
  return skills
    .filter(({ origin, folder }) => origin !== "project" || isInPlace(folder))
    .map(({ folder }) => folder);
}

async function skillCommands(
  skills: readonly Skill[],
  isTrusted: IsTrusted,
): Promise<readonly SessionCommand[]> {
  if (skills.length === 0) return [];
  const { skillCommand } = await import("../plugins/plugin-loaders.ts");
  return skills.map((skill) => skillCommand(skill, isTrusted));
}

/** Opens each named model once: a model keeps its connections and serialised data. */
function openOnce(open: (name: string) => Promise<Model>): (name: string) => Promise<Model> {
  const opened = new Map<string, Promise<Model>>();
  return (name) => {
    const known = opened.get(name) ?? open(name);
    opened.set(name, known);
    // A key may be set later: the next task looks again.
    known.catch(() => opened.delete(name));
    return known;
  };
}

export interface Extensions {
  readonly agents: readonly LoadedSubagent[];
  readonly skills: readonly Skill[];
  /** Messages to a person about the subagents, and about the skills. */
  readonly findings: { readonly agents: readonly Finding[]; readonly skills: readonly Finding[] };
  /** `skill`; undefined if there is none for the model. */
  readonly skillTool: Tool | undefined;
}

/** Finds subagents and skills of project and user. Their readers are loaded only if a folder exists. */
export async function findExtensions(
  settings: Pick<Settings, "folders" | "paths">,
  tools: readonly Tool[],
  isTrusted: IsTrusted = trustNoProject,
): Promise<Extensions> {
  const { home, configFolder } = settings.paths;
  const places = { projectFolders: settings.folders, home, configFolder };
  const existing = (kind: "skills" | "agents"): readonly SourceFolder[] =>
    sourceFolders(kind, places).filter(({ path }) => existsSync(path));
  const [skillFolders, agentFolders] = [existing("skills"), existing("agents")];
  if (skillFolders.length === 0 && agentFolders.length === 0)
    return {
      agents: BUILT_IN_SUBAGENTS,
      skills: [],
      findings: { agents: [], skills: [] },
      skillTool: undefined,
    };
  const { createSkillTool, loadSkills, loadSubagents } = await import("../plugins/plugin-loaders.ts");
  const { skills, ...ofSkills } = await loadSkills(skillFolders);
  const skillTool = createSkillTool(skills, { isTrusted });
  const { agents, ...ofAgents } = await loadSubagents({
    folders: agentFolders,
    tools: [...tools, createTaskTool(), ...(skillTool === undefined ? [] : [skillTool])],
    isTrusted,
  });
  return { agents, skills, findings: { agents: ofAgents.findings, skills: ofSkills.findings }, skillTool };
}

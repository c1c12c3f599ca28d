import { existsSync } from "node:fs";
import type { Tool } from "../../core/tool/tool.ts";
import {
  type Finding,
  type IsTrusted,
  type SourceFolder,
  trustsNoProject,
} from "../../extensions/markdown/origin.ts";
import { sourceFolders } from "../../extensions/markdown/source-folders.ts";
import type { Skill } from "../../extensions/skills/skill.ts";
import { BUILT_IN_SUBAGENTS } from "../../extensions/subagents/built-in-subagents.ts";
import type { LoadedSubagent } from "../../extensions/subagents/subagent.ts";
import { createTaskTool } from "../../extensions/subagents/task-tool.ts";
import type { Settings } from "../settings/settings.ts";

/** The subagents and skills there are in a place. */
export interface Extensions {
  readonly agents: readonly LoadedSubagent[];
  readonly skills: readonly Skill[];
  /** Remarks for a person about the subagents, and about the skills. */
  readonly findings: { readonly agents: readonly Finding[]; readonly skills: readonly Finding[] };
  /** `skill`; undefined where there is none for the model. */
  readonly skillTool: Tool | undefined;
}

/** Options of {@link findExtensions}. */
export interface FindExtensionsOptions {
  readonly tools: readonly Tool[];
  /** Default: nothing that a project brings may act. */
  readonly isTrusted?: IsTrusted | undefined;
}

/** Finds subagents and skills of project and user. Their readers are loaded where a folder exists. */
export async function findExtensions(
  settings: Pick<Settings, "folders" | "paths">,
  { tools, isTrusted = trustsNoProject }: FindExtensionsOptions,
): Promise<Extensions> {
  const { home, configFolder } = settings.paths;
  const places = { projectFolders: settings.folders, home, configFolder };
  const present = (kind: "skills" | "agents"): readonly SourceFolder[] =>
    sourceFolders(kind, places).filter(({ path }) => existsSync(path));
  const [skillFolders, agentFolders] = [present("skills"), present("agents")];
  if (skillFolders.length === 0 && agentFolders.length === 0)
    return {
      agents: BUILT_IN_SUBAGENTS,
      skills: [],
      findings: { agents: [], skills: [] },
      skillTool: undefined,
    };
  const { createSkillTool, loadSkills, loadSubagents } = await import("./extension-loaders.ts");
  const { skills, ...ofSkills } = await loadSkills(skillFolders);
  const skillTool = createSkillTool(skills, { isTrusted });
  const { agents, ...ofAgents } = await loadSubagents({
    folders: agentFolders,
    tools: [...tools, createTaskTool(), ...(skillTool === undefined ? [] : [skillTool])],
    isTrusted,
  });
  return { agents, skills, findings: { agents: ofAgents.findings, skills: ofSkills.findings }, skillTool };
}

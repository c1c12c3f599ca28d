export type { Finding, IsTrusted, Origin, SourceFolder, TrustItem } from "./markdown/origin.ts";
export { type SourcePlaces, sourceFolders } from "./markdown/source-folders.ts";
export { type LoadedSkills, loadSkills } from "./skills/load-skills.ts";
export type { Skill } from "./skills/skill.ts";
export { createSkillTool, type SkillInput, type SkillToolOptions } from "./skills/skill-tool.ts";
export { BUILT_IN_SUBAGENTS } from "./subagents/built-in-subagents.ts";
export {
  type LoadedSubagents,
  type LoadSubagentsOptions,
  loadSubagents,
} from "./subagents/load-subagents.ts";
export type { LoadedSubagent, Subagent } from "./subagents/subagent.ts";
export { createTaskTool, type TaskInput, type TaskToolOptions } from "./subagents/task-tool.ts";

export type { Finding, IsTrusted, Origin, SourceFolder, TrustItem } from "./markdown/origin.ts";
export { type SourcePlaces, sourceFolders } from "./markdown/origin.ts";
export type { Skill } from "./skills/load-skills.ts";
export { type LoadedSkills, loadSkills } from "./skills/load-skills.ts";
export { createSkillTool, type SkillInput, type SkillToolOptions } from "./skills/skill-tool.ts";
export {
  type LoadedSubagents,
  type LoadSubagentsOptions,
  loadSubagents,
} from "./subagents/load-subagents.ts";
export type { LoadedSubagent, Subagent } from "./subagents/task-tool.ts";
export {
  BUILT_IN_SUBAGENTS,
  createTaskTool,
  type TaskInput,
  type TaskToolOptions,
} from "./subagents/task-tool.ts";

// One module for all: any module loaded on its own splits shared code into one more file to load.
export { loadSkills } from "../../extensions/skills/load-skills.ts";
export { skillScripts } from "../../extensions/skills/skill-scripts.ts";
export { createSkillTool } from "../../extensions/skills/skill-tool.ts";
export { loadSubagents } from "../../extensions/subagents/load-subagents.ts";

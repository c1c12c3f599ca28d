// One lazy module for all of these: each module loaded on its own adds a shared chunk to load.
export { loadSkills } from "../../extensions/skills/load-skills.ts";
export { skillScripts } from "../../extensions/skills/skill-scripts.ts";
export { createSkillTool } from "../../extensions/skills/skill-tool.ts";
export { loadSubagents } from "../../extensions/subagents/load-subagents.ts";

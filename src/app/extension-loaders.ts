// One module for all: what is loaded on its own splits the code it shares with a run into one more file to
// load.
export { loadSkills } from "../extensions/skills/load-skills.ts";
export { skillScripts } from "../extensions/skills/skill-scripts.ts";
export { createSkillTool } from "../extensions/skills/skill-tool.ts";
export { loadSubagents } from "../extensions/subagents/load-subagents.ts";

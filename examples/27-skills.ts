// Skills and subagents from files: what is found, what is wrong with the rest, and a skill in use.
//   node examples/27-skills.ts [provider/model]
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "nano-agent";
import {
  createSkillTool,
  createTaskTool,
  loadSkills,
  loadSubagents,
  sourceFolders,
} from "nano-agent/extensions";
import { calls, ScriptedModel, says } from "nano-agent/testing";
import { fileTools } from "nano-agent/tools";

const project = mkdtempSync(join(tmpdir(), "skills-"));
const add = (path: string, text: string): void => {
  mkdirSync(join(project, path, ".."), { recursive: true });
  writeFileSync(join(project, path), text);
};
add(
  ".agents/skills/release/SKILL.md",
  "---\nname: release\ndescription: Use when a version is to be released.\n---\nRelease $ARGUMENTS: run the checks, then tag.",
);
add(".agents/skills/release/checklist.md", "- changelog\n- tag");
add(".agents/skills/broken/SKILL.md", "No front matter here.");
add(
  ".nano-agent/agents/reviewer.md",
  "---\nname: reviewer\ndescription: Reviews a change.\ntools: Read, Grep, WebSearch\nmaxTurns: 8\n---\nReview what you are shown.",
);

const places = { projectFolders: [project], home: "/nowhere", configFolder: "/nowhere/config" };
const found = await loadSkills(sourceFolders("skills", places));
for (const { name, description } of found.skills) console.log(`skill ${name}: ${description}`);
for (const { level, message } of found.findings) console.log(`${level}: ${message}`);

const tools = fileTools();
const { agents, findings } = await loadSubagents({ folders: sourceFolders("agents", places), tools });
console.log(`subagents: ${agents.map(({ name }) => name).join(", ")}`);
for (const { level, message } of findings) console.log(`${level}: ${message}`);

// Only the name and the description of a skill are in the prompt; without skills there is no tool.
const skill = createSkillTool(found.skills);
const agent = new Agent({
  model:
    process.argv[2] ??
    new ScriptedModel([
      calls("skill", { name: "release", arguments: "v1.2" }),
      says("Checks first, then the tag."),
    ]),
  tools: [...tools, createTaskTool({ agents }), ...(skill === undefined ? [] : [skill])],
  cwd: project,
});
const { text, messages } = await agent.runOrThrow("Release version 1.2.");
for (const { content } of messages) {
  for (const block of content)
    if (block.type === "tool_result") console.log(String(block.content).replaceAll(project, "…"));
}
console.log(text);
rmSync(project, { recursive: true });

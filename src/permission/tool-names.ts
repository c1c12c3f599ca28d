import { matchesText } from "./match-text.ts";
import type { Rule } from "./rule.ts";

/** The kind of pattern that a tool's rules take. */
export type PatternKind = "command" | "path" | "domain" | "name" | "none";

/** Our names by those of other agents. */
const PEER_NAMES: ReadonlyMap<string, string> = new Map([
  ["MultiEdit", "edit"],
  ["Agent", "task"],
  ["TodoWrite", "todo"],
  ["WebFetch", "web_fetch"],
  ...["Bash", "Read", "Write", "Edit", "Glob", "Grep", "Task", "Skill", "Batch", "Job"].map(
    (name): [string, string] => [name, name.toLowerCase()],
  ),
]);

/** Our name of a tool that other agents write with a capital (`Bash`, `WebFetch`); others as they are. */
export function toToolName(name: string): string {
  return PEER_NAMES.get(name) ?? name;
}

/** True when a name is one of the capitalised spellings of other agents. */
export function isPeerName(name: string): boolean {
  return PEER_NAMES.has(name);
}

/** The kind of thing that a tool's patterns describe. Tools of others (MCP, custom) take none. */
export function patternKind(tool: string): PatternKind {
  if (isFileTool(tool)) return "path";
  if (tool === "bash") return "command";
  if (tool === "web_fetch") return "domain";
  return tool === "skill" || tool === "task" ? "name" : "none";
}

/** True when a tool looks at files without changing them. */
export function isReadTool(tool: string): boolean {
  return tool === "read" || tool === "grep" || tool === "glob";
}

/** True when a tool changes files. */
export function isEditTool(tool: string): boolean {
  return tool === "write" || tool === "edit";
}

/** True when a tool opens the file or folder that its `path` names. */
export function isFileTool(tool: string): boolean {
  return isReadTool(tool) || isEditTool(tool);
}

/** True when a rule is about a tool: its name, a name with `*`, or a whole MCP server (`mcp__server`). */
export function namesTool({ tool }: Pick<Rule, "tool">, name: string): boolean {
  if (tool === name || tool === "*") return true;
  if (tool.includes("*")) return matchesText(tool, name);
  return /^mcp__[^_]+(?:_[^_]+)*$/.test(tool) && name.startsWith(`${tool}__`);
}

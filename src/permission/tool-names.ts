import { matchesText } from "./match-text.ts";
import type { Rule } from "./rule.ts";

/** The kind of pattern that a tool's rules take. */
export type PatternKind = "command" | "path" | "domain" | "name" | "none";

const PEER_NAMES: ReadonlyMap<string, string> = new Map([
  ["Bash", "bash"],
  ["Read", "read"],
  ["Write", "write"],
  ["Edit", "edit"],
  ["MultiEdit", "edit"],
  ["Glob", "glob"],
  ["Grep", "grep"],
  ["WebFetch", "web_fetch"],
  ["Task", "task"],
  ["Agent", "task"],
  ["Skill", "skill"],
  ["TodoWrite", "todo"],
  ["Batch", "batch"],
  ["Job", "job"],
]);

const PATTERN_KINDS: ReadonlyMap<string, PatternKind> = new Map([
  ["bash", "command"],
  ["read", "path"],
  ["write", "path"],
  ["edit", "path"],
  ["glob", "path"],
  ["grep", "path"],
  ["web_fetch", "domain"],
  ["skill", "name"],
  ["task", "name"],
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
  return PATTERN_KINDS.get(tool) ?? "none";
}

/** True when a tool looks at files without changing them. */
export function isReadTool(tool: string): boolean {
  return tool === "read" || tool === "grep" || tool === "glob";
}

/** True when a tool changes files. */
export function isEditTool(tool: string): boolean {
  return tool === "write" || tool === "edit";
}

/** True when a rule is about a tool: its name, a name with `*`, or a whole MCP server (`mcp__server`). */
export function namesTool({ tool }: Pick<Rule, "tool">, name: string): boolean {
  if (tool === name || tool === "*") return true;
  if (tool.includes("*")) return matchesText(tool, name);
  return /^mcp__[^_]+(?:_[^_]+)*$/.test(tool) && name.startsWith(`${tool}__`);
}

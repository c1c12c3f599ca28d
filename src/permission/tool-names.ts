/** What kind of pattern a tool's rules take. */
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

/** Whether a name is one of the capitalised spellings of other agents. */
export function isPeerName(name: string): boolean {
  return PEER_NAMES.has(name);
}

/** What a tool's patterns describe. Tools of others (MCP, custom) take none. */
export function patternKind(tool: string): PatternKind {
  return PATTERN_KINDS.get(tool) ?? "none";
}

/** Whether a tool looks at files without changing them. */
export function isReadTool(tool: string): boolean {
  return tool === "read" || tool === "grep" || tool === "glob";
}

/** Whether a tool changes files. */
export function isEditTool(tool: string): boolean {
  return tool === "write" || tool === "edit";
}

/**
 * The rooms of `src/` and how high each stands. A file imports its own room and rooms of a lower rank.
 * Inside `core` the rooms of one layer have an order too: message, then model, then tool.
 */
export const ROOM_RANKS: ReadonlyMap<string, number> = new Map([
  ["core/base", 0],
  ["core/message", 10],
  ["core/model", 11],
  ["core/tool", 12],
  ["core/agent", 20],
  ["journal", 24],
  ["system", 25],
  ["hooks", 29],
  ["adapters", 30],
  ["providers", 30],
  ["tools", 30],
  ["permission", 30],
  ["memory", 30],
  ["session", 30],
  ["extensions", 31],
  ["extensions/markdown", 29],
  ["extensions/skills", 30],
  ["extensions/subagents", 30],
  ["extensions/mcp", 30],
  ["extensions/commands", 30],
  ["extensions/command-hooks", 29],
  ["extensions/modules", 30],
  ["extension", 45],
  ["telemetry", 30],
  ["testing", 30],
  [".", 45],
  ["agent", 32],
  ["patterns", 33],
  ["coding-agent", 45],
  ["server", 45],
  ["durable", 45],
  ["view", 35],
  ["coding", 40],
  ["evaluation", 45],
  ["faces/text", 49],
  ["faces/cli", 50],
  ["faces/terminal", 50],
  ["faces/acp", 50],
  ["faces/http", 50],
  ["faces/mcp", 50],
  ["faces/web", 50],
  ["faces/scale", 50],
]);

/** Imports between rooms of one rank that are allowed all the same, as `from -> to`. */
export const ALLOWED_SIBLINGS: ReadonlySet<string> = new Set(["extensions/subagents -> patterns"]);

/** The room that may load the other faces, with a dynamic import, and name their types. */
export const FACE_LOADER = "faces/cli";

/** The one file that reads the environment. */
export const ENVIRONMENT_FILE = "src/system/env.ts";

/** The files that may end the process, and the one that keeps code of others from it. */
export const EXIT_FILES: ReadonlySet<string> = new Set([
  "src/faces/cli/main.ts",
  "src/faces/cli/bin.ts",
  "src/faces/cli/foreign-code.ts",
]);

/** The room a file of `src/` is in: the longest known folder above it; undefined when there is none. */
export function roomOf(path: string): string | undefined {
  const parts = path.split("/").slice(1, -1);
  if (parts.length === 0) return ".";
  for (let length = parts.length; length > 0; length--) {
    const room = parts.slice(0, length).join("/");
    if (ROOM_RANKS.has(room)) return room;
  }
  return undefined;
}

import { counted, shellArgument } from "../../core/base/text.ts";
import type { DroppedTool } from "./mcp-tools.ts";

/** Says which tools of a server's list cannot be offered. */
export function droppedNotice(server: string, dropped: readonly DroppedTool[]): string {
  const named = dropped.map(({ name, reason }) => `${name} ${reason}`.trim());
  return `MCP server ${server}: left out ${counted(dropped.length, "tool")}: ${shortList(named, server)}.`;
}

/** Says that a server describes tools in other words than those a person may have allowed them by. */
export function changedNotice(server: string, names: readonly string[]): string {
  return `MCP server ${server}: changed what it says of ${counted(names.length, "tool")}: ${shortList(names, server)}. What you allowed for a tool still holds: take its rule away if you do not know why it changed.`;
}

const MAX_NAMED = 5;

function shortList(names: readonly string[], server: string): string {
  const more = names.length - MAX_NAMED;
  const rest = more <= 0 ? "" : `; ${more} more, see nano-agent mcp get ${shellArgument(server)}`;
  return `${names.slice(0, MAX_NAMED).join("; ")}${rest}`;
}

import { nearest } from "../../core/base/text.ts";
import type { Tool } from "../../core/tool/tool.ts";

/** Names other agents give to tools, in lower case, and the tool that does the same here. */
const PEER_NAMES: ReadonlyMap<string, string> = new Map([
  ["multiedit", "edit"],
  ["ls", "read"],
  ["webfetch", "web_fetch"],
  ["todowrite", "todo"],
  ["todoread", "todo"],
  ["agent", "task"],
  ["bashoutput", "job"],
  ["killshell", "job"],
  ["killbash", "job"],
]);

export interface NamedTools {
  readonly names: readonly string[];
  readonly unknown: readonly string[];
}

/** The tools that names mean, those of other agents too. Tools of servers are kept: they may come later. */
export function namedTools(list: readonly string[], known: readonly Tool[]): NamedTools {
  const all = known.map(({ name }) => name);
  const names = new Set<string>();
  const unknown: string[] = [];
  for (const given of list) {
    const lower = given.toLowerCase();
    const wanted = PEER_NAMES.get(lower) ?? lower;
    const name = all.find((each) => each.toLowerCase() === wanted);
    if (name !== undefined) names.add(name);
    else if (/^mcp__[\w-]+(?:__[\w-]*\*?)?$/.test(given)) names.add(given);
    else unknown.push(unknownTool(given, all));
  }
  return { names: [...names], unknown };
}

/** True when a tool is one of those named, `mcp__server` and `mcp__server__*` meaning all of a server. */
export function isNamed(tool: string, names: readonly string[]): boolean {
  return names.some((name) => {
    if (name === tool) return true;
    if (name.endsWith("*")) return tool.startsWith(name.slice(0, -1));
    return /^mcp__[^_]+(?:_[^_]+)*$/.test(name) && tool.startsWith(`${name}__`);
  });
}

function unknownTool(given: string, all: readonly string[]): string {
  const shown = JSON.stringify(given.slice(0, 80));
  if (given.includes("("))
    return `the tool ${shown} is left out: a subagent gets whole tools, and permission rules say what they may do`;
  const guess = nearest(given, all);
  const hint = guess === undefined ? "" : `, did you mean ${guess}?`;
  return `there is no tool ${shown}${hint} (tools: ${all.join(", ")})`;
}

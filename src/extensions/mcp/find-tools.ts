import { orAborted } from "../../core/base/abort.ts";
import { defineTool } from "../../core/tool/define-tool.ts";
import type { Tool } from "../../core/tool/tool.ts";
import type { McpTool } from "./mcp-tools.ts";

/** Name of the tool that finds others. */
export const FIND_TOOLS = "find_tools";

/** Where {@link createFindTools} looks. */
export interface FindToolsSource {
  /** One line on what there is, for the description: it stays as it is. */
  readonly summary: string;
  /** Tools that are there and are not offered yet. */
  readonly hidden: () => readonly McpTool[];
  /** Names of all tools of servers that are offered. */
  readonly offered: () => readonly string[];
  /** Offers tools from the next request on. */
  readonly reveal: (tools: readonly McpTool[]) => void;
  /** Resolves when a server that is starting is settled; `undefined` when none is. */
  readonly pending: () => Promise<void> | undefined;
  /** Servers that are not there, and why. */
  readonly problems: () => readonly string[];
}

const MAX_FOUND = 10;
const MAX_LINE = 160;

/** The tool behind which the schemas of many tools wait: it looks for some by words, and offers them from the next request on. */
export function createFindTools(source: FindToolsSource): Tool {
  return defineTool({
    name: FIND_TOOLS,
    description: `Finds tools of connected servers by what they do and makes them callable. ${source.summary}`,
    parameters: {
      type: "object",
      properties: {
        query: { type: "string", description: "Words for what is to be done, or exact tool names" },
      },
      required: ["query"],
      additionalProperties: false,
    } as const,
    readOnly: true,
    access: "none",
    // Servers have their own limit for starting.
    timeoutMs: 0,
    execute: async ({ query }, { signal }) => {
      for (;;) {
        const found = search(source.hidden(), query);
        if (found.length > 0) return revealed(source, found);
        const pending = source.pending();
        if (pending === undefined) return nothing(source, query);
        await orAborted(pending, signal);
      }
    },
  });
}

function revealed(source: FindToolsSource, found: readonly McpTool[]): string {
  source.reveal(found);
  const lines = found.map(({ tool }) => `${tool.name}: ${firstLine(tool.description)}`);
  const more = source.hidden().length;
  return `These tools can be called from now on:\n${lines.join("\n")}${more === 0 ? "" : `\n(${more} others were not shown.)`}`;
}

function nothing(source: FindToolsSource, query: string): string {
  const hidden = source.hidden().map(({ tool }) => tool.name);
  const offered = source.offered();
  return [
    `No tool found for ${JSON.stringify(query.slice(0, 200))}.`,
    ...(hidden.length === 0 ? [] : [`Tools there are: ${hidden.slice(0, 100).join(", ")}.`]),
    ...(offered.length === 0 ? [] : [`Already callable: ${offered.slice(0, 50).join(", ")}.`]),
    ...source.problems(),
  ].join("\n");
}

function firstLine(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length <= MAX_LINE ? line : `${line.slice(0, MAX_LINE - 1)}…`;
}

/** The tools a query means, the likeliest first: named in full, or sharing words with name or description. */
function search(tools: readonly McpTool[], query: string): readonly McpTool[] {
  const named = new Set(query.split(/[\s,]+/));
  const exact = tools.filter(({ tool, name }) => named.has(tool.name) || named.has(name));
  if (exact.length > 0) return exact.slice(0, MAX_FOUND);
  const words = wordsOf(query);
  const scored = tools
    .map((each) => ({ each, score: scoreOf(each, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score);
  return scored.slice(0, MAX_FOUND).map(({ each }) => each);
}

function scoreOf({ tool }: McpTool, words: readonly string[]): number {
  const name = wordsOf(tool.name);
  const text = tool.description.toLowerCase();
  return words.reduce((sum, word) => {
    if (name.includes(word)) return sum + 4;
    if (name.some((each) => each.startsWith(word) || word.startsWith(each))) return sum + 2;
    return sum + (text.includes(word) ? 1 : 0);
  }, 0);
}

/** Words of two letters and more, those of `camelCase` and `snake_case` one by one; other scripts as they stand. */
function wordsOf(text: string): readonly string[] {
  const parted = text.replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return parted.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 1 || /[^\x00-\x7f]/.test(word));
}

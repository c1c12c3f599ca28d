import { orAborted } from "../../core/base/async.ts";
import { defineTool, type Tool } from "../../core/tool/tool.ts";
import type { McpTool } from "./mcp-tools.ts";
import { FIND_TOOLS } from "./tool-name.ts";

/** Where {@link createFindTools} looks. */
export interface FindToolsSource {
  /** One line on what there is, for the description: it stays as it is. */
  readonly summary: string;
  /** The tools of all servers, offered already or not. */
  readonly all: () => readonly McpTool[];
  /** Offers tools from the next request on, as far as they are not. */
  readonly reveal: (tools: readonly McpTool[]) => void;
  /** Starts what is not started. Names of the servers that are starting, and when one of them is settled. */
  readonly pending: () => { readonly names: readonly string[]; readonly settled: Promise<void> };
  /** Servers that are not there, and why. */
  readonly problems: () => readonly string[];
}

const MAX_FOUND = 10;
const MAX_LISTED = 100;
const MAX_LINE = 160;

/** Stands for the schemas of many tools: finds some by words, and offers them from the next request on. */
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
        const pending = source.pending();
        const found = search(source.all(), query);
        if (found.length > 0 || pending.names.length === 0) return answer(source, { query, found });
        await orAborted(pending.settled, signal);
      }
    },
  });
}

function answer(
  source: FindToolsSource,
  { query, found }: { readonly query: string; readonly found: readonly McpTool[] },
): string {
  source.reveal(found);
  const lines = found.map(({ as, description }) => `${as}: ${firstLine(description)}`);
  const all = source.all().map(({ as }) => as);
  const { names } = source.pending();
  return [
    ...(found.length === 0
      ? [`No tool found for ${JSON.stringify(query.slice(0, 200))}.`]
      : ["These tools can be called from now on:", ...lines]),
    ...(found.length > 0 || all.length === 0 ? [] : [`Tools there are: ${listed(all)}.`]),
    ...(names.length === 0 ? [] : [`Still starting, ask again for theirs: ${names.join(", ")}.`]),
    ...source.problems(),
  ].join("\n");
}

function listed(names: readonly string[]): string {
  const more = names.length - MAX_LISTED;
  return `${names.slice(0, MAX_LISTED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function firstLine(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length <= MAX_LINE ? line : `${line.slice(0, MAX_LINE - 1)}…`;
}

/** The tools a query means, the likeliest first: named in full, or sharing words with name or description. */
function search(tools: readonly McpTool[], query: string): readonly McpTool[] {
  const named = new Set(query.split(/[\s,]+/));
  const exact = tools.filter(({ as, name }) => named.has(as) || named.has(name));
  if (exact.length > 0) return exact.slice(0, MAX_FOUND);
  const words = wordsOf(query);
  const scored = tools
    .map((each) => ({ each, score: scoreOf(each, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score);
  return scored.slice(0, MAX_FOUND).map(({ each }) => each);
}

function scoreOf({ as, description }: McpTool, words: readonly string[]): number {
  const name = wordsOf(as);
  const text = description.toLowerCase();
  return words.reduce((sum, word) => {
    if (name.includes(word)) return sum + 4;
    if (name.some((each) => each.startsWith(word) || word.startsWith(each))) return sum + 2;
    return sum + (text.includes(word) ? 1 : 0);
  }, 0);
}

/** Words of two letters and more, `camelCase` and `snake_case` split; other scripts as they stand. */
function wordsOf(text: string): readonly string[] {
  const parted = text.replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return parted.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 1 || /[^\x00-\x7f]/.test(word));
}

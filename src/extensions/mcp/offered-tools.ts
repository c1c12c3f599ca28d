import { raceAbort } from "../../core/base/async.ts";
import { pluralize, quoteShellArgument } from "../../core/base/text.ts";
import { defineTool, type Tool, type ToolRegistry } from "../../core/tool/tool.ts";
import type { McpServer } from "./mcp-server.ts";
import { type DroppedTool, type McpTool, refusedTool } from "./mcp-tools.ts";
import { FIND_TOOLS } from "./tool-name.ts";

interface OfferedToolsOptions {
  /** When tools are deferred behind `find_tools`. `false`: never. Default: above 20 tools or 5000 tokens. */
  readonly defer?: { readonly tools: number; readonly tokens: number } | false | undefined;
  readonly forbids: (name: string) => boolean;
  readonly servers: () => readonly McpServer[];
  /** Resolves on the next state change of a server. */
  readonly nextChange: () => Promise<void>;
}

/** A server's tool: sent to the model, found only through `find_tools`, or refused by a rule on each call. */
interface Item {
  readonly server: string;
  tool: McpTool;
  state: "offered" | "hidden" | "refused";
}

/** The tools of all servers, and which of them the model sees. */
export class OfferedTools {
  readonly #options: OfferedToolsOptions;
  readonly #items = new Map<string, Item>();
  #registry: ToolRegistry | undefined;

  constructor(options: OfferedToolsOptions) {
    this.#options = options;
  }

  /** The tools of a server, without refused ones. */
  ofServer(server: string): readonly McpTool[] {
    return this.#select((item) => item.server === server && item.state !== "refused");
  }

  /** Tools for the first request. `isOpen`: some servers' tools are not known yet. */
  initialTools(isOpen: boolean): readonly Tool[] {
    const isSearchOffered = isOpen || this.#select(({ state }) => state === "hidden").length > 0;
    return [
      ...(isSearchOffered && this.#isSearchAllowed ? [this.#findTools()] : []),
      ...this.#select(({ state }) => state === "offered").map(({ tool }) => tool()),
      ...this.#select(({ state }) => state === "refused").map(refusedTool),
    ];
  }

  /** Sets the registry to which later tools are added. */
  attach(registry: ToolRegistry): void {
    this.#registry = registry;
  }

  revealNamed(names: ReadonlySet<string>): void {
    this.#reveal(this.#select(({ tool }) => names.has(tool.agentName)));
  }

  /** Keeps the place of known tools and appends new ones. Returns the names of offered tools that changed. */
  update(...lists: readonly (readonly [server: string, tools: readonly McpTool[]])[]): readonly string[] {
    const changed: string[] = [];
    const added: McpTool[] = [];
    for (const [server, tools] of lists) {
      const current = new Map(tools.map((tool) => [tool.agentName, tool]));
      for (const [as, item] of this.#items)
        if (item.server === server && this.#replace(item, current.get(as))) changed.push(as);
      for (const tool of tools.filter(({ agentName }) => !this.#items.has(agentName))) {
        const state = this.#options.forbids(tool.agentName) ? "refused" : "hidden";
        this.#items.set(tool.agentName, { server, tool, state });
        if (state === "hidden") added.push(tool);
        else if (this.#registry?.get(tool.agentName) === undefined) this.#registry?.add(refusedTool(tool));
      }
    }
    if (this.#fitsUndeferred(added)) this.#reveal(added);
    else if (this.#registry !== undefined && this.#registry.get(FIND_TOOLS) === undefined)
      this.#registry.add(this.#findTools());
    return changed;
  }

  /** True if an offered tool has changed. */
  #replace(item: Item, next: McpTool | undefined): boolean {
    const { tool, state } = item;
    const hasChanged = state === "offered" && tool.text !== next?.text;
    if (hasChanged) this.#registry?.remove(tool.agentName);
    if (next === undefined) {
      this.#items.delete(tool.agentName);
      return false;
    }
    item.tool = next;
    if (hasChanged) this.#registry?.add(next.tool());
    return hasChanged;
  }

  #select(fits: (item: Item) => boolean): readonly McpTool[] {
    return Array.from(this.#items.values()).flatMap((item) => (fits(item) ? [item.tool] : []));
  }

  #reveal(tools: readonly McpTool[]): void {
    for (const { agentName } of tools) {
      const item = this.#items.get(agentName);
      if (item?.state !== "hidden") continue;
      item.state = "offered";
      this.#registry?.add(item.tool.tool());
    }
  }

  get #isSearchAllowed(): boolean {
    return !this.#options.forbids(FIND_TOOLS);
  }

  /** Costs are computed only if the number of tools fits. */
  #fitsUndeferred(added: readonly McpTool[]): boolean {
    const { defer = { tools: 20, tokens: 5_000 } } = this.#options;
    if (defer === false || !this.#isSearchAllowed) return true;
    const all = [...this.#select(({ state }) => state === "offered"), ...added];
    return all.length <= defer.tools && all.reduce((sum, { tokens }) => sum + tokens, 0) <= defer.tokens;
  }

  /** Stands in for the schemas of many tools: finds some by words and offers them from then on. */
  #findTools(): Tool {
    const { servers, nextChange } = this.#options;
    const counts = servers().map(({ definition: { name } }) => {
      const { length } = this.ofServer(name);
      return length === 0 ? name : `${name} (${pluralize(length, "tool")})`;
    });
    return defineTool({
      name: FIND_TOOLS,
      description: `Finds tools of connected servers by what they do and makes them callable. Servers: ${counts.join(", ")}.`,
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
      // Servers have their own start timeout.
      timeoutMs: 0,
      execute: async ({ query }, { signal }) => {
        for (;;) {
          for (const server of servers()) server.ensureStarted();
          const starting = servers().filter(({ lifecycle }) => lifecycle.state === "starting");
          const found = search(
            this.#select(({ state }) => state !== "refused"),
            query,
          );
          if (found.length > 0 || starting.length === 0) return this.#answer(query, found, starting);
          await raceAbort(nextChange(), signal);
        }
      },
    });
  }

  #answer(query: string, found: readonly McpTool[], starting: readonly McpServer[]): string {
    this.#reveal(found);
    const all = this.#select(({ state }) => state !== "refused").map(({ agentName }) => agentName);
    const names = starting.map(({ definition }) => definition.name).join(", ");
    return [
      ...(found.length === 0
        ? [`No tool found for ${JSON.stringify(query.slice(0, 200))}.`]
        : ["These tools can be called from now on:"]),
      ...found.map(({ agentName, description }) => `${agentName}: ${firstLine(description)}`),
      ...(found.length > 0 || all.length === 0 ? [] : [`Tools there are: ${joinNames(all)}.`]),
      ...(names === "" ? [] : [`Still starting, ask again for theirs: ${names}.`]),
      ...this.#options
        .servers()
        .flatMap(({ definition: { name }, lifecycle }) =>
          "reason" in lifecycle ? [`Server ${name} is not available: ${lifecycle.reason}`] : [],
        ),
    ].join("\n");
  }
}

const MAX_FOUND = 10;
const MAX_LISTED = 100;
const MAX_LINE = 160;
const MAX_NAMED = 5;

function joinNames(names: readonly string[]): string {
  const more = names.length - MAX_LISTED;
  return `${names.slice(0, MAX_LISTED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function firstLine(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length <= MAX_LINE ? line : `${line.slice(0, MAX_LINE - 1)}…`;
}

/** The tools a query matches, best first: named in full, or sharing words with name or description. */
function search(tools: readonly McpTool[], query: string): readonly McpTool[] {
  const named = new Set(query.split(/[\s,]+/));
  const exact = tools.filter(({ agentName, name }) => named.has(agentName) || named.has(name));
  if (exact.length > 0) return exact.slice(0, MAX_FOUND);
  const words = wordsOf(query);
  return tools
    .map((each) => ({ each, score: scoreOf(each, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, MAX_FOUND)
    .map(({ each }) => each);
}

function scoreOf({ agentName, description }: McpTool, words: readonly string[]): number {
  const name = wordsOf(agentName);
  const text = description.toLowerCase();
  return words.reduce((sum, word) => {
    if (name.includes(word)) return sum + 4;
    if (name.some((each) => each.startsWith(word) || word.startsWith(each))) return sum + 2;
    return sum + (text.includes(word) ? 1 : 0);
  }, 0);
}

/** Words of two or more letters, `camelCase` and `snake_case` split; other scripts unchanged. */
function wordsOf(text: string): readonly string[] {
  const parted = text.replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return parted.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 1 || /[^\x00-\x7f]/.test(word));
}

export function droppedNotice(server: string, dropped: readonly DroppedTool[]): string {
  const named = dropped.map(({ name, reason }) => `${name} ${reason}`.trim());
  return `MCP server ${server}: left out ${pluralize(dropped.length, "tool")}: ${shortList(named, server)}.`;
}

export function changedNotice(server: string, names: readonly string[]): string {
  return `MCP server ${server}: changed what it says of ${pluralize(names.length, "tool")}: ${shortList(names, server)}. What you allowed for a tool still holds: take its rule away if you do not know why it changed.`;
}

function shortList(names: readonly string[], server: string): string {
  const more = names.length - MAX_NAMED;
  const rest = more <= 0 ? "" : `; ${more} more, see nano-agent mcp get ${quoteShellArgument(server)}`;
  return `${names.slice(0, MAX_NAMED).join("; ")}${rest}`;
}

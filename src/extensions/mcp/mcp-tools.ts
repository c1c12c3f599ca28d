import { isNanoAgentError } from "../../core/base/errors.ts";
import { isRecord } from "../../core/base/json.ts";
import { toCleanText } from "../../core/base/text.ts";
import { estimateTokens } from "../../core/model/estimate.ts";
import { defineTool } from "../../core/tool/define-tool.ts";
import type { Tool, ToolContext } from "../../core/tool/tool.ts";
import type { ListedTool } from "./connection.ts";
import type { McpServer } from "./mcp-server.ts";
import { type NormalisedSchema, normaliseSchema, originalNames } from "./normalise-schema.ts";
import { mcpNames } from "./tool-name.ts";
import { toMcpResult } from "./tool-result.ts";

/** A tool of a server, as the model may be offered it. */
export interface McpTool {
  readonly tool: Tool;
  /** What its server calls it. */
  readonly name: string;
  /** Tokens that offering it costs in each request, estimated. */
  readonly tokens: number;
}

/** A tool that cannot be offered, and why. */
export interface DroppedTool {
  readonly name: string;
  readonly reason: string;
}

/** What can be made of a server's list of tools. */
export interface McpTools {
  readonly tools: readonly McpTool[];
  readonly dropped: readonly DroppedTool[];
}

/** Characters of a schema: longer ones would cost more than what they are for. */
const MAX_SCHEMA_CHARS = 100_000;
const MAX_DESCRIPTION_CHARS = 8_000;

/**
 * Makes tools of what a server lists: `mcp__server__tool`, judged and recorded as any other. One that cannot be used is left out by name.
 * A hint that it only reads lets a tool run beside others, and allows nothing.
 */
export function toMcpTools(
  listed: readonly ListedTool[],
  { server, part }: { readonly server: McpServer; readonly part: string },
): McpTools {
  const names = mcpNames(
    part,
    listed.map(({ name }) => name),
  );
  const tools: McpTool[] = [];
  const dropped: DroppedTool[] = [];
  const seen = new Set<string>();
  for (const each of listed) {
    const { name } = each;
    const made = seen.has(name) ? "is listed twice" : toTool(each, { server, as: names.get(name) ?? name });
    seen.add(name);
    if (typeof made === "string") dropped.push({ name, reason: made });
    else tools.push({ tool: made, name, tokens: tokensOf(made) });
  }
  return { tools, dropped };
}

function tokensOf({ name, description, schema }: Tool): number {
  return estimateTokens(JSON.stringify({ name, description, parameters: schema.jsonSchema }));
}

function toTool(
  listed: ListedTool,
  { server, as }: { readonly server: McpServer; readonly as: string },
): Tool | string {
  const normalised = normaliseSchema(listed["inputSchema"]);
  if (normalised === undefined) return "has an inputSchema that is not an object";
  if (JSON.stringify(normalised.schema).length > MAX_SCHEMA_CHARS)
    return `has an inputSchema of more than ${MAX_SCHEMA_CHARS} characters`;
  const { annotations } = listed;
  const onlyReads = isRecord(annotations) && annotations["readOnlyHint"] === true;
  try {
    return defineTool({
      name: as,
      description: descriptionOf(listed),
      parameters: usable(normalised).schema as never,
      // The server's own limit counts, which its progress moves on.
      timeoutMs: 0,
      access: onlyReads ? "none" : "exclusive",
      execute: (input: object, context: ToolContext) =>
        call(server, { name: listed.name, input: originalNames({ ...input }, normalised), context }),
    });
  } catch (error) {
    if (isNanoAgentError(error, "invalid_argument")) return `cannot be used: ${error.message}`;
    throw error;
  }
}

async function call(
  server: McpServer,
  { name, input, context }: { readonly name: string; readonly input: object; readonly context: ToolContext },
) {
  const { signal, update } = context;
  return toMcpResult(await server.call(name, input, { signal, onProgress: update }));
}

function descriptionOf({ name, description, title }: ListedTool): string {
  const given = [description, title].find((text) => typeof text === "string" && text.trim() !== "");
  return toCleanText(typeof given === "string" ? given : name).slice(0, MAX_DESCRIPTION_CHARS);
}

/** Regular expressions of other languages say nothing here: the server checks them. */
function usable(normalised: NormalisedSchema): NormalisedSchema {
  return { ...normalised, schema: withoutForeignPatterns(normalised.schema) as NormalisedSchema["schema"] };
}

function withoutForeignPatterns(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutForeignPatterns);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).filter(
    ([key, each]) => key !== "pattern" || typeof each !== "string" || isPattern(each),
  );
  return Object.fromEntries(entries.map(([key, each]) => [key, withoutForeignPatterns(each)]));
}

function isPattern(source: string): boolean {
  try {
    return new RegExp(source) instanceof RegExp;
  } catch {
    return false;
  }
}

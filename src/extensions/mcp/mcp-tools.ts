import { compileSchema } from "../../core/base/compile-schema.ts";
import { isNanoAgentError } from "../../core/base/errors.ts";
import { type Fields, fieldsOf, isRecord } from "../../core/base/json.ts";
import { plainObjectSchema } from "../../core/base/plain-object-schema.ts";
import type { JsonSchema } from "../../core/base/schema.ts";
import { toCleanText } from "../../core/base/text.ts";
import { estimateTokens } from "../../core/model/estimate.ts";
import { defineTool, type Tool, type ToolContext } from "../../core/tool/tool.ts";
import type { ListedTool } from "./connection.ts";
import type { McpServer } from "./mcp-server.ts";
import { mcpNames } from "./tool-name.ts";
import { toMcpResult } from "./tool-result.ts";

/** Computed lazily, since most tools are never offered to the model. */
export interface McpTool {
  readonly agentName: string;
  readonly name: string;
  readonly description: string;
  readonly tokens: number;
  readonly text: string;
  /** Creates the tool, always the same one: schemas of tools never offered are not read. */
  readonly tool: () => Tool;
}

/** Known but not shown, and its schema is not read. */
export function refusedTool({ agentName: name }: McpTool): Tool {
  const execute = (): never => {
    throw new Error("A rule forbids this tool.");
  };
  return defineTool({ name, description: "", offered: false, execute, parameters: { type: "object" } });
}

export interface DroppedTool {
  readonly name: string;
  readonly reason: string;
}

export interface McpTools {
  readonly tools: readonly McpTool[];
  readonly dropped: readonly DroppedTool[];
}

/** Longest schema in characters: a longer one would cost more than the tool is worth. */
const MAX_SCHEMA_CHARS = 100_000;
const MAX_DESCRIPTION_CHARS = 8_000;

/** Converts listed tools; unusable ones are dropped with a reason. `isChecked`: the list was checked. */
export function toMcpTools(
  listed: readonly ListedTool[],
  server: McpServer,
  part: string,
  isPrechecked = false,
): McpTools {
  const names = mcpNames(
    part,
    listed.map(({ name }) => name),
  );
  const tools: McpTool[] = [];
  const dropped: DroppedTool[] = [];
  const seen = new Set<string>();
  for (const [at, each] of listed.entries()) {
    const { name } = each;
    if (name === "") {
      dropped.push({ name, reason: `number ${at + 1} of its list has no name` });
      continue;
    }
    const reason = seen.has(name) ? "is listed twice" : isPrechecked ? undefined : problemOf(each);
    seen.add(name);
    if (reason === undefined) tools.push(toMcpTool(each, server, names.get(name) ?? name));
    else dropped.push({ name, reason });
  }
  return { tools, dropped };
}

function toMcpTool(listed: ListedTool, server: McpServer, agentName: string): McpTool {
  let text: string | undefined;
  let tokens: number | undefined;
  let made: Tool | undefined;
  return {
    agentName,
    name: listed.name,
    get description() {
      return descriptionOf(listed);
    },
    get text() {
      const { inputSchema, annotations } = listed;
      return (text ??= JSON.stringify({
        name: agentName,
        description: this.description,
        inputSchema,
        annotations,
      }));
    },
    get tokens() {
      return (tokens ??= estimateTokens(this.text));
    },
    tool: () => (made ??= toTool(listed, server, agentName)),
  };
}

function problemOf(listed: ListedTool): string | undefined {
  const { inputSchema } = listed;
  if (normaliseSchema(inputSchema) === undefined) return "has an inputSchema that is not an object";
  if (JSON.stringify(inputSchema ?? {}).length > MAX_SCHEMA_CHARS)
    return `has an inputSchema of more than ${MAX_SCHEMA_CHARS} characters`;
  try {
    compileSchema(usableSchema(inputSchema).schema as never);
    return undefined;
  } catch (error) {
    if (isNanoAgentError(error, "invalid_argument")) return `cannot be used: ${error.message}`;
    throw error;
  }
}

function toTool(listed: ListedTool, server: McpServer, as: string): Tool {
  const { annotations } = listed;
  const usable = usableSchema(listed["inputSchema"]);
  const isReadOnly = isRecord(annotations) && annotations["readOnlyHint"] === true;
  return defineTool({
    name: as,
    description: descriptionOf(listed),
    parameters: usable.schema as never,
    // The server's own timeout applies, which progress extends.
    timeoutMs: 0,
    access: isReadOnly ? "none" : "exclusive",
    execute: async (input: object, { signal, update }: ToolContext) => {
      const options = { signal, onProgress: update };
      return toMcpResult(await server.call(listed.name, originalNames({ ...input }, usable), options));
    },
  });
}

function descriptionOf({ name, description, title }: ListedTool): string {
  const given = [description, title].find((text) => typeof text === "string" && text.trim() !== "");
  return toCleanText(typeof given === "string" ? given : name).slice(0, MAX_DESCRIPTION_CHARS);
}

/** Drops patterns in other regex dialects: the server checks them itself. */
function usableSchema(inputSchema: unknown): NormalisedSchema {
  const { schema, renamed } = normaliseSchema(inputSchema) ?? {
    schema: { type: "object" },
    renamed: new Map(),
  };
  return { renamed, schema: withoutForeignPatterns(schema) as NormalisedSchema["schema"] };
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

/** A tool's schema in a form every provider accepts, and the map from its argument names to the server's. */
interface NormalisedSchema {
  readonly schema: { readonly [key: string]: unknown };
  readonly renamed: ReadonlyMap<string, string>;
}

/** Parameter names that Anthropic's API accepts. */
const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

/** An object schema with no `$ref` or combinators at the top, perhaps wider; `undefined`: no schema. */
export function normaliseSchema(schema: unknown): NormalisedSchema | undefined {
  if (schema === undefined) return { schema: { type: "object", properties: {} }, renamed: new Map() };
  if (!isRecord(schema)) return undefined;
  const { $schema: _dialect, $id: _id, ...rest } = plainObjectSchema(schema as JsonSchema);
  const properties = fieldsOf(rest["properties"]);
  const renamed = new Map<string, string>();
  const ownNames = new Map<unknown, string>();
  const named = Object.entries(properties).map(([name, value]): [string, unknown] => {
    const own = PROPERTY_NAME.test(name) ? name : unusedName(name, { properties, renamed });
    if (own !== name) renamed.set(own, name);
    ownNames.set(name, own);
    return [own, value];
  });
  const listed: readonly unknown[] = Array.isArray(rest["required"]) ? rest["required"] : [];
  const required = listed.flatMap((name) => ownNames.get(name) ?? []);
  return {
    schema: {
      ...rest,
      type: "object",
      properties: Object.fromEntries(named),
      required: required.length === 0 ? undefined : required,
    },
    renamed,
  };
}

export function originalNames(input: Fields, { renamed }: Pick<NormalisedSchema, "renamed">): Fields {
  if (renamed.size === 0) return input;
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [renamed.get(name) ?? name, value]));
}

function unusedName(
  name: string,
  taken: { readonly properties: Fields; readonly renamed: ReadonlyMap<string, string> },
): string {
  const base = name.replaceAll(/[^a-zA-Z0-9_.-]/g, "_").slice(0, 60) || "_";
  for (let number = 1; ; number++) {
    const own = number === 1 ? base : `${base}_${number}`;
    if (!Object.hasOwn(taken.properties, own) && !taken.renamed.has(own)) return own;
  }
}

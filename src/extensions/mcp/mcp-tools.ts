import { orAborted } from "../../core/base/async.ts";
import { compileSchema } from "../../core/base/compile-schema.ts";
import { isNanoAgentError } from "../../core/base/errors.ts";
import { type Fields, fieldsOf, isRecord, ownValue } from "../../core/base/json.ts";
import { counted, shellArgument, toCleanText } from "../../core/base/text.ts";
import { estimateTokens } from "../../core/model/estimate.ts";
import { defineTool, type Tool, type ToolContext } from "../../core/tool/tool.ts";
import type { ListedTool } from "./connection.ts";
import type { McpServer } from "./mcp-server.ts";
import { FIND_TOOLS, mcpNames } from "./tool-name.ts";
import { toMcpResult } from "./tool-result.ts";

export function droppedNotice(server: string, dropped: readonly DroppedTool[]): string {
  const named = dropped.map(({ name, reason }) => `${name} ${reason}`.trim());
  return `MCP server ${server}: left out ${counted(dropped.length, "tool")}: ${shortList(named, server)}.`;
}

export function changedNotice(server: string, names: readonly string[]): string {
  return `MCP server ${server}: changed what it says of ${counted(names.length, "tool")}: ${shortList(names, server)}. What you allowed for a tool still holds: take its rule away if you do not know why it changed.`;
}

const MAX_NAMED = 5;

function shortList(names: readonly string[], server: string): string {
  const more = names.length - MAX_NAMED;
  const rest = more <= 0 ? "" : `; ${more} more, see nano-agent mcp get ${shellArgument(server)}`;
  return `${names.slice(0, MAX_NAMED).join("; ")}${rest}`;
}

/** When schemas wait behind `find_tools`: above this many tools, or tokens. */
export interface DeferLimits {
  readonly tools: number;
  readonly tokens: number;
}

const DEFER_LIMITS: DeferLimits = { tools: 20, tokens: 5_000 };

/** True when tools are few enough to be offered at once. Their cost is read only if their number fits. */
export function isWithinDefer(
  tools: readonly { readonly tokens: number }[],
  limits: DeferLimits | false = DEFER_LIMITS,
): boolean {
  if (limits === false) return true;
  return tools.length <= limits.tools && tools.reduce((sum, { tokens }) => sum + tokens, 0) <= limits.tokens;
}

interface FindToolsSource {
  readonly summary: string;
  readonly all: () => readonly McpTool[];
  /** Offers tools from the next request on, as far as they are not. */
  readonly reveal: (tools: readonly McpTool[]) => void;
  /** Starts what is not started. Names of the servers that are starting, and when one of them is settled. */
  readonly pending: () => { readonly names: readonly string[]; readonly settled: Promise<void> };
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

/** A server's tool, as the model may be offered it. Details are found on demand: most are never offered. */
export interface McpTool {
  readonly as: string;
  readonly name: string;
  readonly description: string;
  readonly tokens: number;
  readonly text: string;
  /** Makes the tool, each time the same one: schemas of tools that nobody is offered are not read. */
  readonly tool: () => Tool;
}

/** A tool whose calls a rule refuses: it is known, but not shown, and its schema is not read. */
export function refusedTool({ as: name }: McpTool): Tool {
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

/** Characters of a schema: longer ones would cost more than what they are for. */
const MAX_SCHEMA_CHARS = 100_000;
const MAX_DESCRIPTION_CHARS = 8_000;

/**
 * Makes tools of what a server lists: `mcp__server__tool`, judged and recorded as any other. One that cannot
 * be used is left out by name. A hint that it only reads lets a tool run beside others, and allows nothing.
 * `isChecked`: the list was gone through before.
 */
export function toMcpTools(
  listed: readonly ListedTool[],
  { server, part, isChecked = false }: McpToolsOptions,
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
    const reason = seen.has(name) ? "is listed twice" : isChecked ? undefined : faultOf(each);
    seen.add(name);
    if (reason === undefined) tools.push(toMcpTool(each, { server, as: names.get(name) ?? name }));
    else dropped.push({ name, reason });
  }
  return { tools, dropped };
}

interface McpToolsOptions {
  readonly server: McpServer;
  readonly part: string;
  readonly isChecked?: boolean;
}

interface Naming {
  readonly server: McpServer;
  readonly as: string;
}

function toMcpTool(listed: ListedTool, naming: Naming): McpTool {
  let text: string | undefined;
  let tokens: number | undefined;
  let made: Tool | undefined;
  return {
    as: naming.as,
    name: listed.name,
    get description() {
      return descriptionOf(listed);
    },
    get text() {
      const { inputSchema, annotations } = listed;
      return (text ??= JSON.stringify({
        name: naming.as,
        description: this.description,
        inputSchema,
        annotations,
      }));
    },
    get tokens() {
      return (tokens ??= estimateTokens(this.text));
    },
    tool: () => (made ??= toTool(listed, naming)),
  };
}

function faultOf(listed: ListedTool): string | undefined {
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

function toTool(listed: ListedTool, { server, as }: Naming): Tool {
  const { annotations } = listed;
  const usable = usableSchema(listed["inputSchema"]);
  const onlyReads = isRecord(annotations) && annotations["readOnlyHint"] === true;
  return defineTool({
    name: as,
    description: descriptionOf(listed),
    parameters: usable.schema as never,
    // The server's own limit counts, which its progress moves on.
    timeoutMs: 0,
    access: onlyReads ? "none" : "exclusive",
    execute: (input: object, context: ToolContext) =>
      call(server, { name: listed.name, input: originalNames({ ...input }, usable), context }),
  });
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

/** A tool's schema as every provider takes it, and how its arguments lead back to the server's. */
interface NormalisedSchema {
  readonly schema: { readonly [key: string]: unknown };
  readonly renamed: ReadonlyMap<string, string>;
}

/** The form of a parameter's name in the API of Anthropic. */
const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
const COMBINATORS = ["allOf", "anyOf", "oneOf"] as const;
const MAX_DEPTH = 20;

/**
 * Brings the input schema of a server's tool to the form that every provider takes: an object at the top,
 * without `$ref` and combinators there (their parameters are put together; those are required that each
 * alternative requires), and with names of parameters that can be sent. The server checks its arguments
 * itself, so a schema may come out wider than it was. `undefined` for what is no schema at all.
 */
export function normaliseSchema(schema: unknown): NormalisedSchema | undefined {
  if (schema === undefined) return { schema: { type: "object", properties: {} }, renamed: new Map() };
  if (!isRecord(schema)) return undefined;
  const { properties, required } = flattened(schema, { root: schema, depth: 0 });
  const { $schema: _dialect, $id: _id, $ref: _ref, ...rest } = schema;
  for (const combinator of [...COMBINATORS, "not", "if", "then", "else", "enum", "const"])
    delete (rest as Record<string, unknown>)[combinator];
  const renamed = new Map<string, string>();
  const named = Object.entries(properties).map(([name, value]): [string, unknown] => {
    const own = PROPERTY_NAME.test(name) ? name : freeName(name, { properties, renamed });
    if (own !== name) renamed.set(own, name);
    return [own, value];
  });
  const ownNames = new Map([...renamed].map(([own, name]) => [name, own]));
  const needed = required
    .filter((name) => Object.hasOwn(properties, name))
    .map((name) => ownNames.get(name) ?? name);
  return {
    schema: {
      ...rest,
      type: "object",
      properties: Object.fromEntries(named),
      ...(needed.length === 0 ? { required: undefined } : { required: needed }),
    },
    renamed,
  };
}

export function originalNames(input: Fields, { renamed }: Pick<NormalisedSchema, "renamed">): Fields {
  if (renamed.size === 0) return input;
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [renamed.get(name) ?? name, value]));
}

interface FlatSchema {
  readonly properties: Fields;
  readonly required: readonly string[];
}

interface Walk {
  readonly root: Fields;
  readonly depth: number;
}

function flattened(schema: Fields, { root, depth }: Walk): FlatSchema {
  if (depth > MAX_DEPTH) return { properties: {}, required: [] };
  const below = { root, depth: depth + 1 };
  const parts: FlatSchema[] = [
    { properties: fieldsOf(schema["properties"]), required: textsOf(schema["required"]) },
  ];
  const target = resolve(schema["$ref"], root);
  if (target !== undefined) parts.push(flattened(target, below));
  for (const each of listOf(schema["allOf"])) parts.push(flattened(each, below));
  for (const key of ["anyOf", "oneOf"]) {
    const alternatives = listOf(schema[key]).map((each) => flattened(each, below));
    if (alternatives.length > 0) parts.push(oneOfThem(alternatives));
  }
  return {
    properties: merged(parts),
    required: [...new Set(parts.flatMap(({ required }) => required))],
  };
}

function oneOfThem(alternatives: readonly FlatSchema[]): FlatSchema {
  const [first, ...others] = alternatives.map(({ required }) => required);
  return {
    properties: merged(alternatives),
    required: (first ?? []).filter((name) => others.every((each) => each.includes(name))),
  };
}

/** Of two schemas for one parameter both count. */
function merged(parts: readonly FlatSchema[]): Fields {
  const all = new Map<string, unknown[]>();
  for (const { properties } of parts)
    for (const [name, value] of Object.entries(properties)) {
      const known = all.get(name) ?? [];
      if (!known.some((each) => JSON.stringify(each) === JSON.stringify(value))) known.push(value);
      all.set(name, known);
    }
  return Object.fromEntries(
    [...all].map(([name, values]) => [name, values.length === 1 ? values[0] : { anyOf: values }]),
  );
}

function resolve(reference: unknown, root: Fields): Fields | undefined {
  if (typeof reference !== "string" || !reference.startsWith("#/")) return undefined;
  let at: unknown = root;
  for (const part of reference.slice(2).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = isRecord(at) ? ownValue(at, key) : undefined;
  }
  return isRecord(at) ? at : undefined;
}

function freeName(
  name: string,
  taken: { readonly properties: Fields; readonly renamed: ReadonlyMap<string, string> },
): string {
  const base = name.replaceAll(/[^a-zA-Z0-9_.-]/g, "_").slice(0, 60) || "_";
  for (let number = 1; ; number++) {
    const own = number === 1 ? base : `${base}_${number}`;
    if (!Object.hasOwn(taken.properties, own) && !taken.renamed.has(own)) return own;
  }
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter((each) => isRecord(each)) : [];
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

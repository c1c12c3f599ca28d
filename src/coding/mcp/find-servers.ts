import { resolve } from "node:path";
import { errorMessage, invalidArgument, invalidConfig, NanoAgentError } from "../../core/base/errors.ts";
import { isRecord, safeParse } from "../../core/base/json.ts";
import { type McpServerDefinition, parseServer } from "../../extensions/mcp/server-definition.ts";
import { findProjectServers } from "../project/acting-files.ts";
import { configPath } from "../settings/paths.ts";
import { readPrivateFile } from "../settings/private-file.ts";
import { keyVariables } from "../settings/project-rules.ts";
import type { Settings } from "../settings/settings.ts";

export interface UnusableServer {
  readonly name: string;
  readonly source: string;
  readonly problem: string;
}

export interface FoundServers {
  readonly servers: readonly McpServerDefinition[];
  readonly problems: readonly UnusableServer[];
}

interface Definition {
  readonly source: string;
  readonly value: unknown;
  readonly isLiteral?: boolean;
  readonly isOfProject?: boolean;
}

/**
 * The MCP servers of `--mcp-config`, the trusted `.mcp.json` and the settings; the first of a name wins.
 * Throws `invalid_argument` or `invalid_config` if a command-line argument cannot be read.
 */
export async function findMcpServers(settings: Settings): Promise<FoundServers> {
  const { config, environment, mcp } = settings;
  const definitions = new Map<string, Definition>();
  const problems: UnusableServer[] = [];
  if (mcp?.strict !== true) {
    for (const [name, definition] of configuredServers(settings)) definitions.set(name, definition);
    addProject(settings, { definitions, faults: problems });
  }
  const { literal = [], configs = [] } = mcp ?? {};
  const seen = new Set<string>();
  for (const [at, text] of [...literal, ...configs].entries())
    for (const [name, definition] of await givenServers(text, settings.cwd)) {
      if (seen.has(name)) problems.push({ name, source: definition.source, problem: NAMED_TWICE });
      else definitions.set(name, { ...definition, isLiteral: at < literal.length });
      seen.add(name);
    }
  const servers: McpServerDefinition[] = [];
  const keys = keyVariables(config.values);
  for (const [name, { source, value, isLiteral: isPlain, isOfProject }] of definitions) {
    const variables = isPlain === true ? undefined : environment;
    const withheld = isOfProject === true ? keys : undefined;
    const parsed = parseServer(name, value, { source, variables, withheld });
    if (parsed.ok) servers.push(parsed.server);
    else problems.push({ name, source, problem: parsed.fault });
  }
  return { servers, problems };
}

function configuredServers({ config, paths }: Settings): readonly (readonly [string, Definition])[] {
  const own = configPath(paths);
  return Object.entries(config.values.mcpServers ?? {}).map(([name, value]) => {
    const source = config.sources.get(`mcpServers.${name}`) ?? "settings";
    return [name, { source, value, isOfProject: source !== own }];
  });
}

const NAMED_TWICE = "was given twice, and the first one is used: give one of them another name";

export function unusableServerText({ name, source, problem }: UnusableServer): string {
  return `${source}: the MCP server ${name.trim() === "" ? JSON.stringify(name) : name} ${problem}`;
}

function addProject(
  { folders, trust }: Settings,
  {
    definitions,
    faults,
  }: { readonly definitions: Map<string, Definition>; readonly faults: UnusableServer[] },
): void {
  for (const found of folders.flatMap((folder) => findProjectServers(trust.folder, folder))) {
    if ("fault" in found) faults.push({ name: "*", source: found.path, problem: found.fault });
    else if (trust.admits(found.item))
      definitions.set(found.name, { source: found.path, value: found.server, isOfProject: true });
  }
}

async function givenServers(text: string, cwd: string): Promise<readonly [string, Definition][]> {
  const isInline = text.trimStart().startsWith("{");
  const source = isInline ? "--mcp-config" : resolve(cwd, text);
  const code = isInline ? "invalid_argument" : "invalid_config";
  const invalid = (what: string): NanoAgentError =>
    new NanoAgentError(code, `${source} ${what}. Write {"mcpServers":{"NAME":{"command":"…","args":[…]}}}.`);
  const value = await valueOf(isInline ? text : readServersFile(source), invalid);
  const servers = isRecord(value) ? value["mcpServers"] : undefined;
  if (!isRecord(servers)) throw invalid('has no object "mcpServers"');
  return Object.entries(servers).map(([name, value]) => [name, { source, value }]);
}

/** The value of `--mcp-config` as JSON, for use elsewhere or later. Throws like {@link findMcpServers}. */
export async function readGivenServers(text: string, cwd: string): Promise<string> {
  const servers = (await givenServers(text, cwd)).map(([name, { value }]) => [name, value] as const);
  return JSON.stringify({ mcpServers: Object.fromEntries(servers) });
}

/** Accepts comments and trailing commas; the parser for them is loaded only if needed. */
async function valueOf(text: string, wrong: (what: string) => NanoAgentError): Promise<unknown> {
  const plain = safeParse(text);
  if (plain.ok) return plain.value;
  const { parseConfigText } = await import("../settings/parse-config.ts");
  const parsed = parseConfigText(text);
  if ("value" in parsed) return parsed.value;
  throw wrong(`is ${parsed.fault.replace(/\. .*$/s, "")} (line ${parsed.line})`);
}

function readServersFile(path: string): string {
  let text: string | undefined;
  try {
    text = readPrivateFile(path);
  } catch (error) {
    throw invalidConfig(`--mcp-config: ${errorMessage(error)}`, { cause: error });
  }
  if (text !== undefined) return text;
  throw invalidArgument(
    `--mcp-config ${path}: there is no such file. Name a JSON file, or pass JSON itself.`,
  );
}

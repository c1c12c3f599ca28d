import { type FoundServers, faultText, findMcpServers } from "../../../coding/mcp/find-servers.ts";
import { hubFor } from "../../../coding/mcp/mcp-parts.ts";
import { projectServersFile, saveServer } from "../../../coding/mcp/saved-servers.ts";
import { configPath } from "../../../coding/settings/paths.ts";
import type { Settings } from "../../../coding/settings/settings.ts";
import { redactionFor } from "../../../coding/setup/secrets.ts";
import { errorMessage, misuse } from "../../../core/base/errors.ts";
import { isRecord, safeParse } from "../../../core/base/json.ts";
import { counted, didYouMean } from "../../../core/base/text.ts";
import type { McpHub, McpServerStatus } from "../../../extensions/mcp/mcp-hub.ts";
import type { McpServerDefinition } from "../../../extensions/mcp/server-definition.ts";
import { toMcpResult } from "../../../extensions/mcp/tool-result.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { leftOutText } from "../../../view/notice-text.ts";
import { terminalLine, terminalText } from "../../../view/safe-text.ts";
import type { CommandCall } from "../command-call.ts";
import { answer, type CommandContext, lookOf, say, settingsHere } from "../command-context.ts";
import { withSignals } from "../ending-signals.ts";
import { mcpLogin, mcpLogout } from "../mcp/mcp-login.ts";
import { mcpServe } from "../mcp/mcp-serve.ts";
import { definitionFrom } from "../mcp/new-server.ts";
import { serverLines, serverRow } from "../mcp/server-text.ts";

/** `nano-agent mcp list|get|add|remove|test|login|logout|serve`. */
export async function mcp(context: CommandContext, call: CommandCall): Promise<number> {
  const settings = await settingsHere(context);
  const place = { context, call, settings };
  switch (call.action) {
    case "add":
      return add(place);
    case "remove":
      return remove(place);
    case "get":
      return get(place);
    case "test":
      return testServer(place);
    case "serve":
      return mcpServe(context, settings, call);
    case "login":
      return mcpLogin(context, settings, await named(place));
    case "logout":
      return mcpLogout(context, settings, await named(place));
    default:
      return list(place);
  }
}

interface Place {
  readonly context: CommandContext;
  readonly call: CommandCall;
  readonly settings: Settings;
}

async function list(place: Place): Promise<number> {
  const { context, call } = place;
  const found = await servers(place);
  return withHub(place, found.servers, async (hub) => {
    const statuses = hub.statuses();
    const rows = found.servers.flatMap((definition) => {
      const status = statuses.find(({ name }) => name === definition.name);
      return status === undefined ? [] : [serverRow(definition, status)];
    });
    const lines = rows.flatMap((row) => serverLines(row, lookOf(context)));
    if (lines.length === 0)
      lines.push("There are no MCP servers. To add one: nano-agent mcp add NAME -- COMMAND…");
    answer(context, call, {
      json: () => ({ servers: rows, faults: found.faults }),
      text: () => `${lines.join("\n")}\n`,
    });
    return EXIT.done;
  });
}

async function get(place: Place): Promise<number> {
  const { context, call } = place;
  const definition = await named(place);
  return withHub(place, [definition], async (hub) => {
    const [status] = hub.statuses();
    if (status === undefined) return EXIT.failed;
    const row = serverRow(definition, status);
    const more = {
      prompts: (await hub.prompts()).map(({ name }) => name),
      resources: (await hub.resources()).map(({ mention }) => mention),
    };
    const lines = serverLines(row, { ...lookOf(context), more });
    answer(context, call, { json: () => ({ ...row, ...more }), text: () => `${lines.join("\n")}\n` });
    return EXIT.done;
  });
}

async function testServer(place: Place): Promise<number> {
  const { context, call, settings } = place;
  const { stdout } = context;
  const [, tool, json] = call.words;
  const input = argumentsOf(json);
  const definition = await named(place);
  return withHub(place, [definition], async (hub) => {
    const [status] = hub.statuses();
    if (status?.status !== "connected") {
      const { name = "The server", reason = "it is switched off." } = status ?? {};
      say(context, `${name} does not work: ${reason}`);
      return EXIT.failed;
    }
    if (tool === undefined) {
      stdout.write(`${definition.name} works: ${counted(status.tools.length, "tool")}.\n`);
      return EXIT.done;
    }
    try {
      const known = knownTool(status, tool);
      const answer = await hub.call(definition.name, known, input, new AbortController().signal);
      const { content, isError = false } = toMcpResult(answer);
      const redact = redactionFor(settings.environment, settings.config.values, [definition]);
      const text =
        typeof content === "string"
          ? content
          : content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");
      const said = call.has("--json") ? JSON.stringify({ isError, content }) : text;
      const shown = redact?.text(said) ?? said;
      stdout.write(`${stdout.isTerminal ? terminalText(shown) : shown}\n`);
      return isError ? EXIT.failed : EXIT.done;
    } catch (error) {
      say(context, errorMessage(error));
      return EXIT.failed;
    }
  });
}

/** The server's own name of a tool. Throws `invalid_argument` where it has none of that name. */
function knownTool({ name, tools, dropped }: McpServerStatus, tool: string): string {
  const names = [...tools, ...dropped].map((each) => each.name);
  const known = tools.find(({ as }) => as === tool)?.name ?? tool;
  if (names.includes(known)) return known;
  throw misuse(
    `${name} has no tool ${JSON.stringify(tool)}.${didYouMean(tool, names)} Its tools: ${names.join(", ") || "none"}.`,
  );
}

function argumentsOf(json: string | undefined): object {
  if (json === undefined) return {};
  const parsed = safeParse(json);
  if (parsed.ok && isRecord(parsed.value)) return parsed.value;
  throw misuse(`${JSON.stringify(json)} is not a JSON object. Write arguments as '{"name":"value"}'.`);
}

async function add({ context, call, settings }: Place): Promise<number> {
  const { name, definition } = definitionFrom(call);
  const path = fileOf({ call, settings });
  const before = await saveServer(path, name, definition);
  const done = before === undefined ? "Added" : "Replaced";
  context.stdout.write(`${done} the MCP server ${name} in ${terminalLine(path, 1_000)}.\n`);
  if (call.has("--project")) context.stdout.write("It is used here once you approve it: nano-agent trust\n");
  return EXIT.done;
}

async function remove({ context, call, settings }: Place): Promise<number> {
  const [name = ""] = call.words;
  const path = fileOf({ call, settings });
  const before = await saveServer(path, name, undefined);
  if (before === undefined) {
    say(context, `${path} has no MCP server ${JSON.stringify(name)}. See nano-agent mcp list.`);
    return EXIT.failed;
  }
  context.stdout.write(`Removed the MCP server ${name} from ${terminalLine(path, 1_000)}.\n`);
  return EXIT.done;
}

function fileOf({ call, settings }: Pick<Place, "call" | "settings">): string {
  return call.has("--project") ? projectServersFile(settings.cwd) : configPath(settings.paths);
}

/** The servers of the folder; faults and what waits for trust are said. */
async function servers({ context, settings }: Place): Promise<FoundServers> {
  const found = await findMcpServers(settings);
  for (const fault of found.faults) say(context, faultText(fault));
  const { leftOut } = settings.trust;
  if (leftOut.length > 0) say(context, leftOutText(leftOut));
  return found;
}

/** The server whose name is the first word. Throws `invalid_argument` where there is none. */
async function named(place: Place): Promise<McpServerDefinition> {
  const [name = ""] = place.call.words;
  const found = await servers(place);
  const server = found.servers.find((each) => each.name === name);
  if (server !== undefined) return server;
  const names = found.servers.map((each) => each.name);
  throw misuse(
    `There is no MCP server ${JSON.stringify(name)} here.${didYouMean(name, names)} Servers: ${names.join(", ") || "none"}.`,
  );
}

/** Does some work with servers that were started, as far as they could be. */
async function withHub(
  { context, settings }: Place,
  definitions: readonly McpServerDefinition[],
  work: (hub: McpHub) => Promise<number>,
): Promise<number> {
  const leftOut: string[] = [];
  const hub = hubFor(settings, {
    servers: definitions,
    // What is wrong with a server stands in its status.
    onNotice: (message, about) => about === "tools" && leftOut.push(message),
  });
  return withSignals(async ({ signal }) => {
    signal.addEventListener("abort", () => hub.killNow(), { once: true });
    try {
      hub.start();
      await hub.settled();
      return await work(hub);
    } finally {
      await hub.close();
      for (const message of leftOut) say(context, message);
    }
  });
}

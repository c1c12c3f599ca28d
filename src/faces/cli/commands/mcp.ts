import { type FoundServers, findMcpServers, unusableServerText } from "../../../coding/mcp/find-servers.ts";
import { hubFor } from "../../../coding/mcp/mcp-parts.ts";
import { projectServersFile, saveServer } from "../../../coding/mcp/saved-servers.ts";
import { configPath } from "../../../coding/settings/paths.ts";
import { loginStore, removeLogin } from "../../../coding/settings/saved-keys.ts";
import type { Settings } from "../../../coding/settings/settings.ts";
import { redactionFor } from "../../../coding/setup/confine.ts";
import { systemClock } from "../../../core/base/async.ts";
import { errorMessage, invalidArgument } from "../../../core/base/errors.ts";
import { isRecord, safeParse } from "../../../core/base/json.ts";
import { didYouMean, pluralize } from "../../../core/base/text.ts";
import type { McpHub, McpServerStatus } from "../../../extensions/mcp/mcp-hub.ts";
import {
  type HttpServer,
  type McpServerDefinition,
  parseServer,
} from "../../../extensions/mcp/server-definition.ts";
import { toMcpResult } from "../../../extensions/mcp/tool-result.ts";
import { networkOptions } from "../../../providers/network-options.ts";
import { type Environment, variable } from "../../../system/env.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { untrustedText } from "../../../view/notice-text.ts";
import { terminalLine, terminalText } from "../../../view/safe-text.ts";
import type { CommandCall } from "../command-call.ts";
import {
  type CommandContext,
  loadLocalSettings,
  say,
  type TextLayout,
  textLayoutOf,
  wrapText,
  writeResult,
} from "../command-context.ts";
import { EndingSignals, withSignals } from "../ending-signals.ts";
import { BROWSERS, mcpServe, openInBrowser } from "./server-commands.ts";

/** `nano-agent mcp list|get|add|remove|test|login|logout|serve`. */
export async function mcp(call: CommandCall): Promise<number> {
  const settings = await loadLocalSettings(call);
  const place = { call, settings };
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
      return mcpServe(call, settings);
    case "login":
      return mcpLogin(call, settings, await namedServer(place));
    case "logout":
      return mcpLogout(call, settings, await namedServer(place));
    default:
      return list(place);
  }
}

interface McpCall {
  readonly call: CommandCall;
  readonly settings: Settings;
}

async function list(place: McpCall): Promise<number> {
  const { call } = place;
  const found = await findServers(place);
  return withHub(place, found.servers, async (hub) => {
    const statuses = hub.statuses();
    const rows = found.servers.flatMap((definition) => {
      const status = statuses.find(({ name }) => name === definition.name);
      return status === undefined ? [] : [serverRow(definition, status)];
    });
    const lines = rows.flatMap((row) => serverLines(row, textLayoutOf(call)));
    if (lines.length === 0)
      lines.push("There are no MCP servers. To add one: nano-agent mcp add NAME -- COMMAND…");
    const faults = found.problems.map(({ problem: fault, ...rest }) => ({ ...rest, fault }));
    return writeResult(call, { servers: rows, faults }, `${lines.join("\n")}\n`);
  });
}

async function get(place: McpCall): Promise<number> {
  const { call } = place;
  const definition = await namedServer(place);
  return withHub(place, [definition], async (hub) => {
    const [status] = hub.statuses();
    if (status === undefined) return EXIT.failed;
    const row = serverRow(definition, status);
    const more = {
      prompts: (await hub.prompts()).map(({ name }) => name),
      resources: (await hub.resources()).map(({ mention }) => mention),
    };
    const lines = serverLines(row, { ...textLayoutOf(call), more });
    return writeResult(call, { ...row, ...more }, `${lines.join("\n")}\n`);
  });
}

async function testServer(place: McpCall): Promise<number> {
  const { call, settings } = place;
  const { stdout } = call;
  const [, tool, json] = call.words;
  const input = argumentsOf(json);
  const definition = await namedServer(place);
  return withHub(place, [definition], async (hub) => {
    const [status] = hub.statuses();
    if (status?.status !== "connected") {
      const { name = "The server", reason = "it is switched off." } = status ?? {};
      say(call, `${name} does not work: ${reason}`);
      return EXIT.failed;
    }
    if (tool === undefined) {
      stdout.write(`${definition.name} works: ${pluralize(status.tools.length, "tool")}.\n`);
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
      const output = call.has("--json") ? JSON.stringify({ isError, content }) : text;
      const shown = redact?.text(output) ?? output;
      stdout.write(`${stdout.isTerminal ? terminalText(shown) : shown}\n`);
      return isError ? EXIT.failed : EXIT.done;
    } catch (error) {
      say(call, errorMessage(error));
      return EXIT.failed;
    }
  });
}

/** The server's own name of a tool. Throws `invalid_argument` if it has no such tool. */
function knownTool({ name, tools, dropped }: McpServerStatus, tool: string): string {
  const names = [...tools, ...dropped].map((each) => each.name);
  const known = tools.find(({ agentName }) => agentName === tool)?.name ?? tool;
  if (names.includes(known)) return known;
  throw invalidArgument(
    `${name} has no tool ${JSON.stringify(tool)}.${didYouMean(tool, names)} Its tools: ${names.join(", ") || "none"}.`,
  );
}

function argumentsOf(json: string | undefined): object {
  if (json === undefined) return {};
  const parsed = safeParse(json);
  if (parsed.ok && isRecord(parsed.value)) return parsed.value;
  throw invalidArgument(
    `${JSON.stringify(json)} is not a JSON object. Write arguments as '{"name":"value"}'.`,
  );
}

async function add({ call, settings }: McpCall): Promise<number> {
  const { name, definition } = definitionFrom(call);
  const path = fileOf({ call, settings });
  const before = await saveServer(path, name, definition);
  const done = before === undefined ? "Added" : "Replaced";
  call.stdout.write(`${done} the MCP server ${name} in ${terminalLine(path, 1_000)}.\n`);
  if (call.has("--project")) call.stdout.write("It is used here once you approve it: nano-agent trust\n");
  return EXIT.done;
}

async function remove({ call, settings }: McpCall): Promise<number> {
  const [name = ""] = call.words;
  const path = fileOf({ call, settings });
  const before = await saveServer(path, name, undefined);
  if (before === undefined) {
    say(call, `${path} has no MCP server ${JSON.stringify(name)}. See nano-agent mcp list.`);
    return EXIT.failed;
  }
  call.stdout.write(`Removed the MCP server ${name} from ${terminalLine(path, 1_000)}.\n`);
  return EXIT.done;
}

function fileOf({ call, settings }: Pick<McpCall, "call" | "settings">): string {
  return call.has("--project") ? projectServersFile(settings.cwd) : configPath(settings.paths);
}

/** The servers of the folder; reports invalid definitions and servers that await trust. */
async function findServers({ call, settings }: McpCall): Promise<FoundServers> {
  const found = await findMcpServers(settings);
  for (const fault of found.problems) say(call, unusableServerText(fault));
  const { leftOut } = settings.trust;
  if (leftOut.length > 0) say(call, untrustedText(leftOut));
  return found;
}

/** The server named by the first word. Throws `invalid_argument` for an unknown name. */
async function namedServer(place: McpCall): Promise<McpServerDefinition> {
  const [name = ""] = place.call.words;
  const found = await findServers(place);
  const server = found.servers.find((each) => each.name === name);
  if (server !== undefined) return server;
  const names = found.servers.map((each) => each.name);
  throw invalidArgument(
    `There is no MCP server ${JSON.stringify(name)} here.${didYouMean(name, names)} Servers: ${names.join(", ") || "none"}.`,
  );
}

/** Runs work with the servers that could be started. */
async function withHub(
  { call, settings }: McpCall,
  definitions: readonly McpServerDefinition[],
  work: (hub: McpHub) => Promise<number>,
): Promise<number> {
  const leftOut: string[] = [];
  const hub = hubFor(settings, {
    servers: definitions,
    // A server's errors appear in its status.
    onNotice: (message, about) => about === "tools" && leftOut.push(message),
  });
  return withSignals(async ({ signal }) => {
    signal.addEventListener("abort", () => hub.killNow(), { once: true });
    try {
      hub.start();
      await hub.waitUntilSettled();
      return await work(hub);
    } finally {
      await hub.close();
      for (const message of leftOut) say(call, message);
    }
  });
}

/** `nano-agent mcp login NAME`: sends the person to the login page and stores the resulting tokens. */
async function mcpLogin(
  call: CommandContext,
  { paths, config }: Settings,
  server: McpServerDefinition,
): Promise<number> {
  const { stdout, stderr, environment } = call;
  const address = asHttpServer(server);
  using signals = new EndingSignals();
  signals.allowGrace();
  const { logIn, proxiedFetch } = await import("../../../coding/mcp/mcp-client.ts");
  try {
    await logIn(address, {
      store: loginStore(address, paths),
      clock: systemClock,
      fetch: proxiedFetch(networkOptions(config.values.network, environment).proxy),
      signal: signals.signal,
      show: (page) => {
        stderr.write(`Log in to ${server.name} on this page:\n${page.href}\n`);
        openPage(page, environment);
      },
    });
    stdout.write(`Logged in to ${server.name}.\n`);
    return EXIT.done;
  } catch (error) {
    say(call, `${server.name}: ${errorMessage(error)}`);
    return signals.signal.aborted ? EXIT.interrupted : EXIT.credentials;
  }
}

function mcpLogout({ stdout }: CommandContext, { paths }: Settings, server: McpServerDefinition): number {
  const isGone = removeLogin(asHttpServer(server), paths);
  stdout.write(isGone ? `Logged out of ${server.name}.\n` : `Nobody was logged in to ${server.name}.\n`);
  return EXIT.done;
}

function asHttpServer(server: McpServerDefinition): HttpServer {
  if (server.type !== "stdio") return server;
  throw invalidArgument(
    `The server ${server.name} is a program of this machine: there is nothing to log in to.`,
  );
}

/** Opens a page in a browser, if any; its address has been printed, so this may fail. */
function openPage(page: URL, environment: Environment): void {
  const display = variable(environment, "DISPLAY") ?? variable(environment, "WAYLAND_DISPLAY");
  const usual = BROWSERS[process.platform] ?? (display && "xdg-open");
  const browser = variable(environment, "BROWSER") ?? usual;
  if (browser !== undefined) openInBrowser(browser, page.href);
}

/** The server described by `mcp add`. Throws `invalid_argument` if it would be unusable. */
function definitionFrom(call: CommandCall): { readonly name: string; readonly definition: object } {
  const [name = "", url] = call.words;
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(name))
    throw invalidArgument(
      `${JSON.stringify(name)} is not a name for a server: use letters, digits, ".", "_" and "-".`,
    );
  const definition = url === undefined ? commandServer(call) : httpServer(call, url);
  // Variables may be set later or elsewhere: only their form is checked.
  const place = { source: "mcp add", variables: new Proxy({}, ANY_VARIABLE) };
  const parsed = parseServer(name, definition, place);
  if (!parsed.ok) throw invalidArgument(`The server ${name} ${parsed.fault}`);
  return { name, definition };
}

const ANY_VARIABLE: ProxyHandler<{ readonly [name: string]: string }> = {
  get: () => "http",
  getOwnPropertyDescriptor: () => ({ configurable: true, enumerable: true, value: "http" }),
};

function commandServer({ afterDashes, has, list }: CommandCall): object {
  const [command, ...args] = afterDashes;
  if (command === undefined)
    throw invalidArgument("mcp add needs a URL, or a command after --: nano-agent mcp add NAME -- COMMAND…");
  for (const option of ["--header", "--transport"] as const)
    if (has(option)) throw invalidArgument(`${option} is for a server at a URL. Leave it out.`);
  const env = parsePairs(list("--env"), { option: "--env", sign: "=" });
  return { command, args, ...(Object.keys(env).length === 0 ? {} : { env }) };
}

function httpServer({ afterDashes, has, list, text }: CommandCall, url: string): object {
  if (afterDashes.length > 0) throw invalidArgument("mcp add got a URL and a command. Leave one out.");
  if (has("--env")) throw invalidArgument("--env is for a server that a command starts. Leave it out.");
  const headers = parsePairs(list("--header"), { option: "--header", sign: ":" });
  const type = text("--transport") ?? "http";
  return { type, url, ...(Object.keys(headers).length === 0 ? {} : { headers }) };
}

function parsePairs(
  texts: readonly string[],
  { option, sign }: { readonly option: string; readonly sign: string },
): { readonly [name: string]: string } {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf(sign);
      if (at < 1)
        throw invalidArgument(
          `${option} ${JSON.stringify(text)}: write NAME${sign}${sign === ":" ? " " : ""}TEXT.`,
        );
      const value = text.slice(at + 1);
      return [text.slice(0, at).trim(), sign === ":" ? value.trim() : value];
    }),
  );
}

/** A server as shown by `--json`, without values that may be secrets. */
interface ServerRow {
  readonly name: string;
  readonly status: McpServerStatus["status"];
  readonly reason: string | undefined;
  readonly type: McpServerDefinition["type"];
  readonly target: string;
  /** Names of the variables or headers it receives. */
  readonly given: readonly string[];
  readonly source: string;
  /** Estimated tokens per request for offering all of its tools. */
  readonly tokens: number;
  readonly tools: readonly { readonly name: string; readonly tokens: number }[];
  readonly dropped: McpServerStatus["dropped"];
}

function serverRow(server: McpServerDefinition, status: McpServerStatus): ServerRow {
  const { reason, tools, dropped } = status;
  const isProcess = server.type === "stdio";
  return {
    name: server.name,
    status: status.status,
    reason,
    type: server.type,
    target: isProcess ? [server.command, ...server.args].join(" ") : server.url,
    given: Object.keys(isProcess ? server.env : server.headers),
    source: server.source,
    tokens: tools.reduce((sum, { tokens }) => sum + tokens, 0),
    tools: tools.map(({ agentName, tokens }) => ({ name: agentName, tokens })),
    dropped,
  };
}

interface ServerTextShape extends TextLayout {
  readonly more?: { readonly prompts: readonly string[]; readonly resources: readonly string[] };
}

function serverLines(row: ServerRow, { style, width, more }: ServerTextShape): readonly string[] {
  const indented = (text: string): readonly string[] =>
    wrapText(terminalLine(text, 1_000), { width, first: "    ", rest: "      " }).map((line) =>
      style.dim(line),
    );
  const known =
    row.tools.length === 0 ? "" : `  ${pluralize(row.tools.length, "tool")}, about ${row.tokens} tokens`;
  const reason = row.reason === undefined ? [] : indented(row.reason);
  const given = row.given.length === 0 ? "" : ` (with ${row.given.join(", ")})`;
  return [
    `${style.bold(terminalLine(row.name, 100))}  ${row.status}${known}`,
    ...reason,
    ...indented(`${row.type}: ${row.target}${given}`),
    ...indented(`from ${row.source}`),
    ...row.dropped.flatMap(({ name, reason: why }) => indented(`left out: ${name} ${why}`)),
    ...(more === undefined
      ? []
      : [
          ...row.tools.flatMap(({ name, tokens }) => indented(`${name}  about ${tokens} tokens`)),
          ...more.prompts.flatMap((name) => indented(`prompt ${name}`)),
          ...more.resources.flatMap((mention) => indented(`resource ${mention}`)),
        ]),
  ];
}

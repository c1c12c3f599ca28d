import { type Fields, isRecord, ownValue } from "../../core/base/json.ts";
import { hashText } from "../../core/base/text.ts";

type ExpandedText = { readonly text: string } | { readonly missing: string };

/** Expands `${NAME}` and `${NAME:-default}`. Inserted values are not expanded again. */
export function expandVariables(
  text: string,
  variables: { readonly [name: string]: string | undefined },
): ExpandedText {
  let missing: string | undefined;
  const expanded = text.replaceAll(VARIABLE, (_whole, name: string, fallback: string | undefined) => {
    const value = ownValue(variables, name);
    if (value !== undefined && (value !== "" || fallback === undefined)) return value;
    if (fallback === undefined) missing ??= name;
    return fallback ?? "";
  });
  return missing === undefined ? { text: expanded } : { missing };
}

function variablesIn(text: string): readonly string[] {
  return [...text.matchAll(VARIABLE)].flatMap(([, name]) => name ?? []);
}

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

interface AnyServer {
  readonly name: string;
  readonly source: string;
  /** Identifies the configuration, without the values of its variables. */
  readonly hash: string;
  readonly enabled: boolean;
  /** Milliseconds without progress after which a call is abandoned. */
  readonly timeoutMs: number;
  /** Milliseconds the server may take until its tools are known. */
  readonly startupTimeoutMs: number;
  /** True if it may query the run's model. */
  readonly sampling: boolean;
}

export interface StdioServer extends AnyServer {
  readonly type: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string };
  readonly cwd: string | undefined;
}

export interface HttpServer extends AnyServer {
  /** `http`: Streamable HTTP, or SSE if the server does not support it. `sse`: SSE only. */
  readonly type: "http" | "sse";
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly oauth: OAuthSettings;
}

export interface OAuthSettings {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly scope?: string;
  /** Default: any free port. */
  readonly callbackPort?: number;
}

export type McpServerDefinition = StdioServer | HttpServer;

export interface DefinitionSource {
  readonly source: string;
  /** Values for `${NAME}`; `undefined`: `${NAME}` is ordinary text. */
  readonly variables: { readonly [name: string]: string | undefined } | undefined;
  /** Names of variables the definition's author must not get. Default: none. */
  readonly withheld?: ReadonlySet<string> | undefined;
}

export type ParsedServer =
  | { readonly ok: true; readonly server: McpServerDefinition }
  | { readonly ok: false; readonly fault: string };

const DEFAULT_TIMEOUT_MS = 120_000;
const DEFAULT_STARTUP_TIMEOUT_MS = 30_000;
const HTTP_TYPES: ReadonlySet<unknown> = new Set(["http", "streamable-http", "streamableHttp"]);

/** Ignores unknown fields, which other programs keep there. */
export function parseServer(name: string, value: unknown, place: DefinitionSource): ParsedServer {
  if (name.trim() === "") return failure("has no name; write one in place of the empty text");
  if (!isRecord(value)) return failure("is not an object");
  const { type, command, url } = value;
  try {
    const common = commonFields(name, value, place);
    const expand = expander(place);
    if (url !== undefined || HTTP_TYPES.has(type) || type === "sse")
      return { ok: true, server: httpServer(common, value, expand) };
    if (type !== undefined && type !== "stdio")
      return failure(`has the type ${JSON.stringify(type)}; write stdio, http or sse`);
    if (command === undefined) return failure("has neither a command nor a url");
    return { ok: true, server: stdioServer(common, value, expand) };
  } catch (error) {
    if (error instanceof DefinitionError) return failure(error.message);
    throw error;
  }
}

function failure(text: string): ParsedServer {
  return { ok: false, fault: `${text}.` };
}

class DefinitionError extends Error {}

type Expand = (text: string, where: string) => string;

function expander({ variables, withheld }: DefinitionSource): Expand {
  return (text, where) => {
    if (variables === undefined || !text.includes("${")) return text;
    const key = variablesIn(text).find((name) => withheld?.has(name) === true);
    if (key !== undefined)
      throw new DefinitionError(
        `asks for ${key} in "${where}", a key of your models that no project gets; put the server into your own settings`,
      );
    const expanded: ExpandedText = expandVariables(text, variables);
    if ("text" in expanded) return expanded.text;
    throw new DefinitionError(
      `needs the variable ${expanded.missing} in "${where}", which is not set; set it, or write \${${expanded.missing}:-default}`,
    );
  };
}

function commonFields(name: string, value: Fields, { source }: DefinitionSource): AnyServer {
  return {
    name,
    source,
    // A cryptographic hash would delay the first request, and this name protects nothing.
    hash: hashText(JSON.stringify(value)).toString(36).padStart(11, "0"),
    enabled: value["disabled"] !== true && value["enabled"] !== false,
    timeoutMs: milliseconds(value, "timeout") ?? DEFAULT_TIMEOUT_MS,
    startupTimeoutMs: milliseconds(value, "startupTimeout") ?? DEFAULT_STARTUP_TIMEOUT_MS,
    sampling: value["sampling"] === true,
  };
}

function milliseconds(value: Fields, key: string): number | undefined {
  const given = value[key];
  if (given === undefined) return undefined;
  if (typeof given === "number" && given > 0 && Number.isFinite(given)) return given;
  throw new DefinitionError(`has a "${key}" that is not a number of milliseconds above 0`);
}

function stdioServer(common: AnyServer, value: Fields, expand: Expand): StdioServer {
  const { command, args = [], cwd } = value;
  if (typeof command !== "string" || command.trim() === "" || command.includes("\0"))
    throw new DefinitionError('has a "command" that is not the name of a program');
  if (!isTextList(args)) throw new DefinitionError('has "args" that are not a list of texts');
  if (cwd !== undefined && typeof cwd !== "string")
    throw new DefinitionError('has a "cwd" that is not a folder');
  return {
    ...common,
    type: "stdio",
    command: expand(command, "command"),
    args: args.map((each) => expand(each, "args")),
    env: textMap(value, "env", expand),
    cwd: cwd === undefined ? undefined : expand(cwd, "cwd"),
  };
}

function httpServer(common: AnyServer, value: Fields, expand: Expand): HttpServer {
  const { url, type } = value;
  const address = typeof url === "string" ? expand(url, "url") : "";
  const parsed = URL.parse(address);
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw new DefinitionError('has a "url" that is not an http:// or https:// address');
  if (parsed.username !== "" || parsed.password !== "")
    throw new DefinitionError('has a "url" with a name or password in it; put it into "headers"');
  const headers = textMap(value, "headers", expand);
  for (const [header, text] of Object.entries(headers))
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(header) || /[\r\n\0]/.test(text))
      throw new DefinitionError(`has a header ${JSON.stringify(header)} that HTTP does not take`);
  const oauth = oauthSettings(value["oauth"], expand);
  return { ...common, type: type === "sse" ? "sse" : "http", url: address, headers, oauth };
}

function oauthSettings(value: unknown, expand: Expand): OAuthSettings {
  if (value === undefined) return {};
  if (!isRecord(value)) throw new DefinitionError('has "oauth" that is not an object');
  const { callbackPort, ...rest } = value;
  if (callbackPort !== undefined && !(Number.isInteger(callbackPort) && Number(callbackPort) > 0))
    throw new DefinitionError('has an "oauth.callbackPort" that is not a port');
  const entries = ["clientId", "clientSecret", "scope"].flatMap((key) => {
    const text = rest[key];
    if (text === undefined) return [];
    if (typeof text !== "string") throw new DefinitionError(`has an "oauth.${key}" that is not a text`);
    return [[key, expand(text, `oauth.${key}`)]];
  });
  return {
    ...(Object.fromEntries(entries) as OAuthSettings),
    ...(callbackPort === undefined ? {} : { callbackPort: Number(callbackPort) }),
  };
}

function textMap(value: Fields, key: string, expand: Expand): { readonly [name: string]: string } {
  const given = value[key];
  if (given === undefined) return {};
  const entries = isRecord(given) ? Object.entries(given) : undefined;
  if (entries === undefined || !entries.every(([, text]) => typeof text === "string"))
    throw new DefinitionError(`has "${key}" that is not an object of texts`);
  return Object.fromEntries(entries.map(([name, text]) => [name, expand(text as string, `${key}.${name}`)]));
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string" && !each.includes("\0"));
}

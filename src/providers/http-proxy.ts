import type { ClientRequestArgs, IncomingMessage, RequestOptions } from "node:http";
import type { Duplex } from "node:stream";
import { invalidConfig, isNanoAgentError, NanoAgentError, toNanoAgentError } from "../core/base/errors.ts";
import { defined } from "../core/base/json.ts";
import { isLoopback, type ProxyOptions } from "./network.ts";

/** How a host is reached: directly, by a proxy that passes the request on, or through its tunnel. */
export type Route =
  | { readonly type: "direct" }
  | { readonly type: "forward" | "tunnel"; readonly proxy: URL };

/** How long a proxy may take to open a tunnel. */
const TUNNEL_MS = 30_000;

/** The route to `url`. Throws `invalid_config` for a proxy address that cannot be used. */
export function routeTo(url: URL, { http = "", https = "", noProxy = "" }: ProxyOptions = {}): Route {
  const isSecure = url.protocol === "https:";
  const address = isSecure ? https : http;
  if (address === "" || isLoopback(url.hostname) || readNoProxy(noProxy).covers(url))
    return { type: "direct" };
  const proxy = URL.parse(address.includes("://") ? address : `http://${address}`);
  if (proxy?.protocol === "http:" || proxy?.protocol === "https:")
    return { type: isSecure ? "tunnel" : "forward", proxy };
  // Not all of it: there may be a password.
  const shown = proxy === null ? "" : ` ${proxy.protocol}//${proxy.host}`;
  throw invalidConfig(
    `The proxy address${shown} is not an http or https address. Set it like http://proxy.example:3128.`,
  );
}

/** The header with the user and password in a proxy's address; none where it has none. */
function proxyAuthorization({ username, password }: URL): { readonly "proxy-authorization"?: string } {
  if (username === "" && password === "") return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` };
}

/** Where a request for `url` is sent on a route, and what the proxy wants with it. */
export function destination(
  url: URL,
  route: Route,
): RequestOptions & { readonly headers?: Record<string, string> } {
  if (route.type === "forward")
    return {
      host: bareHost(route.proxy),
      port: route.proxy.port || 80,
      path: url.href,
      headers: { host: url.host, ...proxyAuthorization(route.proxy) },
    };
  return { host: bareHost(url), port: portOf(url), path: url.pathname + url.search };
}

function portOf({ port, protocol }: URL): string | number {
  return port || (protocol === "https:" ? 443 : 80);
}

/** The name of a host, or its address without brackets. */
function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

/** Told once about a new connection. Node ignores the stream when there is an error. */
type ConnectCallback = (error: Error | null, stream: Duplex) => void;

/**
 * A `createConnection` for an HTTPS agent: asks `proxy` for a tunnel (RFC 9110, section 9.3.6) and speaks TLS
 * to the real host inside it. `ca` replaces the trusted authorities for both.
 */
export function connectThroughProxy(
  proxy: URL,
  ca: string | undefined,
): (options: ClientRequestArgs, callback?: ConnectCallback) => undefined {
  return (options, callback) => {
    const host = options.host ?? "";
    openSecureTunnel({ proxy, ca, host, port: Number(options.port ?? 443) }).then(
      (stream) => callback?.(null, stream),
      // Node passes the error on and never touches the stream, which its types demand all the same.
      (error: unknown) =>
        (callback as ((error: Error) => void) | undefined)?.(toNanoAgentError(error, "network")),
    );
    return undefined;
  };
}

interface Tunnel {
  readonly proxy: URL;
  readonly ca: string | undefined;
  readonly host: string;
  readonly port: number;
}

async function openSecureTunnel(tunnel: Tunnel): Promise<Duplex> {
  const { host, ca } = tunnel;
  const isAddress = process.getBuiltinModule("node:net").isIP(host) !== 0;
  const secure = process.getBuiltinModule("node:tls").connect({
    socket: await openTunnel(tunnel),
    ALPNProtocols: ["http/1.1"],
    host,
    ...(isAddress ? {} : { servername: host }),
    ...defined({ ca }),
  });
  // Rejects with the error of the connection.
  await process.getBuiltinModule("node:events").once(secure, "secureConnect");
  return secure;
}

async function openTunnel({ proxy, ca, host, port }: Tunnel): Promise<Duplex> {
  const isSecure = proxy.protocol === "https:";
  const authority = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const request = process.getBuiltinModule(isSecure ? "node:https" : "node:http").request({
    method: "CONNECT",
    host: bareHost(proxy),
    port: portOf(proxy),
    path: authority,
    agent: false,
    timeout: TUNNEL_MS,
    headers: { host: authority, ...proxyAuthorization(proxy) },
    ...defined({ ca }),
  });
  return new Promise((resolve, reject) => {
    request.once("connect", ({ statusCode: status = 0 }: IncomingMessage, socket: Duplex) => {
      if (status === 200) {
        resolve(socket);
        return;
      }
      socket.destroy();
      reject(refusal(proxy, authority, status));
    });
    request.once("response", (response: IncomingMessage) => {
      response.destroy();
      reject(refusal(proxy, authority, response.statusCode ?? 0));
    });
    request.once("timeout", () => request.destroy(unreachable(proxy, `no tunnel within ${TUNNEL_MS} ms`)));
    request.on("error", (error) =>
      reject(unreachable(proxy, "code" in error ? String(error.code) : error.message, error)),
    );
    request.end();
  });
}

function refusal({ host }: URL, authority: string, status: number): NanoAgentError {
  const hint =
    status === 407
      ? "Put user and password into the proxy's address."
      : "Check the proxy settings and noProxy.";
  return new NanoAgentError(
    "network",
    `The proxy ${host} refused a connection to ${authority} (HTTP ${status}). ${hint}`,
    { details: { host, status }, retryable: status >= 500 },
  );
}

/** A typed error is kept as it is. */
function unreachable({ host }: URL, reason: string, cause?: unknown): NanoAgentError {
  if (isNanoAgentError(cause)) return cause;
  const message = `The proxy ${host} cannot be reached (${reason}). Check the proxy settings.`;
  return new NanoAgentError("network", message, { cause, details: { host, cause: reason }, retryable: true });
}

/** A list of hosts to reach directly, as curl and Go read `NO_PROXY`. */
interface NoProxy {
  /** True for an address that is reached directly. */
  readonly covers: (url: URL) => boolean;
  /** Entries that mean nothing, in their order. */
  readonly unreadable: readonly string[];
}

/**
 * Reads such a list, with commas or blanks between its entries: `*` for all · `example.com`, `.example.com`
 * or `*.example.com` for a domain with all below it · `10.0.0.1`, `fd00::1`, `[fd00::1]` · `10.0.0.0/8`,
 * `fd00::/8` · `10.*`, `db-*.example.com`. All but ranges may end in a port: `host:8080`, `[fd00::1]:8080`.
 */
export function readNoProxy(text: string): NoProxy {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== "");
  const read = entries.map((entry) => [entry, matcherOf(entry.toLowerCase())] as const);
  const matchers = read.flatMap(([, matcher]) => matcher ?? []);
  return {
    covers: (url) => {
      const target = targetOf(url);
      return matchers.some((covers) => covers(target));
    },
    unreadable: read.flatMap(([entry, matcher]) => (matcher === undefined ? [entry] : [])),
  };
}

interface Target {
  /** A name without a final dot, or an address without brackets. */
  readonly host: string;
  /** 0 for a name. */
  readonly family: number;
  readonly port: number;
}

type Matcher = (target: Target) => boolean;

function targetOf({ protocol, hostname, port }: URL): Target {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  return { host, family: net().isIP(host), port: Number(port || (protocol === "https:" ? 443 : 80)) };
}

function matcherOf(entry: string): Matcher | undefined {
  if (entry === "*") return () => true;
  if (entry.includes("/")) return rangeMatcher(entry);
  // Colons of an address without brackets are its own.
  if (net().isIPv6(entry)) return addressMatcher(entry, 6);
  const [, bracketed, name = "", digits] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d+))?$/.exec(entry) ?? [];
  const port = digits === undefined ? undefined : Number(digits);
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined;
  const host =
    bracketed === undefined
      ? hostMatcher(name)
      : net().isIPv6(bracketed)
        ? addressMatcher(bracketed, 6)
        : undefined;
  if (host === undefined || port === undefined) return host;
  return (target) => target.port === port && host(target);
}

function hostMatcher(name: string): Matcher | undefined {
  if (net().isIPv4(name)) return addressMatcher(name, 4);
  if (name.replace(/^\*?\./, "").includes("*")) return patternMatcher(name);
  const domain = URL.parse(`http://${name.replace(/^\*?\./, "").replace(/\.$/, "")}`)?.hostname;
  if (domain === undefined || !/^[\w.-]+$/.test(domain) || /[^\w.*\u0080-\uffff-]/.test(name))
    return undefined;
  return ({ host, family }) => host === domain || (family === 0 && host.endsWith(`.${domain}`));
}

/** Numbers stand for addresses, anything else for names. */
function patternMatcher(pattern: string): Matcher | undefined {
  if (!/^[\w.*-]+$/.test(pattern)) return undefined;
  const isAddress = /^[\d.*]+$/.test(pattern);
  const form = new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll(/\*+/g, ".*")}$`);
  return ({ host, family }) => (family === 4) === isAddress && form.test(host);
}

function addressMatcher(address: string, family: 4 | 6): Matcher {
  return rangeMatcher(`${address}/${family === 4 ? 32 : 128}`) ?? (() => false);
}

function rangeMatcher(entry: string): Matcher | undefined {
  const [, address = "", digits = ""] = /^\[?([\d.:a-f]+)\]?\/(\d{1,3})$/.exec(entry) ?? [];
  const family = net().isIP(address);
  const bits = Number(digits);
  if (family === 0 || bits > (family === 4 ? 32 : 128)) return undefined;
  const list = new (net().BlockList)();
  list.addSubnet(address, bits, nameOf(family));
  return (target) => target.family !== 0 && list.check(target.host, nameOf(target.family));
}

function nameOf(family: number): "ipv4" | "ipv6" {
  return family === 4 ? "ipv4" : "ipv6";
}

function net(): typeof import("node:net") {
  return process.getBuiltinModule("node:net");
}

import type { ClientRequestArgs, IncomingMessage, RequestOptions } from "node:http";
import type { Duplex } from "node:stream";
import { invalidConfig, NanoAgentError, toNanoAgentError } from "../core/base/errors.ts";
import { defined } from "../core/base/json.ts";
import { isLoopback, type ProxyOptions } from "./network.ts";

/** How a host is reached: directly, by a proxy that passes the request on, or through its tunnel. */
export type Route =
  | { readonly type: "direct" }
  | { readonly type: "forward" | "tunnel"; readonly proxy: URL };

const DIRECT: Route = { type: "direct" };
/** How long a proxy may take to open a tunnel. */
const TUNNEL_MS = 30_000;

/** The route to `url`. Throws `invalid_config` for a proxy address that cannot be used. */
export function routeTo(url: URL, proxy: ProxyOptions | undefined): Route {
  const address = proxyFor(url, proxy);
  if (address === "") return DIRECT;
  const parsed = URL.parse(address.includes("://") ? address : `http://${address}`);
  if (parsed === null || (parsed.protocol !== "http:" && parsed.protocol !== "https:")) {
    const shown =
      parsed === null ? "The proxy address" : `The proxy address ${parsed.protocol}//${parsed.host}`;
    throw invalidConfig(`${shown} is not an http or https address. Set it like http://proxy.example:3128.`);
  }
  return { type: url.protocol === "https:" ? "tunnel" : "forward", proxy: parsed };
}

/** The address of the proxy for `url`; empty where it is reached directly. */
function proxyFor(url: URL, { http = "", https = "", noProxy = "" }: ProxyOptions = {}): string {
  if (isLoopback(url.hostname) || readNoProxy(noProxy).covers(url)) return "";
  return url.protocol === "https:" ? https : http;
}

/** The value of `proxy-authorization` for the user and password in a proxy's address. */
function proxyAuthorization(proxy: URL): string | undefined {
  if (proxy.username === "" && proxy.password === "") return undefined;
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return `Basic ${Buffer.from(credentials).toString("base64")}`;
}

/** Where a request for `url` is sent on a route, and what the proxy wants with it. */
export function destination(
  url: URL,
  route: Route,
): RequestOptions & { readonly headers?: Record<string, string> } {
  if (route.type !== "forward")
    return {
      host: bareHost(url),
      port: url.port || (url.protocol === "https:" ? 443 : 80),
      path: url.pathname + url.search,
    };
  const { proxy } = route;
  const credentials = proxyAuthorization(proxy);
  return {
    host: bareHost(proxy),
    port: proxy.port || 80,
    path: url.href,
    headers: {
      host: url.host,
      ...defined({ "proxy-authorization": credentials }),
    },
  };
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
  const secure = process.getBuiltinModule("node:tls").connect({
    socket: await openTunnel(tunnel),
    ALPNProtocols: ["http/1.1"],
    host,
    ...(isIpAddress(host) ? {} : { servername: host }),
    ...defined({ ca }),
  });
  // Rejects with the error of the connection.
  await process.getBuiltinModule("node:events").once(secure, "secureConnect");
  return secure;
}

async function openTunnel({ proxy, ca, host, port }: Tunnel): Promise<Duplex> {
  const { request: start } = process.getBuiltinModule(
    proxy.protocol === "https:" ? "node:https" : "node:http",
  );
  const authority = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const credentials = proxyAuthorization(proxy);
  const request = start({
    method: "CONNECT",
    host: bareHost(proxy),
    port: proxy.port || (proxy.protocol === "https:" ? 443 : 80),
    path: authority,
    agent: false,
    timeout: TUNNEL_MS,
    headers: {
      host: authority,
      ...defined({ "proxy-authorization": credentials }),
    },
    ...defined({ ca }),
  });
  return new Promise((resolve, reject) => {
    request.once("connect", (response: IncomingMessage, socket: Duplex) => {
      if (response.statusCode === 200) {
        resolve(socket);
        return;
      }
      socket.destroy();
      reject(refusal(proxy, authority, response.statusCode ?? 0));
    });
    request.once("response", (response: IncomingMessage) => {
      response.destroy();
      reject(refusal(proxy, authority, response.statusCode ?? 0));
    });
    request.once("timeout", () => request.destroy(unreachable(proxy, `no tunnel within ${TUNNEL_MS} ms`)));
    request.on("error", (error) =>
      reject(
        toNanoAgentError(unreachable(proxy, "code" in error ? String(error.code) : error.message, error)),
      ),
    );
    request.end();
  });
}

function refusal(proxy: URL, authority: string, status: number): NanoAgentError {
  const hint =
    status === 407
      ? "Put user and password into the proxy's address."
      : "Check the proxy settings and noProxy.";
  return new NanoAgentError(
    "network",
    `The proxy ${proxy.host} refused a connection to ${authority} (HTTP ${status}). ${hint}`,
    { details: { host: proxy.host, status }, retryable: status >= 500 },
  );
}

function unreachable(proxy: URL, reason: string, cause?: unknown): NanoAgentError {
  return new NanoAgentError(
    "network",
    `The proxy ${proxy.host} cannot be reached (${reason}). Check the proxy settings.`,
    {
      cause,
      details: { host: proxy.host, cause: reason },
      retryable: true,
    },
  );
}

function isIpAddress(host: string): boolean {
  return host.includes(":") || /^\d+(?:\.\d+){3}$/.test(host);
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

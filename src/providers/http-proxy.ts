import { errorMessage, invalidConfig, NanoAgentError } from "../core/base/errors.ts";
import { omitUndefined } from "../core/base/json.ts";
import { isLoopback, type ProxyOptions } from "./network.ts";

/**
 * The proxy address for requests to `url`, in the form of `proxyEnv` of Node's agents; undefined if it is
 * reached directly. Throws `invalid_config` for an unusable address.
 */
export function proxyFor(url: URL, options: ProxyOptions = {}): string | undefined {
  const { [url.protocol === "https:" ? "https" : "http"]: address = "", noProxy = "" } = options;
  if (address === "" || isLoopback(url.hostname) || readNoProxy(noProxy).covers(url)) return undefined;
  const proxy = URL.parse(address.includes("://") ? address : `http://${address}`);
  if (proxy?.protocol === "http:" || proxy?.protocol === "https:") return proxy.href;
  // Not the whole address: it may contain a password.
  const redacted = proxy === null ? "" : ` ${proxy.protocol}//${proxy.host}`;
  throw invalidConfig(
    `The proxy address${redacted} is not an http or https address. Set it like http://proxy.example:3128.`,
  );
}

/**
 * How long a proxy may take to open a tunnel, as `timeout` of a request. It ends nothing else: a connection
 * that stands only emits an event.
 */
export const TUNNEL_MS = 30_000;

/** System codes of certificates that are not accepted. */
export const CERTIFICATE: RegExp = /CERT|SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET_ISSUER)|ERR_TLS_/;

/**
 * Converts a failure of a request for `url` through `proxy` to one that names the proxy, unless only the
 * target can be to blame.
 */
export function proxyError(
  error: Error & { readonly code?: unknown; readonly statusCode?: unknown; readonly syscall?: unknown },
  proxy: string,
  url: string,
): Error {
  const { host, protocol } = new URL(proxy);
  const { code, statusCode: status, syscall } = error;
  const target = new URL(url);
  const why = typeof code === "string" ? code : errorMessage(error);
  if (CERTIFICATE.test(why)) {
    if (protocol === "http:") return error;
    // Node does not distinguish the two.
    const owner = target.protocol === "https:" ? `${host}, or of ${target.host} behind it,` : host;
    return new NanoAgentError(
      "network",
      `The certificate of the proxy ${owner} was not accepted (${why}). Point NODE_EXTRA_CA_CERTS to the certificate of its authority.`,
      { cause: error, details: { host, cause: why }, retryable: false },
    );
  }
  if (code !== "ERR_PROXY_TUNNEL" && syscall !== "connect" && syscall !== "getaddrinfo")
    return new NanoAgentError(
      "network",
      `The connection to ${target.host} through the proxy ${host} failed (${why}). Check the network connection, the proxy settings and the base URL.`,
      { cause: error, details: { host: target.host, proxy: host, cause: why }, retryable: true },
    );
  const hasStatus = typeof status === "number" && Number.isInteger(status);
  const problem = hasStatus
    ? `refused the connection (HTTP ${status})`
    : code === "ERR_PROXY_TUNNEL"
      ? "opened no tunnel"
      : `cannot be reached (${why})`;
  const hint =
    status === 407 ? "Put user and password into its address." : "Check the proxy settings and noProxy.";
  // Node's message may contain the password.
  return new NanoAgentError("network", `The proxy ${host} ${problem}. ${hint}`, {
    details: { host, ...omitUndefined({ status: hasStatus ? status : undefined }), cause: String(code) },
    retryable: !hasStatus || status >= 500,
  });
}

/** Hosts to reach directly, with the syntax that curl and Go use for `NO_PROXY`. */
interface NoProxy {
  readonly covers: (url: URL) => boolean;
  readonly invalid: readonly string[];
}

/**
 * Parses a list separated by commas or whitespace: `*` for all · `example.com`, `.example.com` or
 * `*.example.com` for a domain and its subdomains · `10.0.0.1`, `fd00::1`, `[fd00::1]` · `10.0.0.0/8`,
 * `fd00::/8` · `10.*`, `db-*.example.com`. All but ranges may end in a port: `host:8080`, `[fd00::1]:8080`.
 */
export function readNoProxy(text: string): NoProxy {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== "");
  const read = entries.map((entry) => [entry, matcherOf(entry.toLowerCase())] as const);
  return {
    covers: ({ protocol, hostname, port }) => {
      const host = withoutBrackets(hostname).replace(/\.$/, "");
      const targetPort = port || (protocol === "https:" ? "443" : "80");
      return read.some(([, covers]) => covers?.(host, targetPort) === true);
    },
    invalid: read.flatMap(([entry, matcher]) => (matcher === undefined ? [entry] : [])),
  };
}

type Matcher = (host: string, port: string) => boolean;

function matcherOf(entry: string): Matcher | undefined {
  // Colons of an address without brackets are part of it.
  const [, name = entry, digits] = /^(\[[^\]]*\]|[^:[\]]*):(\d+)$/.exec(entry) ?? [];
  if (digits !== undefined && (Number(digits) < 1 || Number(digits) > 65_535)) return undefined;
  const covers = rangeMatcher(name) ?? nameMatcher(name);
  return covers && ((host, port) => (digits ?? port) === port && covers(host, port));
}

function rangeMatcher(entry: string): Matcher | undefined {
  const net = process.getBuiltinModule("node:net");
  const familyOf = (address: string) => (net.isIPv6(address) ? "ipv6" : "ipv4");
  const [, address = "", digits] = /^(\[[^\]]*\]|[^[\]/]*)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
  const maxBits = { 0: -1, 4: 32, 6: 128 }[net.isIP(withoutBrackets(address))] ?? -1;
  const bits = Number(digits ?? maxBits);
  if (maxBits === -1 || bits > maxBits) return undefined;
  const list = new net.BlockList();
  list.addSubnet(withoutBrackets(address), bits, familyOf(withoutBrackets(address)));
  return (host) => net.isIP(host) !== 0 && list.check(host, familyOf(host));
}

/** Matches names and their subdomains. A pattern with `*` matches addresses if it is numeric, else names. */
function nameMatcher(entry: string): Matcher | undefined {
  const { isIP } = process.getBuiltinModule("node:net");
  const name = entry.replace(/^\*?\./, "");
  const domain = name.includes("*") ? name : URL.parse(`http://${name.replace(/\.$/, "")}`)?.hostname;
  if (domain === undefined || !/^[\w.*-]+$/.test(domain) || /[^\w.*\u0080-\uffff-]/.test(name))
    return undefined;
  const isPattern = domain.includes("*");
  const isAddress = isPattern && domain !== "*" && /^[\d.*]+$/.test(domain);
  const form = new RegExp(
    `${isPattern ? "^" : "(?:^|\\.)"}${domain.replaceAll(".", "\\.").replaceAll(/\*+/g, ".*")}$`,
  );
  return (host) => (domain === "*" || isIP(host) !== 0) === (domain === "*" || isAddress) && form.test(host);
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, "");
}

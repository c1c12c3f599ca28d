/** A list of hosts to reach directly, as curl and Go read `NO_PROXY`. */
export interface NoProxy {
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

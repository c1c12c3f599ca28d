import { lookup as resolveHost } from "node:dns/promises";
import { BlockList, isIP, type LookupFunction } from "node:net";

/**
 * True when an IP address is one of the public internet: not this machine, a private network, link-local
 * (cloud metadata among them), multicast, documentation or reserved space, nor an IPv6 form that carries such
 * an IPv4 address. Sources: the IANA special-purpose address registries (RFC 6890 and successors). Anything
 * that is no address is not public.
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address.replace(/%.*$/, ""));
  if (family === 4) return !RESERVED_V4.check(address, "ipv4");
  if (family !== 6 || address.includes("%")) return false;
  return !RESERVED_V6.check(address, "ipv6");
}

const RESERVED_V4: BlockList = blockList("ipv4", [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const);

/** A list of its own: one list would see every IPv4 address in the IPv6 range that maps them. */
const RESERVED_V6: BlockList = blockList("ipv6", [
  ["::", 96],
  ["::ffff:0:0", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
  ["5f00::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
] as const);

function blockList(family: "ipv4" | "ipv6", subnets: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [net, prefix] of subnets) list.addSubnet(net, prefix, family);
  return list;
}

/** A page that cannot be had, in words for a model. */
export class PageError extends Error {}

/** Resolves as usual and refuses the name as a whole when one of its addresses is not public. */
export const publicLookup: LookupFunction = (host, options, callback) => {
  resolveHost(host, { ...options, all: true }).then(
    (found) => {
      const [first] = found;
      if (first === undefined || !found.every(({ address }) => isPublicAddress(address)))
        callback(refusedHost(host), "", 0);
      else if (options.all === true) callback(null, found);
      else callback(null, first.address, first.family);
    },
    (error: NodeJS.ErrnoException) => callback(error, "", 0),
  );
};

/** The error for a host that is not public. */
export function refusedHost(host: string): PageError {
  return new PageError(
    `${host} is an address of this machine or a private network, which are not fetched unless the user allows that host.`,
  );
}

import { lookup as resolveHost } from "node:dns/promises";
import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { BlockList, isIP, type LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { errorMessage } from "../../core/base/errors.ts";

/**
 * True if an IP address is on the public internet: not this machine, a private network, link-local (including
 * cloud metadata), multicast, documentation or reserved space, nor an IPv6 form that carries such an IPv4
 * address. Sources: the IANA special-purpose address registries (RFC 6890 and successors). Anything that is
 * not an address is not public.
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

/** A separate list: a single one would find every IPv4 address in the IPv6 range that maps them. */
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

export class PageError extends Error {}

/** Resolves as usual and refuses the name altogether if one of its addresses is not public. */
export const publicLookup: LookupFunction = (host, options, callback) => {
  resolveHost(host, { ...options, all: true }).then(
    (found) => {
      const [first] = found;
      if (first === undefined || !found.every(({ address }) => isPublicAddress(address)))
        callback(privateHostError(host), "", 0);
      else if (options.all === true) callback(null, found);
      else callback(null, first.address, first.family);
    },
    (error: NodeJS.ErrnoException) => callback(error, "", 0),
  );
};

export function privateHostError(host: string): PageError {
  return new PageError(
    `${host} is an address of this machine or a private network, which are not fetched unless the user allows that host.`,
  );
}

export interface FetchPageOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Hosts that may be reached at any address, e.g. `localhost` or `10.0.0.7`. Others only at public ones. */
  readonly privateHosts: readonly string[];
  /** `HTTPS_PROXY`, `NO_PROXY`, …, as Node's agents take them. A proxy resolves names itself. */
  readonly proxyEnv?: { readonly [name: string]: string | undefined } | undefined;
}

/** A page, or the address it has moved to. */
export type FetchedPage =
  | {
      readonly type: "page";
      readonly url: string;
      readonly status: number;
      readonly contentType: string;
      readonly body: Buffer;
      readonly cut: boolean;
    }
  | { readonly type: "redirect"; readonly to: string };

const MAX_REDIRECTS = 5;

/**
 * GETs a page without cookies or credentials. Redirects are followed within the host; one to another host is
 * returned, so that it can be judged. The resolved address is checked when the connection is made, so a
 * second answer of the resolver cannot lead elsewhere. Throws {@link PageError}.
 */
export async function fetchPage(address: URL, options: FetchPageOptions): Promise<FetchedPage> {
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const signal = AbortSignal.any([options.signal, timeout]);
  try {
    let url = address;
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const answer = await sendRequest(url, options, signal);
      const target = redirectOf(answer, url);
      if (target === undefined) return await readBody(answer, url, options.maxBytes);
      answer.destroy();
      if (target.hostname !== address.hostname || (url.protocol === "https:" && target.protocol === "http:"))
        return { type: "redirect", to: target.href };
      assertFetchable(target);
      url = target;
    }
    throw new PageError(`${address.href} was redirected more than ${MAX_REDIRECTS} times.`);
  } catch (error) {
    if (error instanceof PageError) throw error;
    if (options.signal.aborted) throw options.signal.reason;
    if (timeout.aborted) throw new PageError(`${address.href} took longer than ${options.timeoutMs} ms.`);
    throw new PageError(
      `${address.href} cannot be reached: ${errorMessage(error).replace(/(\/\/)[^/@\s]+@/g, "$1***@")}`,
    );
  }
}

export function assertFetchable(url: URL): void {
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new PageError(`${url.protocol} addresses are not fetched; only http: and https:.`);
  if (url.username !== "" || url.password !== "")
    throw new PageError("The address holds a user name or password, which are not sent. Leave them out.");
}

function sendRequest(url: URL, options: FetchPageOptions, signal: AbortSignal): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isAllowed = options.privateHosts.includes(url.hostname) || options.privateHosts.includes(host);
  if (!isAllowed && isIP(host) !== 0 && !isPublicAddress(host)) throw privateHostError(host);
  if (!isAllowed && /^localhost\.?$|\.(?:localhost|local|internal)\.?$/i.test(host))
    throw privateHostError(host);
  const isHttps = url.protocol === "https:";
  const agentOptions = {
    keepAlive: false,
    proxyEnv: options.proxyEnv,
  };
  const requestOptions: RequestOptions = {
    agent: isHttps ? new HttpsAgent(agentOptions) : new HttpAgent(agentOptions),
    signal,
    headers: {
      accept: "text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.5",
      "accept-encoding": "gzip, deflate, br",
      "accept-language": "*",
      "user-agent": "nano-agent",
    },
    ...(isAllowed ? {} : { lookup: publicLookup }),
  };
  return new Promise((resolve, reject) => {
    const sent = (isHttps ? httpsRequest : httpRequest)(url, requestOptions, resolve);
    sent.on("error", reject);
    sent.end();
  });
}

function redirectOf(answer: IncomingMessage, from: URL): URL | undefined {
  const { statusCode = 0, headers } = answer;
  if (![301, 302, 303, 307, 308].includes(statusCode) || headers.location === undefined) return undefined;
  const target = URL.parse(headers.location, from.href);
  if (target === null) throw new PageError(`${from.href} redirects to something that is not an address.`);
  return target;
}

async function readBody(answer: IncomingMessage, url: URL, maxBytes: number): Promise<FetchedPage> {
  const chunks: Buffer[] = [];
  let length = 0;
  const body = decodeBody(answer);
  try {
    for await (const chunk of body) {
      chunks.push(chunk as Buffer);
      length += (chunk as Buffer).length;
      if (length > maxBytes) break;
    }
  } finally {
    answer.destroy();
  }
  return {
    type: "page",
    url: url.href,
    status: answer.statusCode ?? 0,
    contentType: (answer.headers["content-type"] ?? "").toLowerCase(),
    body: Buffer.concat(chunks).subarray(0, maxBytes),
    cut: length > maxBytes,
  };
}

function decodeBody(answer: IncomingMessage): Readable {
  const encoding = answer.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding === "identity" || encoding === "") return answer;
  const decoder = {
    gzip: createGunzip,
    "x-gzip": createGunzip,
    deflate: createInflate,
    br: createBrotliDecompress,
  }[encoding];
  if (decoder === undefined) throw new PageError(`The page is encoded as ${encoding}, which cannot be read.`);
  const stream = decoder();
  answer.on("error", (error) => stream.destroy(error));
  return answer.pipe(stream);
}

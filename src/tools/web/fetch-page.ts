import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { errorMessage } from "../../core/base/errors.ts";
import { isPublicAddress, PageError, publicLookup, refusedHost } from "./public-address.ts";

/** How pages are fetched. */
export interface FetchPageOptions {
  readonly signal: AbortSignal;
  /** Milliseconds for the whole page, redirects included. */
  readonly timeoutMs: number;
  /** Bytes read at most, after decompression. */
  readonly maxBytes: number;
  /** Hosts that may be reached at any address, e.g. `localhost` or `10.0.0.7`. Others only at public ones. */
  readonly privateHosts: readonly string[];
  /** `HTTPS_PROXY`, `NO_PROXY`, …, where Node knows them (22.21, 24.5). A proxy resolves names itself. */
  readonly proxyEnv?: { readonly [name: string]: string | undefined } | undefined;
}

/** A page, or where it has moved. */
export type FetchedPage =
  | {
      readonly type: "page";
      /** After redirects. */
      readonly url: string;
      readonly status: number;
      /** In lower case, with its parameters. */
      readonly contentType: string;
      readonly body: Buffer;
      /** True when the page is longer than `maxBytes`. */
      readonly cut: boolean;
    }
  | { readonly type: "redirect"; readonly to: string };

const MAX_REDIRECTS = 5;

/**
 * GETs a page without cookies or credentials. Redirects are followed within the host; one to another host is
 * handed back, so that it can be judged. The address a name resolves to is checked where the connection is
 * made, so a second answer of the resolver cannot lead elsewhere. Throws {@link PageError}.
 */
export async function fetchPage(address: URL, options: FetchPageOptions): Promise<FetchedPage> {
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const signal = AbortSignal.any([options.signal, timeout]);
  try {
    let url = address;
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const answer = await open(url, options, signal);
      const target = redirectOf(answer, url);
      if (target === undefined) return await read(answer, url, options.maxBytes);
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
    throw new PageError(`${address.href} cannot be reached: ${errorMessage(error)}`);
  }
}

/** Throws {@link PageError} for what nobody may fetch: another protocol, credentials in the address. */
export function assertFetchable(url: URL): void {
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new PageError(`${url.protocol} addresses are not fetched; only http: and https:.`);
  if (url.username !== "" || url.password !== "")
    throw new PageError("The address holds a user name or password, which are not sent. Leave them out.");
}

function open(url: URL, options: FetchPageOptions, signal: AbortSignal): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isAllowed = options.privateHosts.includes(url.hostname) || options.privateHosts.includes(host);
  if (!isAllowed && isIP(host) !== 0 && !isPublicAddress(host)) throw refusedHost(host);
  if (!isAllowed && /^localhost\.?$|\.(?:localhost|local|internal)\.?$/i.test(host)) throw refusedHost(host);
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

async function read(answer: IncomingMessage, url: URL, maxBytes: number): Promise<FetchedPage> {
  const chunks: Buffer[] = [];
  let length = 0;
  const body = decoded(answer);
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

function decoded(answer: IncomingMessage): Readable {
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

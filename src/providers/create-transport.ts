import type { ProxyOptions, Transport } from "./http.ts";
import { type Fetch, FetchTransport } from "./http-fetch.ts";
import { NodeTransport } from "./http-node.ts";

/** Options of {@link createTransport}. */
export interface TransportOptions {
  readonly proxy?: ProxyOptions;
  /** Certificate authorities to trust instead of the built-in ones, in PEM. */
  readonly ca?: string;
  /** Sends the requests instead of `node:http`. Proxy and certificates are then its business. */
  readonly fetch?: Fetch;
}

/** A transport over the given `fetch`, else over `node:http` where this runtime has it, else over the global `fetch`. */
export function createTransport(options: TransportOptions = {}): Transport {
  if (options.fetch !== undefined) return new FetchTransport(options.fetch);
  if (runsOnNode()) return new NodeTransport(options);
  return new FetchTransport((url, init) => globalThis.fetch(url, init));
}

function runsOnNode(): boolean {
  return typeof process === "object" && typeof process.versions?.node === "string";
}

import { createTransport } from "../providers/create-transport.ts";
import type { Transport } from "../providers/http.ts";
import type { NetworkOptions } from "../providers/network.ts";

/** Connections kept open, by the settings they were opened with: a cache, like the one behind the global `fetch`. */
const TRANSPORTS: Map<string, Transport> = new Map();

/**
 * The transport all models named in this process share for the given settings, so that a new agent does not begin with a new TLS
 * handshake. Idle connections keep no process alive.
 */
export function sharedTransport(network: NetworkOptions): Transport {
  const key = JSON.stringify(network);
  const known = TRANSPORTS.get(key);
  if (known !== undefined) return known;
  const transport = createTransport(network);
  TRANSPORTS.set(key, transport);
  return transport;
}

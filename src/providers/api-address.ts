import type { WireName } from "../core/message/message.ts";

/** Where an API is, from an address as people copy it. */
export interface ApiAddress {
  /** Without a trailing slash, and without the path of an endpoint. */
  readonly baseUrl: string;
  /** The endpoint itself, where that was given: requests go exactly there. */
  readonly endpoint?: { readonly url: string; readonly wire: WireName };
}

/** Reads an address that may be that of an endpoint (`…/v1/chat/completions`) instead of the API's. */
export function apiAddress(given: string): ApiAddress {
  const [path = "", query = ""] = given.trim().split(/(?=\?)/, 2);
  const url = path.replace(/\/+$/, "");
  const found = ENDPOINTS.find(([suffix]) => url.endsWith(suffix));
  if (found === undefined) return { baseUrl: url + query };
  const [suffix, wire] = found;
  return { baseUrl: url.slice(0, -suffix.length) + query, endpoint: { url: url + query, wire } };
}

const ENDPOINTS: readonly (readonly [suffix: string, wire: WireName])[] = [
  ["/chat/completions", "openai_chat"],
  ["/messages", "anthropic"],
  ["/responses", "openai_responses"],
];

import type { WireTarget } from "./wire.ts";

/**
 * Where and with which headers a request of the OpenAI family is posted. A query in the base URL (`?api-version=…`) stays behind
 * the path. The target's own headers win, whatever their case.
 */
export function openAiEndpoint(
  target: WireTarget,
  path: string,
): { readonly url: string; readonly headers: { readonly [name: string]: string } } {
  const headers: Record<string, string> = { "content-type": "application/json", accept: "text/event-stream" };
  if (target.apiKey !== undefined && target.apiKey !== "")
    headers["authorization"] = `Bearer ${target.apiKey}`;
  for (const [name, value] of Object.entries(target.headers ?? {})) headers[name.toLowerCase()] = value;
  const query = target.baseUrl.indexOf("?");
  const base = query === -1 ? target.baseUrl : target.baseUrl.slice(0, query);
  return {
    url: `${base.replace(/\/+$/, "")}${path}${query === -1 ? "" : target.baseUrl.slice(query)}`,
    headers,
  };
}

import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { proxyError, proxyFor, TUNNEL_MS } from "../../providers/http-proxy.ts";
import type { ProxyOptions } from "../../providers/network.ts";

// One module for everything that talks to servers, so that there is one file to load.

export { authorizationOf, logIn } from "../../extensions/mcp/login.ts";
export { connectionOpener } from "../../extensions/mcp/open-connection.ts";
export { loginStore } from "../settings/saved-keys.ts";

const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** `fetch` through the proxies used for model requests. Redirects through a proxy are not followed. */
export function proxiedFetch(proxies: ProxyOptions | undefined): typeof fetch {
  if (proxies === undefined) return fetch;
  return async (input, init) => {
    const request = new Request(input, init);
    const proxy = proxyFor(new URL(request.url), proxies);
    if (proxy === undefined) return fetch(input, init);
    const answer = await answerTo(request, proxy);
    const { statusCode = 502, statusMessage = "" } = answer;
    return new Response(NO_BODY.has(statusCode) ? null : (Readable.toWeb(answer) as ReadableStream), {
      status: statusCode,
      statusText: statusMessage,
      headers: headersOf(answer),
    });
  };
}

async function answerTo(request: Request, proxy: string): Promise<IncomingMessage> {
  const { url, method, signal, headers } = request;
  const http = process.getBuiltinModule(url.startsWith("https:") ? "node:https" : "node:http");
  const agent = new http.Agent({ proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } });
  const body = Buffer.from(await request.arrayBuffer());
  return new Promise((resolve, reject) => {
    const how = { method, headers: Object.fromEntries(headers), signal, agent, timeout: TUNNEL_MS };
    const sent = http.request(url, how, resolve);
    // Like the global `fetch`: a request that did not reach the server is a TypeError with its cause.
    sent.on("error", (error) => {
      const cause = proxyError(error, proxy, url);
      reject(signal.aborted ? signal.reason : new TypeError("fetch failed", { cause }));
    });
    sent.end(body);
  });
}

function headersOf({ headers }: IncomingMessage): Headers {
  const copied = new Headers();
  for (const [name, value] of Object.entries(headers))
    for (const each of Array.isArray(value) ? value : [value ?? ""]) copied.append(name, each);
  return copied;
}

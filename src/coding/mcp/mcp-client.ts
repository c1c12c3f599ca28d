import type { IncomingMessage, RequestOptions } from "node:http";
import { Readable } from "node:stream";
import { connectThroughProxy, destination, type Route, routeTo } from "../../providers/http-proxy.ts";
import type { ProxyOptions } from "../../providers/network.ts";

// One module for what speaks to servers, so that it is one file to load.

export { authorizationOf, logIn } from "../../extensions/mcp/login.ts";
export { connectionOpener } from "../../extensions/mcp/open-connection.ts";
export { loginStore } from "./login-store.ts";

const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** `fetch` through the proxies of the model requests. Redirects through a proxy are not followed. */
export function proxiedFetch(proxy: ProxyOptions | undefined): typeof fetch {
  if (proxy === undefined) return fetch;
  return async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    const route = routeTo(url, proxy);
    if (route.type === "direct") return fetch(input, init);
    const answer = await answerTo(url, request, route);
    const { statusCode = 502, statusMessage = "" } = answer;
    return new Response(NO_BODY.has(statusCode) ? null : (Readable.toWeb(answer) as ReadableStream), {
      status: statusCode,
      statusText: statusMessage,
      headers: headersOf(answer),
    });
  };
}

type ProxyRoute = Exclude<Route, { readonly type: "direct" }>;

async function answerTo(url: URL, request: Request, route: ProxyRoute): Promise<IncomingMessage> {
  const body = Buffer.from(await request.arrayBuffer());
  const { request: start } = process.getBuiltinModule(route.type === "tunnel" ? "node:https" : "node:http");
  return new Promise((resolve, reject) => {
    const sent = start(requestOptions(url, request, route), resolve);
    // As the global `fetch` does: what did not reach the server is a TypeError with its cause.
    sent.on("error", (cause) =>
      reject(request.signal.aborted ? request.signal.reason : new TypeError("fetch failed", { cause })),
    );
    sent.end(body);
  });
}

function requestOptions(url: URL, request: Request, route: ProxyRoute): RequestOptions {
  const { method, signal } = request;
  const to = destination(url, route);
  const headers = { ...Object.fromEntries(request.headers), host: url.host, ...to.headers };
  if (route.type === "forward") return { ...to, method, headers, signal };
  const agent = new (process.getBuiltinModule("node:https").Agent)();
  agent.createConnection = connectThroughProxy(route.proxy, undefined);
  return { ...to, method, headers, signal, agent };
}

function headersOf({ headers }: IncomingMessage): Headers {
  const copied = new Headers();
  for (const [name, value] of Object.entries(headers))
    for (const each of Array.isArray(value) ? value : [value ?? ""]) copied.append(name, each);
  return copied;
}

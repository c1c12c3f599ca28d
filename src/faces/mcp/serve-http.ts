import { randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { AgentServer } from "./agent-server.ts";

/** A server on the loopback interface. */
export interface HttpServing {
  readonly url: string;
  /** Borne by every request. */
  readonly token: string;
  /** Ends it and every run that a client began. */
  readonly close: () => Promise<void>;
}

/** A client with a session, which is how the versions up to 2025-11-25 are spoken. */
interface ClientSession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly agent: AgentServer;
}

const MAX_BODY_BYTES = 10_000_000;
const BOUNDS = { maxRequestBodySize: MAX_BODY_BYTES };

/**
 * Serves at `/mcp` of 127.0.0.1, a server for each client; port 0 takes a free one. Each request needs the
 * token; those for another host or from another origin are refused. Rejects when the port is taken.
 */
export async function serveHttp(port: number, newServer: () => AgentServer): Promise<HttpServing> {
  const token = randomBytes(24).toString("base64url");
  const clients = new Map<string, ClientSession>();
  // Later versions know no sessions: whoever speaks them brings everything with each request.
  const single = newServer();
  const newer = createMcpHandler(single.newServer, { legacy: "reject", ...BOUNDS });
  const server = createServer((request, response) => {
    const refusal = refusalOf(request, token);
    if (refusal === undefined) void answer(request, response, { clients, newServer, newer });
    else refuse(response, refusal);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${own}/mcp`,
    token,
    close: async () => {
      server.close();
      await Promise.all(
        [single, ...[...clients.values()].map(({ agent }) => agent)].map((agent) => agent.close()),
      );
      await newer.close();
      server.closeAllConnections();
    },
  };
}

const REFUSALS = {
  400: "This cannot be read as a request.",
  401: "Send the token that was printed at the start: Authorization: Bearer TOKEN.",
  403: "Only this machine is served: ask 127.0.0.1 or localhost, and from no page of another origin.",
  404: "There is nothing at this address, or no such session: the address is /mcp, and a session begins with initialize.",
  413: "The request has more than 10 MB.",
} as const;

type Refusal = keyof typeof REFUSALS;

function refuse(response: ServerResponse, status: Refusal): void {
  const headers = { "content-type": "text/plain", ...(status === 401 && { "www-authenticate": "Bearer" }) };
  response.writeHead(status, headers).end(`${REFUSALS[status]}\n`);
}

/** The status a request is refused with: browsers ask here for pages of other sites, without the token. */
function refusalOf({ headers, url }: IncomingMessage, token: string): Refusal | undefined {
  const { host = "", origin, authorization = "" } = headers;
  if (!isLoopback(`http://${host}`) || (origin !== undefined && !isLoopback(origin))) return 403;
  const given = Buffer.from(authorization.replace(/^Bearer +/i, ""));
  const wanted = Buffer.from(token);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return 401;
  return new URL(url ?? "/", "http://127.0.0.1").pathname === "/mcp" ? undefined : 404;
}

function isLoopback(address: string): boolean {
  const name = URL.parse(address)?.hostname;
  return name === "127.0.0.1" || name === "localhost" || name === "[::1]";
}

interface ServerParts {
  readonly clients: Map<string, ClientSession>;
  readonly newServer: () => AgentServer;
  readonly newer: McpHttpHandler;
}

async function answer(request: IncomingMessage, response: ServerResponse, parts: ServerParts): Promise<void> {
  try {
    const body = await bodyOf(request);
    if (body === undefined) return refuse(response, 413);
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const asked = new Request(new URL(request.url ?? "/", "http://127.0.0.1"), {
      method: request.method ?? "GET",
      headers: headersOf(request),
      signal: gone.signal,
      ...(body.length === 0 ? {} : { body }),
    });
    const answered = await answerTo(asked, parts);
    if (answered === undefined) return refuse(response, 404);
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    if (answered.body === null) return void response.end();
    Readable.fromWeb(answered.body as never)
      .on("error", () => response.destroy())
      .pipe(response);
  } catch {
    // Whoever sent what cannot be read learns that much.
    if (response.headersSent) response.end();
    else refuse(response, 400);
  }
}

/** The answer to a request; `undefined` for a session that there is not. */
async function answerTo(asked: Request, parts: ServerParts): Promise<Response | undefined> {
  const session = asked.headers.get("mcp-session-id") ?? "";
  const isOlder = session !== "" || (await isLegacyRequest(asked, undefined, BOUNDS));
  if (!isOlder) return parts.newer.fetch(asked);
  return (await transportFor(session, parts))?.handleRequest(asked);
}

/** The transport of a client; a new one for a client without a session. */
async function transportFor(
  session: string,
  { clients, newServer }: ServerParts,
): Promise<WebStandardStreamableHTTPServerTransport | undefined> {
  if (session !== "") return clients.get(session)?.transport;
  const agent = newServer();
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void clients.set(id, { transport, agent }),
    onsessionclosed: async (id) => {
      clients.delete(id);
      await agent.close();
    },
  });
  await agent.newServer().connect(transport);
  return transport;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function headersOf({ headers }: IncomingMessage): Headers {
  const copied = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) copied.set(name, Array.isArray(value) ? value.join(", ") : value);
  return copied;
}

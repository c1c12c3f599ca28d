import { randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { fetchListener } from "../../system/fetch-listener.ts";
import { listen } from "../../system/listen.ts";
import type { AgentServer } from "./agent-server.ts";

export interface HttpServing {
  readonly url: string;
  /** Required in every request. */
  readonly token: string;
  readonly close: () => Promise<void>;
}

const MAX_BODY_BYTES = 10_000_000;
const BOUNDS = { maxRequestBodySize: MAX_BODY_BYTES };

/**
 * Serves at `/mcp` of 127.0.0.1, with a server for each client; port 0 picks a free one. Each request needs
 * the token; those for another host or from another origin are refused. Rejects if the port is taken.
 */
export async function serveHttp(port: number, newServer: () => AgentServer): Promise<HttpServing> {
  const token = randomBytes(24).toString("base64url");
  const clients = new ClientSessions();
  // Later protocol versions have no sessions: clients send full state with each request.
  const sharedAgent = newServer();
  const statelessHandler = createMcpHandler(sharedAgent.newServer, { legacy: "reject", ...BOUNDS });
  const server = createServer(
    fetchListener(async (request) => {
      const refusal = refusalOf(request, token);
      return refusal === undefined
        ? answer(request, { clients, newServer, newer: statelessHandler })
        : refuse(refusal);
    }),
  );
  await listen(server, { host: "127.0.0.1", port });
  const { port: boundPort } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${boundPort}/mcp`,
    token,
    close: async () => {
      server.close();
      await Promise.all([sharedAgent, ...clients.agents].map((agent) => agent.close()));
      await statelessHandler.close();
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

function refuse(status: Refusal): Response {
  const headers = { "content-type": "text/plain", ...(status === 401 && { "www-authenticate": "Bearer" }) };
  return new Response(`${REFUSALS[status]}\n`, { status, headers });
}

/** The status for refusing a request: browsers send requests of foreign pages here, without the token. */
function refusalOf({ headers, url }: Request, token: string): Refusal | undefined {
  const origin = headers.get("origin");
  if (!isLoopback(`http://${headers.get("host") ?? ""}`) || (origin !== null && !isLoopback(origin)))
    return 403;
  const given = Buffer.from((headers.get("authorization") ?? "").replace(/^Bearer +/i, ""));
  const wanted = Buffer.from(token);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return 401;
  return new URL(url).pathname === "/mcp" ? undefined : 404;
}

function isLoopback(address: string): boolean {
  const name = URL.parse(address)?.hostname;
  return name === "127.0.0.1" || name === "localhost" || name === "[::1]";
}

interface ServerParts {
  readonly clients: ClientSessions;
  readonly newServer: () => AgentServer;
  readonly newer: McpHttpHandler;
}

async function answer(request: Request, parts: ServerParts): Promise<Response> {
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) return refuse(413);
  try {
    return (await answerTo(request, parts)) ?? refuse(404);
  } catch {
    // At least tells the client that its request is unreadable.
    return refuse(400);
  }
}

/** The response to a request; `undefined` for an unknown session. */
async function answerTo(asked: Request, parts: ServerParts): Promise<Response | undefined> {
  const session = asked.headers.get("mcp-session-id") ?? "";
  const isOlder = session !== "" || (await isLegacyRequest(asked, undefined, BOUNDS));
  if (!isOlder) return parts.newer.fetch(asked);
  const transport = session === "" ? await newTransport(parts) : parts.clients.use(session, asked)?.transport;
  return transport?.handleRequest(asked);
}

async function newTransport({
  clients,
  newServer,
}: ServerParts): Promise<WebStandardStreamableHTTPServerTransport> {
  const agent = newServer();
  const transport = new WebStandardStreamableHTTPServerTransport({
    ...BOUNDS,
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => clients.add(id, { transport, agent }),
    onsessionclosed: (id) => clients.remove(id),
  });
  await agent.newServer().connect(transport);
  return transport;
}

/** A client with a session, used in protocol versions up to 2025-11-25. */
interface ClientSession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly agent: AgentServer;
}

/** Many clients never announce that they are gone. */
const MAX_CLIENTS = 100;

/** The clients with sessions. Beyond the maximum, idle ones are closed, the least recently used first. */
class ClientSessions {
  /** Most recently used last. */
  readonly #clients = new Map<string, ClientSession>();
  /** Number of unfinished requests, by client. */
  readonly #open = new Map<ClientSession, number>();

  get agents(): readonly AgentServer[] {
    return [...this.#clients.values()].map(({ agent }) => agent);
  }

  add(id: string, client: ClientSession): void {
    this.#clients.set(id, client);
    for (const [other, { agent, transport }] of this.#clients) {
      if (this.#clients.size <= MAX_CLIENTS) return;
      if (other === id || !this.#isIdle(other)) continue;
      this.#clients.delete(other);
      // No caller is left to report a failed close to.
      void Promise.allSettled([agent.close(), transport.close()]);
    }
  }

  /** The client for a session, marked as in use by a request until the request's signal aborts. */
  use(id: string, { signal }: Request): ClientSession | undefined {
    const client = this.#clients.get(id);
    if (client === undefined) return undefined;
    this.#clients.delete(id);
    this.#clients.set(id, client);
    this.#count(client, 1);
    signal.addEventListener("abort", () => this.#count(client, -1), { once: true });
    return client;
  }

  async remove(id: string): Promise<void> {
    const client = this.#clients.get(id);
    this.#clients.delete(id);
    await client?.agent.close();
  }

  #count(client: ClientSession, change: number): void {
    const open = (this.#open.get(client) ?? 0) + change;
    if (open > 0) this.#open.set(client, open);
    else this.#open.delete(client);
  }

  #isIdle(id: string): boolean {
    const client = this.#clients.get(id);
    return client !== undefined && !this.#open.has(client) && !client.agent.isBusy();
  }
}

import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

/** What arrived at a {@link LoopbackServer}. */
export interface ArrivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** Port of the client's end: two requests with the same one shared a connection. */
  readonly clientPort: number;
}

/** Answers one request. */
export type Answer = (response: ServerResponse, request: ArrivedRequest) => void;

/** A server on 127.0.0.1 for tests: answers in the order given, keeps what arrived. */
export interface LoopbackServer {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly ArrivedRequest[];
  /** Resolves when the client closes a connection before its answer was complete. */
  readonly abandoned: Promise<void>;
  readonly close: () => Promise<void>;
}

/** Starts a server that gives each answer once; what is asked beyond that is HTTP 599. */
export async function startLoopback(
  answers: readonly Answer[],
  create: (listener: RequestListener) => Server = createServer,
): Promise<LoopbackServer> {
  const requests: ArrivedRequest[] = [];
  const { promise: abandoned, resolve: onAbandoned } = Promise.withResolvers<void>();
  const server = create((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("close", () => {
      if (!response.writableFinished) onAbandoned();
    });
    request.on("end", () => {
      const arrived: ArrivedRequest = {
        method: request.method ?? "",
        path: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
        clientPort: request.socket.remotePort ?? 0,
      };
      const answer = answers[requests.length];
      requests.push(arrived);
      if (answer === undefined) response.writeHead(599).end("one request too many");
      else answer(response, arrived);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    abandoned,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

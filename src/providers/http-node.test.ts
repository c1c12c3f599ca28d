import { readFileSync } from "node:fs";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { type Answer, type LoopbackServer, startLoopback } from "../../test/loopback-server.ts";
import { type AnswerHead, createTransport, type Transport, type TransportOptions } from "./transport.ts";

/** A key and a certificate for the host name api.test, made for these tests and trusted by nobody else. */
const key = readFileSync(new URL("fixtures/key.pem", import.meta.url), "utf8");
const cert = readFileSync(new URL("fixtures/cert.pem", import.meta.url), "utf8");

const open: { close: () => unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function serve(...answers: readonly Answer[]): Promise<LoopbackServer> {
  const server = await startLoopback(answers);
  open.push(server);
  return server;
}

function transport(options: TransportOptions = {}): Transport {
  const made = createTransport(options);
  open.push(made);
  return made;
}

/** Status and text of an answer; rejects with the error the transport reports. */
function post(
  via: Transport,
  url: string,
  headers: Record<string, string> = {},
  body = "Grüezi",
): Promise<readonly [number, string]> {
  return new Promise((resolve, reject) => {
    let head: AnswerHead | undefined;
    let text = "";
    via.send(
      { url, headers: { "content-type": "text/plain", ...headers }, body },
      {
        onAnswer: (answer) => {
          head = answer;
        },
        onText: (piece) => {
          text += piece;
        },
        onEnd: () => resolve([head?.status ?? 0, text]),
        onError: reject,
      },
    );
  });
}

const says =
  (body: string | Buffer, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(200, headers).end(body);
  };
const redirects =
  (status: number, location: string): Answer =>
  (response) => {
    response.writeHead(status, { location }).end();
  };

const kinds: readonly (readonly [string, () => TransportOptions])[] = [
  ["node:http", () => ({})],
  ["fetch", () => ({ fetch: (url, init) => globalThis.fetch(url, init) })],
];

describe.each(kinds)("a transport over %s", (_name, options) => {
  it.each([
    ["short", "Grüezi"],
    ["long", "Grüezi 🗼".repeat(20_000)],
  ])("posts a %s body and its length and hands over status and text", async (_length, body) => {
    const server = await serve(says("grüezi"));
    const extra = { "x-extra": "1" };
    expect(await post(transport(options()), `${server.url}/a?b=c`, extra, body)).toEqual([200, "grüezi"]);
    const headers = { ...extra, "content-length": String(Buffer.byteLength(body)) };
    expect(server.requests).toMatchObject([{ method: "POST", path: "/a?b=c", body, headers }]);
  });

  it.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ] as const)("decodes %s, also cut inside a character", async (encoding, compress) => {
    const text = "🗼東京".repeat(500);
    const bytes = compress(text);
    const server = await serve((response) => {
      response.writeHead(200, { "content-encoding": encoding });
      for (const byte of bytes) response.write(Buffer.of(byte));
      response.end();
    });
    expect(await post(transport(options()), server.url)).toEqual([200, text]);
  });

  it.each([301, 302, 307, 308])(
    "follows a redirect %i on the same host with method and body",
    async (status) => {
      const server = await serve(redirects(status, "/b"), says("there"));
      expect(await post(transport(options()), `${server.url}/a`)).toEqual([200, "there"]);
      expect(server.requests.map(({ method, path, body }) => [method, path, body])).toEqual([
        ["POST", "/a", "Grüezi"],
        ["POST", "/b", "Grüezi"],
      ]);
    },
  );

  it("sends nothing to another host or port", async () => {
    const other = await serve();
    const server = await serve(redirects(307, `${other.url}/steal`));
    await expect(
      post(transport(options()), server.url, { authorization: "Bearer secret" }),
    ).rejects.toMatchObject({
      code: "invalid_response",
      message: expect.stringContaining(other.url),
    });
    expect(other.requests).toEqual([]);
  });

  it("stops after five redirects", async () => {
    const server = await serve(...Array.from({ length: 7 }, () => redirects(307, "/again")));
    await expect(post(transport(options()), server.url)).rejects.toMatchObject({ code: "invalid_response" });
    expect(server.requests).toHaveLength(6);
  });

  it("tells a connection that broke inside the answer from one that never was", async () => {
    const server = await serve((response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("half", () => response.destroy());
    });
    const via = transport(options());
    await expect(post(via, server.url)).rejects.toMatchObject({
      code: "network",
      retryable: true,
      message: expect.stringContaining("broke before the answer was complete"),
    });
    await server.close();
    await expect(post(via, server.url)).rejects.toMatchObject({
      code: "network",
      details: { host: `127.0.0.1:${server.port}`, cause: "ECONNREFUSED" },
    });
  });

  it("says nothing more after cancel, and tells the server", async () => {
    const server = await serve((response) => {
      response.writeHead(200);
      response.write("first");
    });
    const calls: string[] = [];
    await new Promise<void>((resolve) => {
      const exchange = transport(options()).send(
        { url: server.url, headers: {}, body: "" },
        {
          onAnswer: () => calls.push("answer"),
          onText: () => {
            calls.push("text");
            exchange.cancel();
            resolve();
          },
          onEnd: () => calls.push("end"),
          onError: () => calls.push("error"),
        },
      );
    });
    await server.abandoned;
    expect(calls).toEqual(["answer", "text"]);
  });

  it("tells whoever waits when it is closed", async () => {
    const server = await serve(() => undefined);
    const via = transport(options());
    const answer = post(via, server.url);
    via.close();
    await expect(answer).rejects.toMatchObject({ code: "aborted" });
  });
});

describe("a transport over node:http", () => {
  it("keeps connections, also when the rest of an answer is not read", async () => {
    const server = await serve(says("one"), says("two"));
    const via = transport();
    await new Promise<void>((resolve) => {
      const exchange = via.send(
        { url: server.url, headers: {}, body: "" },
        {
          onAnswer: () => (exchange.release(), resolve()),
          onText: () => undefined,
          onEnd: () => undefined,
          onError: () => undefined,
        },
      );
    });
    await new Promise((resolve) => setImmediate(resolve));
    await post(via, server.url);
    expect(server.requests[1]?.clientPort).toBe(server.requests[0]?.clientPort);
  });

  it("sends again on a new connection when a kept one was closed under it", async () => {
    const sockets: Socket[] = [];
    let connections = 0;
    const server = createTcpServer((socket) => {
      connections++;
      const first = connections === 1;
      let requests = 0;
      sockets.push(socket);
      socket.on("error", () => undefined);
      socket.on("data", () => {
        requests++;
        if (first && requests > 1) socket.resetAndDestroy();
        else socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    open.push({ close: () => (server.close(), sockets.forEach((socket) => socket.destroy())) });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const via = transport();
    expect(await post(via, url)).toEqual([200, "ok"]);
    expect(await post(via, url)).toEqual([200, "ok"]);
    expect(connections).toBe(2);
  });

  it("refuses an encoding it cannot read", async () => {
    const server = await serve(says("x", { "content-encoding": "zip" }));
    await expect(post(transport(), server.url)).rejects.toMatchObject({
      code: "invalid_response",
      details: { encoding: "zip" },
    });
  });

  it.each([
    ["no address", "nonsense", "invalid_config"],
    ["another protocol", "ftp://api.test/x", "invalid_config"],
  ])("refuses %s", async (_name, url, code) => {
    await expect(post(transport(), url)).rejects.toMatchObject({ code });
  });

  it("names a header that HTTP does not allow, and not its value", async () => {
    await expect(post(transport(), "http://127.0.0.1:9", { "x-api-key": "secret\n" })).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.not.stringContaining("secret"),
    });
    await expect(post(transport(), "http://127.0.0.1:9", { "x key": "a" })).rejects.toMatchObject({
      code: "invalid_argument",
    });
  });

  it("does not accept a certificate nobody vouches for, and does not ask again", async () => {
    const server = createSecureServer({ key, cert }, (_request, response) => response.end());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    open.push({ close: () => (server.close(), server.closeAllConnections()) });
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await expect(post(transport(), url)).rejects.toMatchObject({
      code: "network",
      retryable: false,
      message: expect.stringContaining("certificate"),
    });
  });
});

interface Proxy {
  readonly url: string;
  readonly seen: string[];
}

/** A proxy that sends everything to one address on loopback, and may refuse. */
async function startProxy(to: number, refuse?: number): Promise<Proxy> {
  const seen: string[] = [];
  const note = (request: IncomingMessage): void => {
    seen.push(`${request.method} ${request.url} ${request.headers["proxy-authorization"] ?? "-"}`);
  };
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    note(request);
    const { "proxy-authorization": _, ...headers } = request.headers;
    const { pathname } = new URL(request.url ?? "");
    const onward = httpRequest(
      { host: "127.0.0.1", port: to, path: pathname, method: request.method, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      },
    );
    request.pipe(onward);
  });
  const sockets = new Set<Socket>();
  server.on("connect", (request: IncomingMessage, socket: Socket) => {
    note(request);
    sockets.add(socket);
    socket.on("error", () => undefined);
    if (refuse !== undefined) {
      socket.end(`HTTP/1.1 ${refuse} No\r\n\r\n`);
      return;
    }
    const onward = connect(to, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      onward.pipe(socket);
      socket.pipe(onward);
    });
    onward.on("error", () => socket.destroy());
    sockets.add(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push({
    close: () => {
      server.close();
      server.closeAllConnections();
      for (const socket of sockets) socket.destroy();
    },
  });
  return { url: `http://user:p%40ss@127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const AUTHORIZATION = `Basic ${Buffer.from("user:p@ss").toString("base64")}`;

describe("a proxy", () => {
  it("gets the whole address of an http request", async () => {
    const server = await serve(says("through"));
    const proxy = await startProxy(server.port);
    expect(await post(transport({ proxy: { http: proxy.url } }), "http://api.test/v1")).toEqual([
      200,
      "through",
    ]);
    expect(proxy.seen).toEqual([`POST http://api.test/v1 ${AUTHORIZATION}`]);
    expect(server.requests[0]?.headers.host).toBe("api.test");
    expect(server.requests[0]?.headers).not.toHaveProperty("proxy-authorization");
  });

  it("opens one tunnel for several https requests and sees nothing of them", async () => {
    const server = await startLoopback([says("one"), says("two")], (listener) =>
      createSecureServer({ key, cert }, listener),
    );
    open.push(server);
    const proxy = await startProxy(server.port);
    const via = transport({ proxy: { https: proxy.url }, ca: cert });
    expect(await post(via, "https://api.test/v1")).toEqual([200, "one"]);
    expect(await post(via, "https://api.test/v1")).toEqual([200, "two"]);
    expect(proxy.seen).toEqual([`CONNECT api.test:443 ${AUTHORIZATION}`]);
  });

  it.each([
    [407, false, "Put user and password"],
    [503, true, "Check the proxy settings"],
  ])("that refuses with %i is named", async (status, retryable, advice) => {
    const proxy = await startProxy(9, status);
    await expect(post(transport({ proxy: { https: proxy.url } }), "https://api.test")).rejects.toMatchObject({
      code: "network",
      retryable,
      details: { host: new URL(proxy.url).host, status },
      message: expect.stringContaining(advice),
    });
  });

  it("whose own certificate is not accepted is named, whatever the transport trusts", async () => {
    const server = await startLoopback([], (listener) => createSecureServer({ key, cert }, listener));
    open.push(server);
    const { host } = new URL(server.url);
    const via = transport({ proxy: { https: `https://127.0.0.1:${server.port}` }, ca: cert });
    await expect(post(via, "https://api.test")).rejects.toMatchObject({
      code: "network",
      retryable: false,
      details: { host },
      message: expect.stringContaining(`The certificate of the proxy ${host}, or of api.test behind it,`),
    });
  });

  it("that is not there is named, without its password", async () => {
    const proxy = { https: "http://user:secret@127.0.0.1:9" };
    await expect(post(transport({ proxy }), "https://api.test")).rejects.toMatchObject({
      code: "network",
      message:
        "The proxy 127.0.0.1:9 cannot be reached (ECONNREFUSED). Check the proxy settings and noProxy.",
    });
  });
});

import { createServer, type IncomingMessage, request } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { modelServer, runCommand, serverEnv } from "../e2e/command.ts";
import { onLoopback } from "../on-loopback.ts";
import { tempFolder } from "../temp-folder.ts";
import { startFaultyHttp } from "./faulty-server.ts";

/** A proxy that hands every request to one server, and opens no tunnels; it tells what it was asked for. */
async function startProxy(target: URL): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const note = ({ method, url, headers }: IncomingMessage): number =>
    asked.push(`${method} ${url} ${headers["proxy-authorization"] ?? "-"}`);
  const server = createServer((incoming, response) => {
    note(incoming);
    const { method, headers } = incoming;
    const passed = request(
      { host: target.hostname, port: target.port, path: target.pathname, method, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      },
    );
    passed.on("error", () => response.destroy());
    incoming.pipe(passed);
  });
  server.on("connect", (incoming, socket) => {
    note(incoming);
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  const origin = await onLoopback(server);
  return { url: origin.replace("http://", "http://us:pa@"), asked };
}

/** Runs a call of a server at an address of a name that nobody knows but the proxy. */
async function throughProxy(url: string, variables: (proxy: string) => Readonly<Record<string, string>>) {
  const http = await startFaultyHttp({});
  onTestFinished(() => http.stop());
  const proxy = await startProxy(new URL(http.url));
  const server = await modelServer([
    calls("find_tools", { query: "echo" }),
    calls("mcp__far__echo", { text: "hello" }),
    says("done"),
  ]);
  const given = JSON.stringify({ mcpServers: { far: { url } } });
  const end = await runCommand(["-p", "--mcp-config", given, "--allowed-tools", "mcp__far__*", "go"], {
    env: { ...serverEnv(server), ...variables(proxy.url) },
    cwd: tempFolder({}),
  });
  return { ...end, asked: proxy.asked, said: JSON.stringify(server.requests.at(-1)?.body ?? "") };
}

test("a server at an address is reached through HTTP_PROXY, with its user and password", async () => {
  const { code, asked, said } = await throughProxy("http://far.test/mcp", (proxy) => ({ HTTP_PROXY: proxy }));
  expect([
    code,
    said.includes("hello"),
    [...new Set(asked)].includes("POST http://far.test/mcp Basic dXM6cGE="),
  ]).toEqual([0, true, true]);
});

test("an https server is reached through a tunnel of HTTPS_PROXY; a proxy that refuses is named", async () => {
  const { asked, stderr } = await throughProxy("https://far.test/mcp", (proxy) => ({ HTTPS_PROXY: proxy }));
  expect([asked[0], stderr.replaceAll(/\s+/g, " ")]).toEqual([
    "CONNECT far.test:443 Basic dXM6cGE=",
    expect.stringMatching(/MCP server far: it cannot be reached \(The proxy 127\.0\.0\.1:\d+ refused/),
  ]);
});

test("what NO_PROXY names is reached directly", async () => {
  const { asked, stderr } = await throughProxy("http://far.test/mcp", (proxy) => ({
    HTTP_PROXY: proxy,
    NO_PROXY: ".test",
  }));
  expect([asked, stderr.includes("MCP server far: it cannot be reached")]).toEqual([[], true]);
});

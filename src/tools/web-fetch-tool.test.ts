import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { type Answer, type LoopbackServer, startLoopback } from "../../test/loopback-server.ts";
import { Agent } from "../agent/agent.ts";
import { textOf } from "../core/message/message.ts";
import { calls, says } from "../testing/script.ts";
import { ScriptedModel } from "../testing/scripted-model.ts";
import { isPublicAddress, publicLookup } from "./web/fetch-page.ts";
import { createWebFetchTool, type WebFetchOptions } from "./web-fetch-tool.ts";

let server: LoopbackServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function fetched(input: object, options: WebFetchOptions = {}): Promise<string> {
  const model = new ScriptedModel([calls("web_fetch", { ...input }), says("done")]);
  let said = "";
  await new Agent({ model, tools: [createWebFetchTool({ privateHosts: ["127.0.0.1"], ...options })] }).run(
    "go",
    {
      onEvent: (event) => {
        if (event.type === "tool_result") said = `${event.status}: ${textOf(event.result.content)}`;
      },
    },
  );
  return said.replaceAll(server?.url ?? "-", "http://here");
}

async function serve(...answers: readonly Answer[]): Promise<string> {
  server = await startLoopback(answers);
  return server.url;
}

const html =
  (body: string, type = "text/html; charset=utf-8"): Answer =>
  (response) =>
    response.writeHead(200, { "content-type": type }).end(body);

test("a page comes as Markdown with address and title, without cookies or names of its reader", async () => {
  const url = await serve(html("<title>Hi</title><h1>你好</h1><p><a href='/x'>more</a>"));
  expect(await fetched({ url: `${url}/a` })).toBe(
    "ok: URL: http://here/a\nTitle: Hi\n\n# 你好\n\n[more](http://here/x)",
  );
  expect(Object.keys(server?.requests[0]?.headers ?? {}).toSorted()).toEqual([
    "accept",
    "accept-encoding",
    "accept-language",
    "connection",
    "host",
    "user-agent",
  ]);
});

test("other text comes as it is, in the encoding it is in; what is not text is refused", async () => {
  const url = await serve(
    html('{"a":1}', "application/ld+json"),
    (response) =>
      response.writeHead(200, { "content-type": "text/plain; charset=gbk" }).end(Buffer.from([0xc4, 0xe3])),
    (response) =>
      response
        .writeHead(200, { "content-type": "text/html", "content-encoding": "gzip" })
        .end(gzipSync("<p>zipped")),
    html("x", "application/pdf"),
    (response) => response.writeHead(200, { "content-type": "text/html", "content-encoding": "zz" }).end("x"),
  );
  expect([
    await fetched({ url }),
    await fetched({ url }),
    await fetched({ url }),
    await fetched({ url }),
    await fetched({ url }),
  ]).toEqual([
    'ok: URL: http://here/\n\n{"a":1}',
    "ok: URL: http://here/\n\n你",
    "ok: URL: http://here/\n\nzipped",
    "error: Error: http://here/ is application/pdf, 1 bytes; only text can be shown.",
    "error: Error: The page is encoded as zz, which cannot be read.",
  ]);
});

test("a long text comes in pages, a huge one is cut", async () => {
  const text = "x".repeat(120_000);
  const url = await serve(html(text, "text/plain"), html(text, "text/plain"), html(text, "text/plain"));
  const [first, last, cut] = [
    await fetched({ url }),
    await fetched({ url, offset: 100_000 }),
    await fetched({ url }, { maxBytes: 1000 }),
  ];
  expect([first, last, cut]).toEqual([
    `ok: URL: http://here/\n\n${"x".repeat(50_000)}\n\n(70000 characters more; continue with offset 50000)`,
    `ok: URL: http://here/\n\n${"x".repeat(20_000)}`,
    `ok: URL: http://here/\n\n${"x".repeat(1000)}\n\n(the page is longer than 1000 bytes; the rest was not read)`,
  ]);
});

test("redirects are followed on the host and reported to another; loops end", async () => {
  const to =
    (location: string): Answer =>
    (response) =>
      response.writeHead(302, { location }).end();
  const url = await serve(
    to("/b"),
    html("there", "text/plain"),
    to("http://example.com/x"),
    ...Array.from({ length: 6 }, () => to("/again")),
  );
  expect([await fetched({ url }), await fetched({ url }), await fetched({ url })]).toEqual([
    "ok: URL: http://here/b\n\nthere",
    "error: Error: The page has moved to another place: http://example.com/x\nFetch that address if it is what you want.",
    "error: Error: http://here/ was redirected more than 5 times.",
  ]);
});

test("a status that is not a success is an error with what the server said", async () => {
  const url = await serve((response) =>
    response.writeHead(404, { "content-type": "text/html" }).end("<h1>Gone"),
  );
  expect(await fetched({ url })).toBe("error: HTTP status 404\nURL: http://here/\n\n# Gone");
});

test("a page that never ends, or never begins, ends with the time", async () => {
  const url = await serve(
    (response) => response.writeHead(200).write("x"),
    () => undefined,
  );
  expect([await fetched({ url }, { timeoutMs: 30 }), await fetched({ url }, { timeoutMs: 30 })]).toEqual([
    "error: Error: http://here/ took longer than 30 ms.",
    "error: Error: http://here/ took longer than 30 ms.",
  ]);
});

test.for([
  ["http://127.0.0.1:1/", "127.0.0.1"],
  ["http://2130706433/", "127.0.0.1"],
  ["http://0x7f.1/", "127.0.0.1"],
  ["http://[::1]/", "::1"],
  ["http://[::ffff:169.254.169.254]/", "::ffff:a9fe:a9fe"],
  ["http://169.254.169.254/latest/meta-data/", "169.254.169.254"],
  ["http://localhost/", "localhost"],
  ["http://metadata.google.internal/", "metadata.google.internal"],
])("%s is refused", async ([url, host]) => {
  expect(await fetched({ url }, { privateHosts: [] })).toBe(
    `error: Error: ${host} is an address of this machine or a private network, which are not fetched unless the user allows that host.`,
  );
});

test("a name that leads to this machine is refused where the connection is made", async () => {
  const error = await new Promise((resolve) => publicLookup("localhost", {}, resolve));
  expect(String(error)).toContain("localhost is an address of this machine");
});

test.for([
  ["file:///etc/passwd", "file: addresses are not fetched; only http: and https:."],
  [
    "https://user:pw@example.com/",
    "The address holds a user name or password, which are not sent. Leave them out.",
  ],
  ["example.com", '"example.com" is not an address: write https://…'],
])("the address %s cannot be fetched", async ([url, said]) => {
  expect(await fetched({ url })).toBe(`error: Error: ${said}`);
});

test("an IPv4 address is as public as the same one inside an IPv6 address is not", () => {
  expect(["8.8.8.8", "1.1.1.1", "2606:4700::1111", "172.32.0.1"].map(isPublicAddress)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      expect([`::ffff:${address}`, `::${address}`, `64:ff9b::${address}`].some(isPublicAddress)).toBe(false);
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => !isPublicAddress(`${text} `)));
});

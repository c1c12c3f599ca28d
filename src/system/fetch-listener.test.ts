import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { collectGarbage } from "../../test/collect-garbage.ts";
import { onLoopback } from "../../test/on-loopback.ts";
import { type FetchHandler, fetchListener } from "./fetch-listener.ts";

const BODY = "x".repeat(2_000_000);

function serving(handler: FetchHandler): Promise<string> {
  return onLoopback(createServer(fetchListener(handler)));
}

test("who sends a long body that nobody reads gets the answer, again and again", async () => {
  const origin = await serving(async () => new Response("no", { status: 401 }));
  const answers: string[] = [];
  for (let count = 0; count < 20; count++) {
    const response = await fetch(origin, { method: "POST", body: BODY });
    answers.push(`${response.status} ${await response.text()} ${response.headers.get("connection")}`);
  }
  expect(new Set(answers)).toEqual(new Set(["401 no keep-alive"]));
});

test("a body that is read comes whole, and one of which a part is read is answered", async () => {
  const origin = await serving(async (request) => {
    if (request.url.endsWith("/all")) return new Response(String((await request.text()).length));
    const reader = request.body?.getReader();
    await reader?.read();
    return new Response("enough");
  });
  const whole = await fetch(`${origin}/all`, { method: "POST", body: BODY });
  expect([await whole.text(), whole.headers.get("connection")]).toEqual(["2000000", "keep-alive"]);
  const begun = await fetch(`${origin}/part`, { method: "POST", body: "short" });
  expect(await begun.text()).toBe("enough");
});

test("who sends on after the handler has had enough hears the answer, and the connection goes on", async () => {
  const origin = await serving(async (request) => {
    const reader = request.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    return new Response("enough", { status: 413 });
  });
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname).setEncoding("utf8");
  const answers: string[] = [];
  socket.on("data", (text: string) => answers.push(text));
  socket.on("error", (error) => answers.push(String(error)));
  const head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  const chunk = `${(1_000_000).toString(16)}\r\n${"x".repeat(1_000_000)}\r\n`;
  socket.write(head + chunk);
  await expect.poll(() => answers.join("")).toContain("enough");
  // What is on its way when the answer comes.
  for (let count = 0; count < 20; count++) {
    if (!socket.write(chunk)) await once(socket, "drain");
  }
  socket.write(`0\r\n\r\n${head}${chunk}0\r\n\r\n`);
  await expect.poll(() => answers.join("").split("413").length - 1).toBe(2);
  socket.destroy();
});

test("what no handler can be asked is refused with a problem too", async () => {
  const origin = await serving(async () => new Response("asked"));
  const { hostname, port } = new URL(origin);
  const answers = ["TRACE / HTTP/1.1\r\nHost: x", "GET http://user@x/ HTTP/1.1\r\nHost: x"].map(
    async (head) => {
      const socket = connect(Number(port), hostname).setEncoding("utf8");
      socket.write(`${head}\r\n\r\n`);
      let answer = "";
      for await (const text of socket) answer += text;
      return [answer.slice(9, 12), answer.includes("application/problem+json")];
    },
  );
  expect(await Promise.all(answers)).toEqual([
    ["400", true],
    ["400", true],
  ]);
});

test("a request hears that its connection is gone, however many there were before", async () => {
  const streams = 30;
  let heard = 0;
  let closed = 0;
  const listener = fetchListener(async (request) => {
    if (request.method !== "POST") return new Response("over");
    request.signal.addEventListener("abort", () => heard++, { once: true });
    return new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1)) }));
  });
  const origin = await onLoopback(
    createServer((incoming, outgoing) => {
      listener(incoming, outgoing);
      if (incoming.method === "POST") outgoing.once("close", () => closed++);
    }),
  );
  // So many that the engine compiles what handles them, which then holds nothing that it does not use.
  for (let count = 0; count < 1_500; count++) await (await fetch(origin)).text();
  const open = await Promise.all(
    Array.from({ length: streams }, async () => {
      const leaving = new AbortController();
      const { body } = await fetch(origin, { method: "POST", signal: leaving.signal });
      const reader = body?.getReader();
      await reader?.read();
      return leaving;
    }),
  );
  collectGarbage();
  for (const leaving of open) leaving.abort();
  await expect.poll(() => closed).toBe(streams);
  expect(heard).toBe(streams);
});

import { expect, test } from "vitest";
import { FakeClock } from "../testing/fake-clock.ts";
import { createReader, ServerProblem } from "./create-reader.ts";

const entry = (id: string): string =>
  `id: ${id}\nevent: entry\ndata: ${JSON.stringify({ type: "note", id, parent: null, time: 0, kind: "k", data: 0 })}\n\n`;

/** A body of these pieces, which then breaks. */
function broken(...pieces: readonly string[]): Response {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
    },
    pull: (controller) => controller.error(new TypeError("terminated")),
  });
  return new Response(body);
}

test("a connection that breaks is made again behind the last entry, in pieces however they are cut", async () => {
  const clock = new FakeClock();
  const asked: (string | null)[] = [];
  const answers = [
    () => broken(entry("e1").slice(0, 9), entry("e1").slice(9), entry("e2"), entry("e3").slice(0, 20)),
    () => {
      throw new TypeError("fetch failed");
    },
    () => new Response("gateway", { status: 502 }),
    () => broken(entry("e3"), "event: newer\ndata: {}\n\n", entry("e4")),
  ];
  const reader = createReader({
    baseUrl: "http://127.0.0.1/",
    clock,
    fetch: async (_input, init) => {
      asked.push(new Headers(init?.headers).get("last-event-id"));
      return (answers.shift() ?? (() => broken()))();
    },
  });
  const seen: string[] = [];
  const states: string[] = [];
  const reading = (async () => {
    for await (const item of reader.follow("s", { onConnection: (state) => states.push(state) })) {
      if (item.type === "entry") seen.push(item.entry.id);
      if (seen.length === 4) return;
    }
  })();
  const wait = async (): Promise<boolean> =>
    Promise.race([reading.then(() => false), clock.untilSleeping().then(() => true)]);
  while (await wait()) await clock.advance(100);
  expect([seen, asked, states]).toEqual([
    ["e1", "e2", "e3", "e4"],
    [null, "e2", "e2", "e2"],
    ["open", "lost", "lost", "lost", "open"],
  ]);
});

test("what the server refuses is not tried again", async () => {
  const problem = {
    type: "about:blank",
    title: "Not Found",
    status: 404,
    detail: "There is none.",
    code: "not_found",
  };
  const reader = createReader({
    baseUrl: "http://127.0.0.1",
    fetch: async () => Response.json(problem, { status: 404 }),
  });
  const items = reader.follow("s")[Symbol.asyncIterator]();
  const error = await items.next().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ServerProblem);
  expect(error).toMatchObject({ status: 404, code: "not_found", message: "There is none." });
});

test("an answer that is none of the server's is told by its status", async () => {
  const reader = createReader({
    fetch: async () => new Response("<h1>hm</h1>", { status: 418, statusText: "Teapot" }),
  });
  await expect(reader.session("s")).rejects.toMatchObject({
    status: 418,
    message: "The server answered 418 Teapot.",
  });
});

test("whoever ends the reading is not told of an error", async () => {
  const ending = new AbortController();
  const reader = createReader({ baseUrl: "http://127.0.0.1", fetch: async () => broken(entry("e1")) });
  const seen: string[] = [];
  for await (const item of reader.follow("s", { signal: ending.signal })) {
    if (item.type === "entry") seen.push(item.entry.id);
    ending.abort();
  }
  expect(seen).toEqual(["e1"]);
});

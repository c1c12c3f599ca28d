import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { FakeClock } from "../testing/fake-clock.ts";
import { eventBody } from "./create-handler.ts";
import type { StreamItem } from "./server-api.ts";

const entry = (id: string): StreamItem => ({
  type: "entry",
  entry: { type: "note", id, parent: null, time: 0, kind: "test", data: "a\nb" },
});

function readerOf(batches: AsyncGenerator<readonly StreamItem[], void, undefined>, clock = new FakeClock()) {
  const ends: string[] = [];
  const reader = eventBody(batches, clock, () => ends.push("end")).getReader();
  const next = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value);
  return { clock, ends, reader, next };
}

test("entries have their ids, what passes has none, and no text breaks a line", async () => {
  const { next } = readerOf(
    (async function* () {
      yield [entry("e1"), { type: "passing", passing: { type: "ready" } }, entry("e\n2")];
    })(),
  );
  await next();
  const data = (id: string) =>
    `data: ${JSON.stringify({ type: "note", id, parent: null, time: 0, kind: "test", data: "a\nb" })}\n\n`;
  expect(await next()).toBe(
    `id: e1\nevent: entry\n${data("e1")}event: passing\ndata: {"type":"ready"}\n\nevent: entry\n${data("e\n2")}`,
  );
});

test("a reader that nothing comes for hears within 30 s that the connection stands, and loses nothing by it", async () => {
  const later = Promise.withResolvers<readonly StreamItem[]>();
  const { clock, next } = readerOf(
    (async function* () {
      yield await later.promise;
    })(),
  );
  await next();
  for (let count = 0; count < 3; count++) {
    const silent = next();
    await clock.untilSleeping();
    await clock.advance(30_000);
    expect(await silent).toMatch(/^: .*\n\n$/);
  }
  later.resolve([entry("e1")]);
  let text = await next();
  while (text.startsWith(":")) text = await next();
  expect(text).toContain("id: e1");
});

test("a reader that leaves ends what it followed", async () => {
  const { reader, ends } = readerOf(
    (async function* () {
      await Promise.withResolvers<undefined>().promise;
      yield [];
    })(),
  );
  await reader.cancel();
  expect(ends).toEqual(["end"]);
});

test("a reader that leaves before it has taken everything leaves nothing open", async () => {
  let isClosed = false;
  const { reader } = readerOf(
    (async function* () {
      try {
        for (;;) yield [entry("e1")];
      } finally {
        isClosed = true;
      }
    })(),
  );
  await reader.read();
  await reader.read();
  await reader.cancel();
  await setImmediate();
  expect(isClosed).toBe(true);
});

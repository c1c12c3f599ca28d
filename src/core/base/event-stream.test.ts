import { expect, test } from "vitest";
import { EventStream } from "./event-stream.ts";

async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const seen: T[] = [];
  for await (const event of stream) seen.push(event);
  return seen;
}

test("events pushed before and while reading arrive in order, and the stream ends once", async () => {
  const stream = new EventStream<number>();
  stream.push(1);
  stream.push(2);
  const reading = all(stream);
  await Promise.resolve();
  stream.push(3);
  stream.end();
  stream.end();
  stream.push(4);
  expect(await reading).toEqual([1, 2, 3]);
  expect(await stream.next()).toEqual({ value: undefined, done: true });
});

test("a failure reaches the reader after the events before it, exactly once", async () => {
  const stream = new EventStream<string>();
  stream.push("a");
  stream.fail(new Error("broken"));
  stream.fail(new Error("second"));
  expect(await stream.next()).toEqual({ value: "a", done: false });
  await expect(stream.next()).rejects.toThrow("broken");
  expect(await stream.next()).toEqual({ value: undefined, done: true });
});

test("a failure wakes a reader that waits", async () => {
  const stream = new EventStream<string>();
  const waiting = stream.next();
  stream.fail(new Error("broken"));
  await expect(waiting).rejects.toThrow("broken");
});

test("work starts with the first read and not before", async () => {
  const log: string[] = [];
  const stream = new EventStream<string>({
    onStart: () => {
      log.push("start");
      stream.push("a");
      stream.end();
    },
  });
  expect(log).toEqual([]);
  expect(await all(stream)).toEqual(["a"]);
  expect(log).toEqual(["start"]);
});

test("leaving early cancels, and waits until what was cancelled has ended", async () => {
  const log: string[] = [];
  const stream = new EventStream<number>({
    onStart: () => stream.push(1),
    onCancel: async () => {
      log.push("cancelled");
      await Promise.resolve();
      log.push("ended");
    },
  });
  for await (const event of stream) {
    log.push(`event ${event}`);
    break;
  }
  expect(log).toEqual(["event 1", "cancelled", "ended"]);
});

test("a stream that nobody read is not cancelled, for it never began", async () => {
  const log: string[] = [];
  const stream = new EventStream<number>({
    onStart: () => log.push("start"),
    onCancel: () => void log.push("cancel"),
  });
  await stream.return();
  expect(await stream.next()).toEqual({ value: undefined, done: true });
  expect(log).toEqual([]);
});

test("the writer hears when more than a thousand events wait, and when all were taken", async () => {
  const heard: boolean[] = [];
  const stream = new EventStream<number>({ onPressure: (isHigh) => void heard.push(isHigh) });
  for (let event = 0; event < 1_026; event++) stream.push(event);
  expect(heard).toEqual([true]);
  for (let event = 0; event < 1_025; event++) await stream.next();
  expect(heard).toEqual([true]);
  await stream.next();
  expect(heard).toEqual([true, false]);
});

test("events that were discarded are never read", async () => {
  const stream = new EventStream<string>();
  stream.push("a");
  stream.discard();
  stream.push("b");
  stream.end();
  expect(await all(stream)).toEqual(["b"]);
});

test("whoever asks for several events at once gets them in order, and then the end or the error", async () => {
  const stream = new EventStream<number>();
  const asked = [stream.next(), stream.next(), stream.next(), stream.next()];
  stream.push(1);
  stream.push(2);
  stream.fail(new Error("broken"));
  const ends = await Promise.allSettled(asked);
  expect(ends.map((end) => (end.status === "fulfilled" ? end.value.value : String(end.reason)))).toEqual([
    1,
    2,
    "Error: broken",
    undefined,
  ]);
});

test("everybody who leaves waits until what was cancelled has ended", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stream = new EventStream<number>({ onStart: () => stream.push(1), onCancel: () => promise });
  await stream.next();
  const log: string[] = [];
  const left = [1, 2].map((who) => stream.return().then(() => log.push(`left ${who}`)));
  await Promise.resolve();
  log.push("ended");
  resolve();
  await Promise.all(left);
  expect(log).toEqual(["ended", "left 1", "left 2"]);
});

import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { StreamOutput } from "./command-context.ts";

interface SlowReader {
  readonly stream: Writable;
  readonly chunks: string[];
  /** Takes what was written last. */
  readonly take: (error?: Error) => void;
}

function slowReader(): SlowReader {
  const chunks: string[] = [];
  let done: ((error?: Error) => void) | undefined;
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, callback) => {
      chunks.push(chunk.toString());
      done = callback;
    },
  });
  return { stream, chunks, take: (error) => done?.(error) };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("what a slow reader has not taken yet is written in order, and drained to the end", async () => {
  const { stream, chunks, take } = slowReader();
  const output = new StreamOutput(() => stream, false);
  const lines = Array.from({ length: 100 }, (_, at) => `${at}\n`);
  for (const line of lines) output.write(line);
  let isDrained = false;
  const drained = output.drain().then(() => (isDrained = true));
  const seen: boolean[] = [];
  for (const _ of lines) {
    seen.push(isDrained);
    take();
    await turn();
  }
  await drained;
  expect([chunks.join(""), seen.includes(true)]).toEqual([lines.join(""), false]);
});

test("on a terminal each text is written at once", () => {
  const { stream, chunks, take } = slowReader();
  const output = new StreamOutput(() => stream, true);
  output.write("a");
  output.write("b");
  const isWithSystem = stream.writableLength === 2;
  take();
  take();
  expect([isWithSystem, chunks]).toEqual([true, ["a", "b"]]);
});

test("when the reader is gone, what waits for it is forgotten, and nobody waits any longer", async () => {
  const { stream, chunks, take } = slowReader();
  const output = new StreamOutput(() => stream, false);
  const problems: string[] = [];
  output.onBroken(({ message }) => problems.push(message));
  output.write("a");
  output.write("b");
  take(new Error("gone"));
  await output.drain();
  await turn();
  output.write("c");
  expect([chunks, problems]).toEqual([["a"], ["gone"]]);
});

test("an output is full when a slow reader lets much wait, until it has taken that or is gone", async () => {
  const { stream, take } = slowReader();
  const output = new StreamOutput(() => stream, false);
  const text = "x".repeat(3_000_000);
  const seen = [output.isFull];
  output.write(text);
  output.write(text);
  seen.push(output.isFull);
  take();
  await turn();
  seen.push(output.isFull);
  output.write(text);
  seen.push(output.isFull);
  take(new Error("gone"));
  await output.drain();
  seen.push(output.isFull);
  expect(seen).toEqual([false, true, false, true, false]);
});

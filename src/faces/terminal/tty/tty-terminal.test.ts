import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { type ReadStream, WriteStream } from "node:tty";
import { expect, test } from "vitest";
import type { Size, TerminalEvent } from "./key.ts";
import { TtyTerminal } from "./tty-terminal.ts";

/** A window whose stream learns its size as Node's own does: when it is asked, or told by a signal. */
class Window extends EventEmitter {
  size: [columns: number, rows: number] = [80, 24];
  columns = 80;
  rows = 24;
  readonly write = (): boolean => true;
  readonly _handle = {
    getWindowSize: (into: number[]): number => {
      into.splice(0, 2, ...this.size);
      return 0;
    },
  };
  readonly _refreshSize = (WriteStream.prototype as unknown as { _refreshSize: () => void })._refreshSize;
}

function openWindow() {
  const window = new Window();
  const input = Object.assign(new PassThrough(), { setRawMode: () => undefined });
  const terminal = new TtyTerminal({
    input: input as unknown as ReadStream,
    output: window as unknown as WriteStream,
  });
  const told: Size[] = [];
  const events: TerminalEvent[] = [];
  terminal.enter({
    onEvent: (event) => events.push(event),
    onResize: (size) => told.push(size),
    onGone: () => undefined,
  });
  return { window, terminal, told, input, events };
}

test("whoever looks at the size before its signal came finds it changed, and the listener is told once", () => {
  const { window, terminal, told } = openWindow();
  const before = terminal.checkSize();
  window.size = [33, 36];
  const looks = [terminal.checkSize(), terminal.checkSize()];
  window._refreshSize();
  expect([before, looks, terminal.size, told]).toEqual([
    false,
    [true, false],
    { columns: 33, rows: 36 },
    [{ columns: 33, rows: 36 }],
  ]);
});

test("the signal tells the listener by itself", () => {
  const { window, terminal, told } = openWindow();
  window.size = [100, 24];
  window._refreshSize();
  expect([terminal.checkSize(), terminal.size, told]).toEqual([
    false,
    { columns: 100, rows: 24 },
    [{ columns: 100, rows: 24 }],
  ]);
});

test("a key whose bytes came in time is one key, also when the program was busy meanwhile", async () => {
  const { input, events } = openWindow();
  input.write("\u001B");
  await setImmediate();
  // Due in the same turn of the loop as the end of the wait for the rest, and behind it.
  const rest = new Promise<void>((resolve) => {
    setTimeout(() => input.write("[A", () => resolve()), 40);
  });
  for (const end = performance.now() + 100; performance.now() < end; );
  await rest;
  await setImmediate();
  input.write("\u001B");
  await expect
    .poll(() => events)
    .toEqual([
      { type: "key", key: "up" },
      { type: "key", key: "escape" },
    ]);
});

import { Writable } from "node:stream";
import { expect, test } from "vitest";
import type { AgentEvent } from "../../core/agent/entries.ts";
import { StreamOutput } from "./standard-output.ts";
import { styleFor } from "./style.ts";
import { WaitingLine } from "./waiting-line.ts";

function room(columns = 80) {
  let written = "";
  let now = 0;
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      written += chunk.toString();
      done();
    },
  });
  const output = new StreamOutput(() => stream, true);
  const style = styleFor(true, { NO_COLOR: "1" });
  const waiting = new WaitingLine({ output, style, width: () => columns, now: () => now });
  /** What is written by one look so many milliseconds later. */
  const after = (ms: number): string => {
    now += ms;
    written = "";
    waiting.draw();
    return written;
  };
  const follow = (event: object): void => waiting.follow(event as AgentEvent);
  return { waiting, output, after, follow, text: () => written };
}

test("a wait is told from the first second on, what for and how long, and no wider than the terminal", () => {
  const { after, follow } = room(24);
  const seen = [after(9_000)];
  follow({ type: "turn_start" });
  seen.push(after(999), after(1));
  follow({ type: "tool_intent", callId: "1", name: "bash" });
  seen.push(after(2_000));
  follow({ type: "tool_intent", callId: "2", name: "read" });
  seen.push(after(65_000));
  follow({ type: "tool_result", callId: "1" });
  seen.push(after(1_000));
  follow({ type: "tool_result", callId: "2" });
  seen.push(after(5_000));
  expect(seen).toEqual([
    "",
    "",
    "\r\u001B[K… waiting for the mode…",
    "\r\u001B[K… running bash · 2 s",
    "\r\u001B[K… running 2 calls · 65…",
    "\r\u001B[K… running read · 1 s",
    "",
  ]);
});

test("the line is gone before anything else is written, and nothing is erased where it does not stand", () => {
  const { waiting, output, after, follow, text } = room();
  const over = waiting.over(output);
  follow({ type: "retry" });
  after(0);
  over.write("one\n");
  after(3_000);
  over.write("two\n");
  over.write("three\n");
  expect(text()).toBe("\r\u001B[K… waiting for the next attempt · 3 s\r\u001B[Ktwo\nthree\n");
});

test("what stays the same goes on counting, and the end of a run ends the wait", () => {
  const { after, follow } = room();
  follow({ type: "text_delta", index: 0, text: "a" });
  const first = after(3_000);
  follow({ type: "text_delta", index: 0, text: "b" });
  const second = after(2_000);
  follow({ type: "done" });
  expect([first, second, after(5_000)]).toEqual([
    "\r\u001B[K… the model is writing · 3 s",
    "\r\u001B[K… the model is writing · 5 s",
    "",
  ]);
});

import { Writable } from "node:stream";
import { expect, test } from "vitest";
import type { RunView, SessionView } from "../../view/view.ts";
import { EMPTY_HOST, ViewFold } from "../../view/view-fold.ts";
import { StreamOutput, styleFor } from "./command-context.ts";
import { WaitingLine } from "./headless.ts";

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
  const waiting = new WaitingLine(
    output,
    style,
    () => columns,
    () => now,
  );
  /** What is written by one look so many milliseconds later. */
  const after = (ms: number): string => {
    now += ms;
    written = "";
    waiting.draw();
    return written;
  };
  const follow = (run: Partial<RunView> | undefined, calls: readonly string[] = []): void => {
    const items = calls.map((name) => ({ type: "tool", name, title: "it", state: "running" }));
    const { run: _, ...view } = new ViewFold(EMPTY_HOST).view;
    waiting.follow({ ...view, items, ...(run && { run }) } as unknown as SessionView);
  };
  return { waiting, output, after, follow, text: () => written };
}

test("a wait is told from the first second on, what for and how long, and no wider than the terminal", () => {
  const { after, follow } = room(24);
  const seen = [after(9_000)];
  follow({ phase: "waiting" });
  seen.push(after(999), after(1));
  follow({ phase: "tools" }, ["bash"]);
  seen.push(after(2_000));
  follow({ phase: "tools" }, ["bash", "read"]);
  seen.push(after(65_000));
  follow({ phase: "tools" });
  seen.push(after(1_000));
  follow(undefined);
  seen.push(after(5_000));
  expect(seen).toEqual([
    "",
    "",
    "\r\u001B[K… waiting for the mode…",
    "\r\u001B[K… running bash it · 2 s",
    "\r\u001B[K… running 2 calls · 65…",
    "\r\u001B[K… tools are running · …",
    "",
  ]);
});

test("the line is gone before anything else is written, and nothing is erased where it does not stand", () => {
  const { waiting, output, after, follow, text } = room();
  const over = waiting.wrap(output);
  follow({ phase: "waiting", retry: { attempt: 2, until: 0, reason: "overloaded" } });
  after(0);
  over.write("one\n");
  after(3_000);
  over.write("two\n");
  over.write("three\n");
  expect(text()).toBe("\r\u001B[K… attempt 2 in 0 s: overloaded · 3 s\r\u001B[Ktwo\nthree\n");
});

test("what stays the same goes on counting", () => {
  const { after, follow } = room();
  follow({ phase: "answering" });
  const first = after(3_000);
  follow({ phase: "answering", outputTokens: 5 });
  expect([first, after(2_000)]).toEqual([
    "\r\u001B[K… the model is writing · 3 s",
    "\r\u001B[K… the model is writing · 5 s",
  ]);
});

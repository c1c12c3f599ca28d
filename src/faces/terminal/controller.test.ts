import { expect, test } from "vitest";
import { bareQueue } from "../../../test/coding-session/bare-queue.ts";
import { bareScreen, bareSession } from "../../../test/screen/bare-screen.ts";
import type { CodingSession } from "../../coding/session/coding-session.ts";
import type { ControlPorts } from "./commands/control.ts";
import { Controller } from "./controller.ts";

/** A screen without a session, and a session that writes down what is asked of it. */
function withoutSession() {
  const asked: unknown[] = [];
  const session: CodingSession = bareSession({
    setMode: async (mode: string) => void asked.push(["mode", mode]),
    shell: async (command: string) => void asked.push(["shell", command]),
    send: async (input: unknown) => {
      asked.push(["send", input]);
      (session.view as { state: string }).state = "running";
      return { exitCode: 0 };
    },
    steer: (input: unknown) => void asked.push(["steer", input]),
  });
  const screen = bareScreen({ onAction: (action, key) => controller.act(action, key) });
  const ports = { onSession: () => undefined, elapsed: () => 0 } as unknown as ControlPorts;
  const controller: Controller = new Controller(screen, ports);
  const enter = (text: string): void => {
    controller.receive({ type: "text", text });
    controller.receive({ type: "key", key: "enter" });
  };
  return { controller, screen, session, asked, enter };
}

test("what is done before there is a session is done with it: a key, commands and messages as what they are", () => {
  const { controller, session, asked, enter } = withoutSession();
  controller.receive({ type: "key", key: "shift+tab" });
  enter("/mode plan");
  enter("!ls");
  enter("hello");
  enter("and more");
  expect(asked).toEqual([]);
  controller.attach(session, false);
  expect(asked).toEqual([
    ["mode", "plan"],
    ["mode", "plan"],
    ["shell", "ls"],
    ["send", "hello"],
    ["steer", "and more"],
  ]);
});

test("an unknown command that was written before there is a session stays to be mended", () => {
  const { controller, screen, session, asked, enter } = withoutSession();
  enter("/modx");
  controller.attach(session, false);
  expect([asked, screen.input.expandedText]).toEqual([[], "/modx"]);
});

/** A screen with a session in which a run is at work, and messages that wait for it. */
function withQueue(...texts: readonly string[]) {
  const waiting = (): readonly string[] => queue.items.map(({ text }) => text);
  const { queue } = bareQueue({ isCommand: () => false });
  for (const text of texts) queue.add(text);
  const { controller, screen, session, asked } = withoutSession();
  Object.assign(session, { queue, stop: async () => queue.hold() });
  Object.assign(session.view, { run: {}, state: "running" });
  controller.attach(session, false);
  const press = (...keys: readonly string[]): void => {
    for (const key of keys) controller.receive({ type: "key", key });
  };
  return { queue, screen, press, waiting, asked };
}

test("Alt+Up again takes the message before it, and puts the one it had taken back to its place", () => {
  const { screen, press, waiting } = withQueue("one", "two", "three");
  const seen = Array.from({ length: 4 }, () => {
    press("alt+up");
    return [screen.input.expandedText, waiting()];
  });
  expect(seen).toEqual([
    ["three", ["one", "two"]],
    ["two", ["one", "three"]],
    ["one", ["two", "three"]],
    ["one", ["two", "three"]],
  ]);
});

test("a message that is put back into the queue is never done as what it says", () => {
  const { asked, press, waiting } = withQueue("one", "!touch pwned");
  press("alt+up", "alt+up");
  expect([asked, waiting()]).toEqual([[], ["!touch pwned"]]);
});

test.each([
  ["free", [], ["alt+up", "alt+up", "alt+enter"], false],
  ["held", ["hold"], ["alt+up", "alt+up", "alt+enter"], true],
  ["held", ["hold"], ["alt+up", "ctrl+c"], true],
  ["held", [], ["alt+up", "escape", "alt+enter"], true],
  ["free", [], ["alt+up", "alt+9"], false],
] as const)(
  "a queue is %s again when a message of it has been edited (%j, then %j)",
  (_, first, keys, held) => {
    const { queue, press } = withQueue("one", "two");
    if (first.length > 0) queue.hold();
    press(...keys);
    expect(queue.held).toBe(held);
  },
);

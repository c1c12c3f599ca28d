import { expect, onTestFinished, test } from "vitest";
import type { CodingSession } from "../../app/coding-session/coding-session.ts";
import type { ControlPorts } from "./commands/control.ts";
import { Controller } from "./controller.ts";
import { History } from "./editor/history.ts";
import { type KeyAction, keymapOf } from "./editor/keymap.ts";
import { Screen, type ScreenOptions } from "./screen.ts";

/** A screen without a session, and a session that writes down what is asked of it. */
function withoutSession() {
  const asked: unknown[] = [];
  const view = {
    items: [],
    queue: [],
    steering: [],
    todo: [],
    jobs: [],
    state: "idle",
    model: "m",
    mode: "default",
    context: { usedTokens: 0 },
  };
  const session = {
    view,
    questions: [],
    info: { commands: [] },
    status: () => [],
    onChange: () => () => undefined,
    onQuestion: () => () => undefined,
    setMode: async (mode: string) => void asked.push(["mode", mode]),
    shell: async (command: string) => void asked.push(["shell", command]),
    send: async (input: unknown) => {
      asked.push(["send", input]);
      view.state = "running";
      return { exitCode: 0 };
    },
    steer: (input: unknown) => void asked.push(["steer", input]),
  } as unknown as CodingSession;
  const keymap = keymapOf();
  const screen = new Screen({
    terminal: {
      size: { columns: 80, rows: 24 },
      isBusy: false,
      write: () => undefined,
      checkSize: () => false,
    },
    look: { unicode: true, colors: "none" },
    keymap,
    clock: { now: () => 0, elapsed: () => 0 },
    onAction: (action: KeyAction, key: string) => controller.act(action, key),
    sources: { files: () => [], commands: () => [] },
    cwd: "/w",
    place: "w",
    history: new History(() => []),
  } as unknown as ScreenOptions);
  const ports = { onSession: () => undefined, elapsed: () => 0 } as unknown as ControlPorts;
  const controller: Controller = new Controller(screen, keymap, ports);
  screen.resume();
  onTestFinished(() => screen.pause());
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
    ["mode", "acceptEdits"],
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
  expect([asked, screen.input.whole]).toEqual([[], "/modx"]);
});

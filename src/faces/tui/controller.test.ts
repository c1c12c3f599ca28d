import { expect, test } from "vitest";
import { bareScreen, bareSession } from "../../../test/screen/bare-screen.ts";
import type { CodingSession } from "../../app/coding-session/coding-session.ts";
import type { ControlPorts } from "./commands/control.ts";
import { Controller } from "./controller.ts";
import { keymapOf } from "./editor/keymap.ts";

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
  const controller: Controller = new Controller(screen, keymapOf(), ports);
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

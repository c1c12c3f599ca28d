import { onTestFinished } from "vitest";
import type { CodingSession } from "../../src/coding/session/coding-session.ts";
import { History } from "../../src/faces/terminal/editor/input-line.ts";
import { keymapOf } from "../../src/faces/terminal/editor/keymap.ts";
import { Screen, type ScreenOptions } from "../../src/faces/terminal/screen.ts";

/** A screen in no terminal, without a session; it is paused with the test. */
export function bareScreen(
  options: Pick<ScreenOptions, "onAction"> & { readonly now?: () => number },
): Screen {
  const { onAction, now = () => 0 } = options;
  const screen = new Screen({
    terminal: {
      size: { columns: 80, rows: 24 },
      isBusy: false,
      write: () => undefined,
      checkSize: () => false,
    },
    appearance: { unicode: true, colors: "none" },
    keymap: keymapOf(),
    clock: { now, elapsed: now },
    onAction,
    sources: { files: () => [], commands: () => [] },
    cwd: "/w",
    location: () => "w",
    history: new History(() => []),
  } as unknown as ScreenOptions);
  screen.resume();
  onTestFinished(() => screen.pause());
  return screen;
}

/** A session in which nothing has been said, as far as a screen looks at it. */
export function bareSession(parts: object): CodingSession {
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
  const silent = () => () => undefined;
  const session = { view, questions: [], info: { commands: [] }, status: () => [], onChange: silent };
  return { ...session, onQuestion: silent, ...parts } as unknown as CodingSession;
}

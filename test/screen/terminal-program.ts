import { join } from "node:path";
import * as pty from "@lydell/node-pty";
import { NO_LOCAL_SERVERS } from "../../scripts/hermetic-environment.ts";
import { Emulator, type EmulatorSize } from "./emulator.ts";

/** The built command. */
export const BIN: string = join(import.meta.dirname, "../../dist/bin.mjs");

/** How a program is started in a terminal. */
export interface TerminalProgramOptions extends Partial<EmulatorSize> {
  readonly args?: readonly string[];
  /** What is started, in place of the built command. */
  readonly command?: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly home: string;
  /** False: the terminal answers no question. Default true. */
  readonly answers?: boolean;
  /** What it says its background is, as `#rrggbb`. Default: it does not know. */
  readonly background?: string;
}

/** A text that the visible rows hold, or what tells whether they fit. */
export type WantedOnScreen = string | ((screen: string) => boolean);

/** A program in a terminal, as a person has it before them. */
export interface ProgramInTerminal {
  readonly emulator: Emulator;
  readonly pid: number;
  /** Folder it works in. */
  readonly cwd: string;
  readonly home: string;
  /** Sends bytes as if typed, in one piece. */
  readonly type: (text: string) => void;
  /** Resolves when the visible rows hold a text, or fit. */
  readonly shows: (wanted: WantedOnScreen) => Promise<void>;
  /** Types, and resolves when the visible rows hold a text, or fit. */
  readonly typeUntil: (text: string, wanted: WantedOnScreen) => Promise<void>;
  /** Resolves when the visible rows hold a text no longer. */
  readonly hides: (text: string) => Promise<void>;
  readonly resize: (size: EmulatorSize) => Promise<void>;
  readonly signal: (name: string) => void;
  /** Closes the window: the terminal is gone. */
  readonly hangUp: () => void;
  /** Ends it, and the terminal with it. */
  readonly close: () => void;
  /** How it ended. */
  readonly end: Promise<{ readonly code: number; readonly signal: number | undefined }>;
}

/** Keys as terminals send them. */
export const KEYS = {
  enter: "\r",
  escape: "\u001B",
  up: "\u001B[A",
  down: "\u001B[B",
  right: "\u001B[C",
  altUp: "\u001B[1;3A",
  altEnter: "\u001B\r",
  shiftTab: "\u001B[Z",
  backspace: "\u007F",
  tab: "\t",
  ctrl: (letter: string): string => String.fromCharCode(letter.charCodeAt(0) & 0x1f),
  paste: (text: string): string => `\u001B[200~${text}\u001B[201~`,
} as const;

/** Starts a program in a terminal of its own with nothing of this environment. Close it. */
export function startInTerminal(options: TerminalProgramOptions): ProgramInTerminal {
  const { columns = 80, rows = 24, args = [], env = {}, answers = true } = options;
  const { cwd, home } = options;
  const emulator = new Emulator({ columns, rows });
  const [command, ...words] = options.command ?? [process.execPath, BIN, ...args];
  const child = pty.spawn(command, [...words], {
    cols: columns,
    rows,
    cwd,
    env: { ...variablesIn(home), ...env },
  });
  if (answers) {
    emulator.onReply((text) => child.write(text));
    if (options.background !== undefined) emulator.setBackground(options.background);
  }
  const frames = new WholeFrames((text) => emulator.write(text).then(() => watch.look()));
  child.onData((text) => frames.push(text));
  const end = new Promise<{ code: number; signal: number | undefined }>((resolve) => {
    child.onExit(({ exitCode, signal }) => void frames.end().then(() => resolve({ code: exitCode, signal })));
  });
  const watch = new ScreenWatch(emulator, end);
  const close = (): void => {
    watch.close();
    try {
      child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    emulator.dispose();
  };
  const type = (text: string): void => child.write(text);
  const shows = (wanted: WantedOnScreen): Promise<void> =>
    watch.when(
      typeof wanted === "string" ? (screen) => screen.includes(wanted) : wanted,
      JSON.stringify(String(wanted)),
    );
  return {
    emulator,
    pid: child.pid,
    cwd,
    home,
    type,
    shows,
    typeUntil: (text, wanted) => {
      type(text);
      return shows(wanted);
    },
    hides: (text) => watch.when((screen) => !screen.includes(text), `hiding ${JSON.stringify(text)}`),
    resize: async (size) => {
      await frames.drawn;
      emulator.resize(size);
      child.resize(size.columns, size.rows);
    },
    // To a program that has ended already, it is nothing.
    signal: (name) => child.kill(name),
    hangUp: () => (child as unknown as { destroy: () => void }).destroy(),
    end,
    close,
  };
}

/** As a test's own commands get them; this is also used outside of tests. */
function variablesIn(home: string): Readonly<Record<string, string>> {
  const path = process.env["PATH"] ?? "";
  return { PATH: path, HOME: home, ...NO_LOCAL_SERVERS, TERM: "xterm-256color", LANG: "C.UTF-8" };
}

const FRAME_BEGIN = "\u001B[?2026h";
const FRAME_END = "\u001B[?2026l";

/** How many characters at the end may be the first ones of a mark. */
function tornMark(text: string): number {
  const lengths = Array.from({ length: FRAME_BEGIN.length }, (_, at) => FRAME_BEGIN.length - at);
  return lengths.find((length) => text.endsWith(FRAME_BEGIN.slice(0, length))) ?? 0;
}

/** Draws a frame when all of it is there, as terminals do between the two marks of DEC 2026. */
class WholeFrames {
  readonly #draw: (text: string) => Promise<void>;
  /** Settles when everything is drawn that could be. */
  drawn: Promise<void> = Promise.resolve();
  #held = "";

  constructor(draw: (text: string) => Promise<void>) {
    this.#draw = draw;
  }

  push(text: string): void {
    const all = this.#held + text;
    const begin = all.lastIndexOf(FRAME_BEGIN);
    const cut = begin > all.lastIndexOf(FRAME_END) ? begin : all.length - tornMark(all);
    this.#held = all.slice(cut);
    if (cut > 0) this.drawn = this.#draw(all.slice(0, cut));
  }

  /** Draws the rest, for which no end will come. */
  end(): Promise<void> {
    if (this.#held !== "") this.drawn = this.#draw(this.#held);
    this.#held = "";
    return this.drawn;
  }
}

/** Waits for what a screen is to show. */
class ScreenWatch {
  readonly #emulator: Emulator;
  readonly #end: ProgramInTerminal["end"];
  readonly #watchers = new Set<() => void>();

  constructor(emulator: Emulator, end: ProgramInTerminal["end"]) {
    this.#emulator = emulator;
    this.#end = end;
  }

  /** Something was drawn. */
  look(): void {
    for (const watcher of this.#watchers) watcher();
  }

  /** Nobody waits any more. */
  close(): void {
    this.#watchers.clear();
  }

  /** Resolves when the visible rows fit; rejects when the program has ended before. */
  when(holds: (screen: string) => boolean, what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const watcher = (): void => {
        if (!holds(this.#emulator.screen.join("\n"))) return;
        this.#watchers.delete(watcher);
        resolve();
      };
      this.#watchers.add(watcher);
      watcher();
      void this.#end.then(({ code }) => {
        if (this.#watchers.delete(watcher))
          reject(new Error(`ended with ${code} without ${what}:\n${this.#emulator.rows.join("\n")}`));
      });
    });
  }
}

import { execFile } from "node:child_process";
import type { CodingSession } from "../../../coding/session/coding-session.ts";
import { errorMessage, invalidArgument } from "../../../core/base/errors.ts";
import { type Fields, isRecord, safeParse } from "../../../core/base/json.ts";
import type { Environment } from "../../../system/env.ts";
import type { Notice } from "../../../view/notice.ts";
import type { KeyAction } from "../editor/keymap.ts";
import { type Line, line, oneLine, span, textLines, wrapLine } from "../paint/line.ts";
import { type PageOptions, Pager } from "../panels/panel.ts";
import { type FieldOptions, FieldPanel, Picker, type PickOptions } from "../panels/picker.ts";
import type { SessionScreen } from "../screen.ts";

/** A command of the screen, or of the session, which is then sent as a message. */
export interface SlashCommand {
  readonly name: string;
  readonly note: string;
  /** The placeholder for its arguments; absent if it has no arguments. */
  readonly hint?: string | undefined;
  /** False: the session runs it. */
  readonly isOwn: boolean;
}

/** Where this program's sub-commands run. */
export interface SubcommandContext {
  readonly cwd: string;
  readonly environment: Environment;
}

/** The output of a sub-command of this program. Rejects with what it writes to standard error. */
export function ownCommand(
  words: readonly string[],
  { cwd, environment }: SubcommandContext,
): Promise<string> {
  const [, program = ""] = process.argv;
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [program, ...words],
      { cwd, env: { ...environment }, maxBuffer: 20_000_000 },
      (error, stdout, stderr) => {
        if (error === null || stdout !== "") resolve(stdout);
        else reject(invalidArgument(stderr.trim() || error.message));
      },
    );
  });
}

export interface ControlPorts extends SubcommandContext {
  /** True if the folder is removed afterwards, so that no choice is kept. */
  readonly isScratch?: boolean;
  /** Opens a new session, or a stored one. */
  readonly openSession: (resume?: { readonly id: string }) => Promise<CodingSession>;
  readonly onSession: (session: CodingSession) => void;
  /** Leaves the terminal to another program while it runs. */
  readonly withTerminal: <T>(use: () => Promise<T>) => Promise<T>;
  readonly suspend: () => void;
  /** Leaves the screen; the program ends with the exit code of the last run. */
  readonly end: () => void;
  readonly elapsed: () => number;
  readonly setTheme: (name: string) => void;
}

export type UntrustedNotice = Extract<Notice, { code: "untrusted" }>;

/** The screen for commands, and the person's actions on it. A panel closes before its answer counts. */
export abstract class Control {
  readonly screen: SessionScreen;
  readonly ports: ControlPorts;

  constructor(screen: SessionScreen, ports: ControlPorts) {
    this.screen = screen;
    this.ports = ports;
  }

  abstract act(action: KeyAction, key: string): void;

  /** Sends a prompt, or adds it to the current run. */
  abstract send(text: string): void;

  /** Opens another session and closes the current one, which stays if the other cannot be opened. */
  abstract switchTo(open: () => Promise<CodingSession>, isResumed: boolean): Promise<void>;

  /** Shows a hint above the status for a few seconds. */
  say(text: string, role: "warning" | "bad" | "good" | "muted" = "warning"): void {
    this.screen.hint(oneLine(text), role);
  }

  print(lines: readonly (string | Line)[]): void {
    this.screen.print([[], ...lines.map((each) => (typeof each === "string" ? line(each) : each))]);
  }

  pick<T>(options: PickOptions<T>): void {
    const { screen, ports } = this;
    const panel: Picker<T> = new Picker(options, {
      close: () => screen.close(panel),
      onChange: () => screen.draw(),
      now: ports.elapsed,
    });
    screen.open(panel);
  }

  /** Undefined if the person went back. */
  choose<T>(options: Omit<PickOptions<T>, "onChoose" | "onCancel">): Promise<T | undefined> {
    return new Promise((resolve) => {
      this.pick<T>({ ...options, onChoose: (value) => resolve(value), onCancel: () => resolve(undefined) });
    });
  }

  /** Undefined if the person went back. */
  ask(options: Omit<FieldOptions, "onEnter" | "onCancel">): Promise<string | undefined> {
    const { screen } = this;
    return new Promise((resolve) => {
      const close = (text?: string): void => {
        screen.close(panel);
        resolve(text);
      };
      const panel: FieldPanel = new FieldPanel({ ...options, onEnter: close, onCancel: close });
      screen.open(panel);
    });
  }

  page(options: PageOptions): void {
    const panel: Pager = new Pager(options, () => this.screen.close(panel));
    this.screen.open(panel);
  }

  async pageOf(words: readonly string[], title: string): Promise<void> {
    const rows = textLines((await ownCommand(words, this.ports)).trimEnd());
    const inner = (row: string): Line => line(" ".repeat(row.length - row.trimStart().length + 2));
    this.page({
      title,
      rows: ({ width }) => rows.flatMap((row) => wrapLine(line(row), { width, first: [], rest: inner(row) })),
    });
  }

  /** Shows the error if it fails. */
  run(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      const text = oneLine(errorMessage(error));
      if (text.length < 70) this.say(text, "bad");
      else this.print([[span(text, { role: "bad" })]]);
    });
  }
}

export function recordsIn(json: string): readonly Fields[] {
  const parsed = safeParse(json);
  const rows: readonly unknown[] = parsed.ok && Array.isArray(parsed.value) ? parsed.value : [];
  return rows.filter(isRecord);
}

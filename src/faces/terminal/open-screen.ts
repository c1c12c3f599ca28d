import { changeTrust } from "../../coding/project/trust-file.ts";
import type { CodingSession, ResumeOptions } from "../../coding/session/coding-session.ts";
import { userPaths } from "../../coding/settings/paths.ts";
import type { NewModel } from "../../coding/setup/model-setup.ts";
import { errorMessage, misuse, toNanoAgentError } from "../../core/base/errors.ts";
import type { PermissionMode } from "../../permission/permission-mode.ts";
import type { FoundModel } from "../../providers/catalog.ts";
import { LOCAL_MODEL } from "../../providers/model-choice.ts";
import { sessionTitle } from "../../session/read-session.ts";
import type { SessionStore } from "../../session/session-store.ts";
import { type Environment, variable } from "../../system/env.ts";
import { CALL_VARIABLE } from "../../system/process-watcher.ts";
import { openSetUp } from "./commands/choose-model.ts";
import type { KnownSession, ModelSetUp, UntrustedNotice } from "./commands/control.ts";
import { askForMode, askForServer, offerTrust, untrustedIn } from "./commands/first-minutes.ts";
import { openSessions } from "./commands/session-pickers.ts";
import { slashCommands } from "./commands/slash-commands.ts";
import { Controller } from "./controller.ts";
import { FileIndex } from "./editor/complete-input.ts";
import { History, typedBefore } from "./editor/input-line.ts";
import { type KeyConfig, keymapOf } from "./editor/keymap.ts";
import {
  clipboardImage,
  ownCommand,
  ownCommandOnTerminal,
  placeIn,
  writeInEditor,
} from "./other-programs.ts";
import { type Line, line, textLines, type ViewContext, wrapLine } from "./paint/line.ts";
import { lookFor, reflowOf, reflowOfNamed, THEME_NAMES, themeForBackground } from "./paint/theme.ts";
import { PlainScreen } from "./plain-screen.ts";
import { Screen, type ScreenFace, type ScreenOptions } from "./screen.ts";
import { Attention } from "./tty/attention.ts";
import type { TerminalListener } from "./tty/key.ts";
import { LineTerminal, type ScreenTerminal, TtyTerminal, watchOutsideEnds } from "./tty/tty-terminal.ts";
import { goOnLines, headerLines, markLines } from "./views/status-line.ts";

/** The ways in which the program is ended from outside. */
export interface Endings {
  readonly signal: AbortSignal;
  /** Settles when nothing may be waited for any longer. */
  readonly forced: Promise<unknown>;
  /** From now on the first signal leaves a moment to end. */
  readonly allowGrace: () => void;
}

export interface OpenHow {
  readonly resume?: ResumeOptions;
  readonly fresh?: boolean;
  /** Asks the person whether a local server that was found gets what they say. */
  readonly acceptServer: (found: FoundModel) => Promise<boolean>;
}

export interface OpenScreenOptions {
  readonly environment: Environment;
  readonly cwd: string;
  readonly prompt?: string | undefined;
  /** Lets the person choose the session to go on with. */
  readonly picks: boolean;
  readonly isResumed: boolean;
  readonly version: string;
  /** Opens the session that the options ask for; with `resume` that one, with `fresh` a new one. */
  readonly openSession: (how: OpenHow) => Promise<CodingSession>;
  /** True when an error that nobody caught has been told and is no reason to end. */
  readonly takesError: (error: unknown) => boolean;
  readonly settings: () => Promise<{
    readonly theme?: string;
    readonly notifications?: boolean;
    readonly keys?: KeyConfig;
  }>;
  /** True when nothing says how freely the session that was opened last may work. */
  readonly needsMode: () => boolean;
  /** True when a flag chose the mode. */
  readonly isModeAsked: () => boolean;
  /** Saves the mode that a person chose for the working folder. */
  readonly saveMode: (mode: PermissionMode) => Promise<void>;
  readonly saveModel: (model: string) => Promise<void>;
  readonly store: SessionStore;
  readonly isPlain: boolean;
  readonly endings: Endings;
  readonly signalExit: () => number;
}

const MAX_SESSIONS = 200;
/** Time a run gets to end by itself when the screen is left. */
const STOP_MS = 1_500;

/** Opens the screen in this process's terminal. Resolves to the exit code, the terminal restored. */
export function openScreen(options: OpenScreenOptions): Promise<number> {
  return new ScreenProgram(options).run();
}

class ScreenProgram {
  readonly #options: OpenScreenOptions;
  readonly #terminal: ScreenTerminal;
  readonly #screen: ScreenFace;
  readonly #controller: Controller;
  readonly #files: FileIndex;
  readonly #attention: Attention;
  readonly #ended = Promise.withResolvers<number>();
  readonly #listener: TerminalListener;
  #isEnding = false;
  #isGone = false;
  #themeIsSet = false;
  /** The header stands; a later conversation begins below a mark. */
  #hasHeader = false;
  #isNewFolder = false;

  constructor(options: OpenScreenOptions) {
    this.#options = options;
    const { environment, cwd, isPlain } = options;
    const elapsed = (): number => performance.now();
    const streams = { input: process.stdin, output: process.stdout };
    this.#terminal = isPlain ? new LineTerminal(streams) : new TtyTerminal(streams);
    this.#files = new FileIndex(cwd, () => this.#screen.later());
    const history = new History(() => typedBefore(options.store, cwd));
    const keymap = keymapOf();
    const parts: ScreenOptions = {
      terminal: this.#terminal,
      look: lookFor(environment),
      reflow: reflowOf(environment),
      keymap,
      cwd,
      history,
      place: placeIn(cwd, elapsed),
      header: (session, context, isResumed) => this.#header(session, context, isResumed),
      clock: { now: () => Date.now(), elapsed },
      sources: {
        files: (query, limit) => this.#files.find(query, limit),
        commands: () => slashCommands(this.#controller),
      },
      onAction: (action, key) => this.#controller.act(action, key),
      shells: () => this.#controller.shells,
    };
    this.#screen = isPlain ? new PlainScreen(parts) : new Screen(parts);
    this.#attention = new Attention({ terminal: this.#terminal, environment, cwd, elapsed, isPlain });
    this.#controller = new Controller(this.#screen, keymap, {
      cwd,
      elapsed,
      openSession: (resume) => this.#openSession(resume === undefined ? { fresh: true } : { resume }),
      onSession: (session) => this.#attention.watch(session),
      lendTerminal: (use) => this.#lend(use),
      suspend: () => this.#suspend(),
      writeInEditor: (text) => writeInEditor(text, environment),
      clipboardImage,
      end: () => void this.#end(),
      setTheme: (name) => this.#setTheme(name),
      listSessions: (all) => this.#sessions(all),
      modelSetUp: () => loadModelSetUp(options),
      saveModel: options.saveModel,
      approve: (untrusted) => this.#approve(untrusted),
      command: (words) => ownCommand(words, options),
      runOwn: (words, title) => this.#showCommand(words, title),
    });
    this.#listener = {
      onEvent: (event) => {
        if (event.type === "reply") this.#reply(event.text);
        else this.#attention.keyPressed();
        this.#controller.receive(event);
      },
      onResize: (size) => this.#screen.resized(size),
      onGone: () => {
        this.#isGone = true;
        void this.#end(HANGUP);
      },
    };
  }

  async run(): Promise<number> {
    const leaveNow = (): void => this.#terminal.leaveNow();
    const crashed = (error: unknown): void => this.#crash(error);
    const continued = (): void => this.#continued();
    process.on("exit", leaveNow);
    process.on("uncaughtException", crashed);
    process.on("SIGCONT", continued);
    // While the terminal is lent, nothing else may be left that keeps the process alive.
    let isOrphaned = false;
    const unwatch = watchOutsideEnds({
      onLastMoment: () => {
        this.#screen.session?.killNow();
        this.#screen.finish([]);
        this.#terminal.leaveNow();
      },
      onOrphaned: () => {
        isOrphaned = true;
        this.#terminal.abandon();
      },
    });
    const { endings } = this.#options;
    endings.allowGrace();
    endings.signal.addEventListener("abort", () => void this.#end(this.#options.signalExit()), {
      once: true,
    });
    void endings.forced.then(() => {
      this.#screen.session?.killNow();
      this.#terminal.leaveNow();
      this.#ended.resolve(this.#options.signalExit());
    });
    try {
      this.#terminal.enter(this.#listener);
      this.#screen.resume();
      await Promise.all([this.#settle(), this.#begin()]);
      const code = await this.#ended.promise;
      // At any other end Node gives the terminal the modes it began with, from under the shell.
      if (isOrphaned) process.kill(process.pid, "SIGKILL");
      return code;
    } finally {
      this.#files.close();
      this.#terminal.leaveNow();
      unwatch();
      process.off("exit", leaveNow);
      process.off("uncaughtException", crashed);
      process.off("SIGCONT", continued);
    }
  }

  #header({ info }: CodingSession, context: ViewContext, isResumed: boolean): readonly Line[] {
    if (this.#hasHeader) return markLines(isResumed ? "Resumed conversation" : "New conversation", context);
    this.#hasHeader = true;
    const { version, isModeAsked } = this.#options;
    return headerLines({ info, version, tellsMode: this.#isNewFolder || isModeAsked() }, context);
  }

  async #settle(): Promise<void> {
    const { theme, keys, notifications } = await this.#options.settings();
    if (theme !== undefined && theme !== "auto") this.#setTheme(theme);
    if (notifications === false) this.#attention.silence();
    const keymap = keymapOf(keys);
    this.#screen.setKeymap(keymap);
    this.#controller.keymap = keymap;
    for (const fault of keymap.faults) this.#screen.print([line(fault, { role: "warning" })]);
  }

  async #begin(): Promise<void> {
    const { picks, prompt, isResumed } = this.#options;
    const send = (): void => {
      if (prompt !== undefined) this.#controller.send(prompt);
    };
    if (picks && this.#sessions().length > 0) {
      openSessions(this.#controller, {
        onOpened: () => {
          send();
          this.#offerTrust();
        },
        onCancel: () => {
          this.#screen.input.replace(prompt ?? "");
          this.#controller.run(this.#open(false));
        },
      });
      return;
    }
    send();
    await this.#open(isResumed);
  }

  async #open(isResumed: boolean): Promise<void> {
    try {
      const session = await this.#openSession({ fresh: !isResumed });
      if (this.#options.needsMode()) await this.#askForMode(session);
      if (this.#isEnding) {
        await session.close();
        return;
      }
      this.#controller.attach(session, isResumed);
      this.#offerTrust();
    } catch (error) {
      const known = toNanoAgentError(error);
      if (known.code === "missing_credentials")
        openSetUp(this.#controller, {
          again: () => this.#controller.run(this.#open(isResumed)),
          demo: () => this.#controller.run(this.#lend(() => ownCommandOnTerminal(["demo"], this.#options))),
          leave: () => void this.#end(CREDENTIALS),
        });
      else {
        await this.#leave([]);
        throw error;
      }
    }
  }

  /** Before anything is said in a new folder: how freely may it be worked in? */
  async #askForMode(session: CodingSession): Promise<void> {
    const mode = await Promise.race([askForMode(this.#controller), this.#ended.promise]);
    if (typeof mode !== "string") return;
    await session.setMode(mode);
    this.#isNewFolder = true;
    this.#controller.run(this.#options.saveMode(mode));
  }

  #offerTrust(): void {
    const { session } = this.#screen;
    const untrusted = session && untrustedIn(session);
    if (untrusted !== undefined) offerTrust(this.#controller, untrusted);
  }

  #openSession(how: Omit<OpenHow, "acceptServer">): Promise<CodingSession> {
    return this.#options.openSession({
      ...how,
      acceptServer: async (found) => {
        const isYes = await askForServer(this.#controller, found);
        if (isYes) this.#controller.run(this.#options.saveModel(found.isLoading ? LOCAL_MODEL : found.name));
        return isYes;
      },
    });
  }

  #reply(text: string): void {
    const reflow = reflowOfNamed(text);
    if (reflow !== undefined) this.#screen.setReflow(reflow);
    const theme = this.#themeIsSet ? undefined : themeForBackground(text);
    const { look } = this.#screen;
    if (theme !== undefined && look.theme !== "ansi" && look.theme !== theme)
      this.#screen.setLook({ ...look, theme });
  }

  #setTheme(name: string): void {
    const theme = THEME_NAMES.find((each) => each === name);
    if (theme === undefined) return;
    this.#themeIsSet = true;
    this.#screen.setLook({ ...this.#screen.look, theme });
  }

  async #lend<T>(use: () => Promise<T>): Promise<T> {
    this.#screen.pause();
    await this.#terminal.leave();
    try {
      return await use();
    } finally {
      this.#terminal.enter(this.#listener);
      this.#screen.resume();
    }
  }

  /** To the shell; `SIGCONT` comes back. */
  #suspend(): void {
    this.#screen.pause();
    void this.#terminal.leave().then(() => process.kill(0, "SIGTSTP"));
  }

  /** The process goes on: whoever had the terminal meanwhile may have changed how it works. */
  #continued(): void {
    if (this.#isEnding) return;
    this.#terminal.leaveNow();
    this.#terminal.enter(this.#listener);
    this.#screen.repaint();
    this.#screen.resume();
  }

  #crash(error: unknown): void {
    if (this.#options.takesError(error)) return;
    this.#screen.session?.killNow();
    this.#screen.finish([]);
    this.#terminal.leaveNow();
    process.stderr.write(
      `nano-agent: ${errorMessage(error)} This is a defect of nano-agent; please report it.\n`,
    );
    this.#isEnding = true;
    this.#ended.resolve(FAILED);
  }

  /** Leaves the screen: stops the run, prints its end and restores the terminal before any other wait. */
  async #end(code?: number): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    const { session, input } = this.#screen;
    // Text that was being written when a signal came waits for the next time.
    if (session !== undefined && code !== undefined && input.whole.trim() !== "") {
      session.queue.hold();
      session.queue.add(input.whole, input.images);
    }
    if (session?.view.run !== undefined)
      await Promise.race([session.stop().catch(() => undefined), after(STOP_MS)]);
    const isStored = (await Promise.race([session?.queue.isStored(), after(STOP_MS)])) === true;
    await this.#leave(goOnLines(session, { isStored, width: this.#screen.context.width }));
    if (session !== undefined) {
      const ended = (): true => true;
      const isClosed = await Promise.race([session.close().then(ended, ended), after(STOP_MS * 2)]);
      if (isClosed === undefined) session.killNow();
    }
    this.#ended.resolve(code ?? this.#controller.exitCode);
  }

  async #leave(lines: readonly Line[]): Promise<void> {
    if (this.#isGone) return;
    this.#screen.finish(lines);
    await this.#terminal.leave();
  }

  #sessions(all = false): readonly KnownSession[] {
    const { store, cwd } = this.#options;
    const files = store.list(all ? undefined : cwd).slice(0, MAX_SESSIONS);
    return files.map(({ sessionId, path, bytes, changedAt }) => ({
      id: sessionId,
      path,
      bytes,
      title: sessionTitle(path) ?? "(no text)",
      changedAt,
    }));
  }

  async #approve({ folder, items }: UntrustedNotice): Promise<void> {
    const { environment } = this.#options;
    if (variable(environment, CALL_VARIABLE) !== undefined)
      throw misuse("An agent cannot approve for its user.");
    await changeTrust(userPaths(environment), folder, items, { keeps: true });
  }

  async #showCommand(words: readonly string[], title: string): Promise<void> {
    const text = await ownCommand(words, this.#options);
    const rows = textLines(text.trimEnd());
    const inner = (row: string): Line => line(" ".repeat(row.length - row.trimStart().length + 2));
    this.#controller.page({
      title,
      rows: ({ width }) => rows.flatMap((row) => wrapLine(line(row), { width, first: [], rest: inner(row) })),
    });
  }
}

async function loadModelSetUp(options: OpenScreenOptions): Promise<ModelSetUp> {
  const { localServerLines, modelsAt, ownersOf, setUpModel } = await import(
    "../../coding/setup/model-setup.ts"
  );
  const setUp = (model: NewModel): Promise<string> => setUpModel(model, options);
  return { ownersOf, modelsAt, setUp, localServers: () => localServerLines(options) };
}

const HANGUP = 129;
const CREDENTIALS = 41;
const FAILED = 1;

function after(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms).unref();
  });
}

/** True when the screen is to be lines only: asked for, a terminal without a cursor, or a screen reader. */
export function wantsPlain(environment: Environment): boolean {
  const asked = variable(environment, "NANO_AGENT_PLAIN") ?? "0";
  return variable(environment, "TERM") === "dumb" || !["0", "false"].includes(asked);
}

import { spawn } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { CodingSession, ResumeOptions } from "../../coding/session/coding-session.ts";
import type { PreparedSession } from "../../coding/session/prepare-coding-session.ts";
import type { ConfigFile } from "../../coding/settings/config-schema.ts";
import { userPaths } from "../../coding/settings/paths.ts";
import type { Settings } from "../../coding/settings/settings.ts";
import { sessionStore } from "../../coding/setup/open-session.ts";
import { errorMessage, toNanoAgentError } from "../../core/base/errors.ts";
import type { FoundModel } from "../../providers/catalog.ts";
import { LOCAL_MODEL } from "../../providers/model-choice.ts";
import { type Environment, variable } from "../../system/env.ts";
import { type EndingSignal, SIGNAL_EXITS } from "../../view/exit-code.ts";
import { offerSetUp, saveModelChoice } from "./commands/choose-model.ts";
import type { SubcommandContext } from "./commands/control.ts";
import { askForMode, askForServer, offerTrust, untrustedIn } from "./commands/onboarding.ts";
import { openSessions, storedSessions } from "./commands/session-pickers.ts";
import { slashCommands } from "./commands/slash-commands.ts";
import { Controller } from "./controller.ts";
import { FileIndex } from "./editor/complete-input.ts";
import { earlierInputs, History } from "./editor/input-line.ts";
import { keymapOf } from "./editor/keymap.ts";
import { type Line, line, type ViewContext } from "./paint/line.ts";
import { appearanceFor, reflowOf, reflowOfNamed, THEME_NAMES, themeForBackground } from "./paint/theme.ts";
import { PlainScreen } from "./plain-screen.ts";
import { Screen, type ScreenOptions, type SessionScreen } from "./screen.ts";
import { Attention } from "./tty/attention.ts";
import type { TerminalListener } from "./tty/key.ts";
import { LineTerminal, type ScreenTerminal, TtyTerminal, watchOutsideEnds } from "./tty/tty-terminal.ts";
import { dividerLines, headerLines, resumeHintLines } from "./views/status-line.ts";

export interface Endings {
  readonly signal: AbortSignal;
  readonly received: EndingSignal | undefined;
  /** Settles when nothing may be awaited any longer. */
  readonly forced: Promise<unknown>;
  /** From now on the first signal leaves a moment for a clean end. */
  readonly allowGrace: () => void;
}

export interface OpenHow {
  readonly resume?: ResumeOptions;
  readonly fresh?: boolean;
  /** Asks whether a local server that was found may receive what the person says. */
  readonly acceptServer: (found: FoundModel) => Promise<boolean>;
}

export interface OpenScreenOptions {
  readonly environment: Environment;
  readonly cwd: string;
  readonly prompt?: string | undefined;
  readonly picksSession: boolean;
  readonly isResumed: boolean;
  readonly version: string;
  /** Reads the settings for a session: with `resume` the stored one, with `fresh` a new one. */
  readonly prepare: (how: OpenHow) => Promise<PreparedSession>;
  /** True if an uncaught error has been reported and is no reason to exit. */
  readonly handlesError: (error: unknown) => boolean;
  readonly isPlain: boolean;
  /** True if the folder is removed afterwards: choices are not saved, and there is nothing to resume. */
  readonly isScratch?: boolean;
  readonly endings: Endings;
}

/** Time for a run to stop when the screen closes. */
const STOP_MS = 1_500;

/** Opens the screen in this process's terminal. Resolves to the exit code once the terminal is restored. */
export function openScreen(options: OpenScreenOptions): Promise<number> {
  return new ScreenProgram(options).run();
}

class ScreenProgram {
  readonly #options: OpenScreenOptions;
  readonly #terminal: ScreenTerminal;
  readonly #screen: SessionScreen;
  readonly #controller: Controller;
  readonly #files: FileIndex;
  readonly #attention: Attention;
  readonly #ended = Promise.withResolvers<number>();
  readonly #listener: TerminalListener;
  #isEnding = false;
  #isGone = false;
  #themeIsSet = false;
  /** Later conversations begin with a divider. */
  #hasHeader = false;
  #isNewFolder = false;
  /** The settings of the session opened last. */
  #settings: Settings | undefined;

  constructor(options: OpenScreenOptions) {
    this.#options = options;
    const { environment, cwd, isPlain, isScratch = false } = options;
    const elapsed = (): number => performance.now();
    const streams = { input: process.stdin, output: process.stdout };
    this.#terminal = isPlain ? new LineTerminal(streams) : new TtyTerminal(streams);
    this.#files = new FileIndex(cwd, () => this.#screen.drawSoon());
    const history = new History(() => earlierInputs(sessionStore(userPaths(environment)), cwd));
    const parts: ScreenOptions = {
      terminal: this.#terminal,
      appearance: appearanceFor(environment),
      reflow: reflowOf(environment),
      keymap: keymapOf(),
      cwd,
      history,
      location: cachedBranchOrFolder(cwd, elapsed),
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
    this.#controller = new Controller(this.#screen, {
      cwd,
      environment,
      isScratch,
      elapsed,
      openSession: (resume) => this.#openSession(resume === undefined ? { fresh: true } : { resume }),
      onSession: (session) => this.#attention.watch(session),
      withTerminal: (use) => this.#withTerminal(use),
      suspend: () => this.#suspend(),
      end: () => void this.#end(),
      setTheme: (name) => this.#setTheme(name),
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
    const onCrash = (error: unknown): void => this.#crash(error);
    const onContinue = (): void => this.#resumeAfterStop();
    process.on("exit", leaveNow);
    process.on("uncaughtException", onCrash);
    process.on("SIGCONT", onContinue);
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
    const exitCode = (): number => SIGNAL_EXITS[endings.received ?? "SIGTERM"];
    endings.signal.addEventListener("abort", () => void this.#end(exitCode()), { once: true });
    void endings.forced.then(() => {
      this.#screen.session?.killNow();
      this.#terminal.leaveNow();
      this.#ended.resolve(exitCode());
    });
    try {
      this.#terminal.enter(this.#listener);
      this.#screen.resume();
      await this.#start();
      const code = await this.#ended.promise;
      // On any other exit Node would restore the initial terminal modes, although the shell is using it.
      if (isOrphaned) process.kill(process.pid, "SIGKILL");
      return code;
    } finally {
      this.#files.close();
      this.#terminal.leaveNow();
      unwatch();
      process.off("exit", leaveNow);
      process.off("uncaughtException", onCrash);
      process.off("SIGCONT", onContinue);
    }
  }

  #header({ info }: CodingSession, context: ViewContext, isResumed: boolean): readonly Line[] {
    if (this.#hasHeader)
      return dividerLines(isResumed ? "Resumed conversation" : "New conversation", context);
    this.#hasHeader = true;
    const { version } = this.#options;
    const isModeAsked = this.#settings?.config.sources.get("permissionMode") === "command line";
    return headerLines(info, version, this.#isNewFolder || isModeAsked, context);
  }

  #applySettings({ theme, keys, notifications }: ConfigFile): void {
    if (theme !== undefined && theme !== "auto") this.#setTheme(theme);
    if (notifications === false) this.#attention.silence();
    const keymap = keymapOf(keys);
    this.#screen.keymap = keymap;
    for (const fault of keymap.problems) this.#screen.print([line(fault, { role: "warning" })]);
  }

  async #start(): Promise<void> {
    const { picksSession, prompt, isResumed } = this.#options;
    const send = (): void => {
      if (prompt !== undefined) this.#controller.send(prompt);
    };
    if (picksSession && storedSessions(this.#controller).length > 0) {
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
      if (this.#settings?.config.sources.has("permissionMode") === false) await this.#askForMode(session);
      if (this.#isEnding) {
        await session.close();
        return;
      }
      this.#controller.attach(session, isResumed);
      this.#offerTrust();
    } catch (error) {
      const known = toNanoAgentError(error);
      if (known.code === "missing_credentials") this.#controller.run(this.#setUp(isResumed));
      else {
        await this.#leave([]);
        throw error;
      }
    }
  }

  async #setUp(isResumed: boolean): Promise<void> {
    const watchDemo = (): Promise<void> =>
      this.#withTerminal(() => ownCommandOnTerminal(["demo"], this.#options));
    if (await offerSetUp(this.#controller, watchDemo)) await this.#open(isResumed);
    else await this.#end(CREDENTIALS);
  }

  /** Asks, before anything is said in a new folder, how much the agent may do there. */
  async #askForMode(session: CodingSession): Promise<void> {
    const mode = await Promise.race([askForMode(this.#controller), this.#ended.promise]);
    if (typeof mode !== "string") return;
    await session.setMode(mode);
    this.#isNewFolder = true;
    const { configFolder } = userPaths(this.#options.environment);
    const { saveMode } = await import("../../coding/settings/saved-rules.ts");
    this.#controller.run(saveMode(mode, { configFolder, cwd: this.#options.cwd }));
  }

  #offerTrust(): void {
    const { session } = this.#screen;
    const untrusted = session && untrustedIn(session);
    if (untrusted !== undefined) offerTrust(this.#controller, untrusted);
  }

  async #openSession(how: Omit<OpenHow, "acceptServer">): Promise<CodingSession> {
    const prepared = await this.#options.prepare({
      ...how,
      acceptServer: async (found) => {
        const isYes = await askForServer(this.#controller, found);
        const name = found.isLoading ? LOCAL_MODEL : found.name;
        if (isYes) this.#controller.run(saveModelChoice(this.#controller, name));
        return isYes;
      },
    });
    if (this.#settings === undefined) this.#applySettings(prepared.settings.config.values);
    this.#settings = prepared.settings;
    return await prepared.open();
  }

  #reply(text: string): void {
    const reflow = reflowOfNamed(text);
    if (reflow !== undefined) this.#screen.reflow = reflow;
    const theme = this.#themeIsSet ? undefined : themeForBackground(text);
    const { appearance } = this.#screen;
    if (theme !== undefined && appearance.theme !== "ansi" && appearance.theme !== theme)
      this.#screen.setAppearance({ ...appearance, theme });
  }

  #setTheme(name: string): void {
    const theme = THEME_NAMES.find((each) => each === name);
    if (theme === undefined) return;
    this.#themeIsSet = true;
    this.#screen.setAppearance({ ...this.#screen.appearance, theme });
  }

  async #withTerminal<T>(use: () => Promise<T>): Promise<T> {
    this.#screen.pause();
    await this.#terminal.leave();
    try {
      return await use();
    } finally {
      this.#terminal.enter(this.#listener);
      this.#screen.resume();
    }
  }

  /** Returns to the shell; `SIGCONT` brings us back. */
  #suspend(): void {
    this.#screen.pause();
    void this.#terminal.leave().then(() => process.kill(0, "SIGTSTP"));
  }

  /** Another program may have changed the terminal's modes meanwhile. */
  #resumeAfterStop(): void {
    if (this.#isEnding) return;
    this.#terminal.leaveNow();
    this.#terminal.enter(this.#listener);
    this.#screen.repaint();
    this.#screen.resume();
  }

  #crash(error: unknown): void {
    if (this.#options.handlesError(error)) return;
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
    // A signal saves unsent text in the queue.
    if (session !== undefined && code !== undefined && input.expandedText.trim() !== "") {
      session.queue.hold();
      session.queue.add(input.expandedText, input.images);
    }
    if (session?.view.run !== undefined)
      await Promise.race([session.stop().catch(() => undefined), delay(STOP_MS)]);
    const isStored = (await Promise.race([session?.queue.isStored(), delay(STOP_MS)])) === true;
    const { width } = this.#screen.context;
    await this.#leave(this.#options.isScratch === true ? [] : resumeHintLines(session, { isStored, width }));
    if (session !== undefined) {
      const ended = (): true => true;
      const isClosed = await Promise.race([session.close().then(ended, ended), delay(STOP_MS * 2)]);
      if (isClosed === undefined) session.killNow();
    }
    this.#ended.resolve(code ?? this.#controller.exitCode);
  }

  async #leave(lines: readonly Line[]): Promise<void> {
    if (this.#isGone) return;
    this.#screen.finish(lines);
    await this.#terminal.leave();
  }
}

const HANGUP = 129;
const CREDENTIALS = 41;
const FAILED = 1;

function delay(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms).unref();
  });
}

/** Lines only: on request, without a cursor, or for a screen reader. */
export function wantsPlain(environment: Environment): boolean {
  const setting = variable(environment, "NANO_AGENT_PLAIN") ?? "0";
  return variable(environment, "TERM") === "dumb" || !["0", "false"].includes(setting);
}

function ownCommandOnTerminal(
  words: readonly string[],
  { cwd, environment }: SubcommandContext,
): Promise<void> {
  const [, program = ""] = process.argv;
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [program, ...words], {
      cwd,
      env: { ...environment },
      stdio: "inherit",
    });
    child.once("error", () => resolve());
    child.once("close", () => resolve());
  });
}

const FRESH_MS = 2_000;

/** Read again only after {@link FRESH_MS}: each frame asks. */
function cachedBranchOrFolder(cwd: string, elapsed: () => number): () => string {
  let place = "";
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (elapsed() - readAt >= FRESH_MS) {
      place = branchOrFolder(cwd);
      readAt = elapsed();
    }
    return place;
  };
}

/** The branch of the folder's repository, else the folder's name. */
function branchOrFolder(cwd: string): string {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const branch = branchIn(folder);
    if (branch !== undefined) return branch;
    if (dirname(folder) === folder) return basename(cwd) || cwd;
  }
}

function branchIn(folder: string): string | undefined {
  try {
    const git = join(folder, ".git");
    const place = statSync(git).isDirectory()
      ? git
      : resolve(
          folder,
          readFileSync(git, "utf8")
            .replace(/^gitdir:\s*/, "")
            .trim(),
        );
    const head = readFileSync(join(place, "HEAD"), "utf8").trim();
    return head.startsWith("ref: refs/heads/") ? head.slice(16) : head.slice(0, 8);
  } catch {
    // Not a repository.
    return undefined;
  }
}

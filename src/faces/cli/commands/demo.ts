import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { CodingSession, CodingSessionOptions } from "../../../coding/session/coding-session.ts";
import {
  type PreparedSession,
  prepareCodingSession,
} from "../../../coding/session/prepare-coding-session.ts";
import { systemClock } from "../../../core/base/async.ts";
import { omitUndefined } from "../../../core/base/json.ts";
import type { Model } from "../../../core/model/model.ts";
import type { Environment } from "../../../system/env.ts";
import { says } from "../../../testing/script.ts";
import { ScriptedModel } from "../../../testing/scripted-model.ts";
import { EXIT, SIGNAL_EXITS } from "../../../view/exit-code.ts";
import type { OnNotice } from "../../../view/notice.ts";
import { noticeText } from "../../../view/notice-text.ts";
import { terminalLine, terminalText } from "../../../view/safe-text.ts";
import type { CommandCall } from "../command-call.ts";
import { isTerminal, type Style, say, styleFor } from "../command-context.ts";
import { EndingSignals } from "../ending-signals.ts";
import { DEMO_PROJECT, DEMO_PROMPT, DEMO_SCRIPT } from "./demo-script.ts";

declare const NANO_AGENT_VERSION: string;

/** Maximum requests of a real model; the scripted one needs five. */
const MAX_TURNS = 40;
/** Milliseconds between two pieces of a scripted answer when a person watches. */
const DELAY_MS = 25;
const COLUMNS = 100;

/**
 * `nano-agent demo`: lets the agent fix a small project in a scratch folder, on the screen if there is a
 * terminal, then runs the project's tests. The model is scripted unless one is named; everything else is as
 * in a normal run. Exit 0 only if the tests pass at the end.
 */
export async function demo(call: CommandCall): Promise<number> {
  const project = new ScratchProject(DEMO_PROJECT);
  const environment = demoEnvironment(call.environment);
  const demoRun = new DemoRun({ ...call, environment }, project);
  try {
    return await demoRun.run();
  } finally {
    if (!call.has("--keep")) project.remove();
  }
}

/** Ensures that commands find `node`, and that tests inside other tests report only here. */
function demoEnvironment(environment: Environment): Environment {
  const { NODE_TEST_CONTEXT: _context, ...rest } = environment;
  const own = dirname(process.execPath);
  const path = rest["PATH"];
  return { ...rest, PATH: path === undefined || path === "" ? own : `${path}${delimiter}${own}` };
}

class DemoRun {
  readonly #call: CommandCall;
  readonly #project: ScratchProject;
  readonly #keep: boolean;
  readonly #model: string | undefined;
  readonly #style: Style;
  readonly #signals = new EndingSignals();
  readonly #stop: AbortSignal;
  #session: PreparedSession | undefined;

  constructor(call: CommandCall, project: ScratchProject) {
    const { stdout, environment } = call;
    this.#call = call;
    this.#project = project;
    this.#keep = call.has("--keep");
    this.#model = call.text("--model");
    this.#style = styleFor(stdout.isTerminal, environment);
    const broken = new AbortController();
    this.#stop = AbortSignal.any([this.#signals.signal, broken.signal]);
    stdout.onBroken((error) => broken.abort(error));
  }

  async run(): Promise<number> {
    using signals = this.#signals;
    const code = await Promise.race([this.#perform(), signals.forced.then(() => EXIT.failed)]);
    if (signals.received === undefined) return code;
    this.#session?.killNow();
    return SIGNAL_EXITS[signals.received];
  }

  async #perform(): Promise<number> {
    const { stdout, environment } = this.#call;
    const { wantsPlain } = await import("../../terminal/open-screen.ts");
    const hasScreen = stdout.isTerminal && isTerminal(0) && !wantsPlain(environment);
    if (hasScreen) {
      this.#printIntro(true);
      await this.#onScreen();
    } else {
      const prepared = await this.#prepare((notice) => {
        if (notice.code !== "model_chosen") say(this.#call, noticeText(notice));
      });
      const session = await prepared.open();
      this.#printIntro(false);
      try {
        await this.#watch(session);
      } finally {
        await session.close();
      }
    }
    const { isPassed, output } = await this.#project.test(this.#call.environment, this.#stop);
    const touchedTests = this.#project.changedTests();
    this.#printTestResult(isPassed, output, touchedTests);
    this.#printOutro();
    const done = isPassed && touchedTests.length === 0 && !this.#stop.aborted;
    return done ? EXIT.done : EXIT.failed;
  }

  async #prepare(onNotice?: OnNotice): Promise<PreparedSession> {
    this.#session = await prepareCodingSession({
      ...this.#source,
      cwd: this.#project.folder,
      settings: { permissionMode: "auto", allowedTools: ["bash"], maxTurns: MAX_TURNS },
      ...omitUndefined({ onNotice }),
    });
    this.#signals.allowGrace();
    return this.#session;
  }

  /** The screen as in any other folder, with the prompt sent; stays until the person leaves. */
  async #onScreen(): Promise<void> {
    const { openScreen } = await import("../../terminal/open-screen.ts");
    await openScreen({
      environment: this.#source.environment ?? {},
      cwd: this.#project.folder,
      prompt: DEMO_PROMPT,
      picksSession: false,
      isResumed: false,
      version: NANO_AGENT_VERSION,
      prepare: () => this.#prepare(),
      handlesError: () => false,
      isPlain: false,
      isScratch: true,
      endings: this.#signals,
    });
  }

  async #watch(session: CodingSession): Promise<void> {
    const { stdout } = this.#call;
    // The demo is meant to be watched: it shows the same on a screen, in a file and in a build log.
    const { LineDrawer } = await import("../../terminal/line-drawer.ts");
    const write = (text: string): void => stdout.write(text);
    const place = {
      environment: this.#call.environment,
      isStyled: stdout.isTerminal,
      columns: () => COLUMNS,
    };
    const shownNotices = new Set(session.notices);
    const drawer = new LineDrawer({ ...place, write, isLive: true, shownNotices }, session.view.items);
    session.onChange(() => drawer.draw(session.view.items));
    const { stopReason, error } = await session.send(DEMO_PROMPT, { signal: this.#stop });
    drawer.end(session.view.items);
    if (stopReason === "completed") return;
    const end =
      error === undefined ? `The run ended with ${stopReason}.` : `The run failed: ${error.message}`;
    this.#write(this.#style.red(terminalLine(end, 1_000)));
  }

  /** The scripted demo is the same everywhere; a real model is chosen and paid for as settings say. */
  get #source(): Pick<CodingSessionOptions, "environment" | "model"> {
    const { stdout } = this.#call;
    // The undo data goes with the scratch folder.
    const environment = { ...this.#call.environment, XDG_STATE_HOME: this.#project.stateFolder };
    if (this.#model !== undefined) return { environment, model: this.#model };
    const others = Object.entries(environment).filter(([name]) => !name.startsWith("NANO_AGENT_"));
    return {
      environment: { ...Object.fromEntries(others), XDG_CONFIG_HOME: this.#project.stateFolder },
      model: scriptedModel(stdout.isTerminal ? DELAY_MS : 0),
    };
  }

  #printIntro(hasScreen: boolean): void {
    const { bold, dim, yellow } = this.#style;
    const about =
      this.#model === undefined
        ? [
            yellow("The model is scripted: its words were written beforehand. No key, no network."),
            "The rest is real: the loop, the tools, the permission check, the files and the tests.",
          ]
        : [`The model is ${terminalLine(this.#model, 200)}, and its requests cost what its provider asks.`];
    const place = dim(`A scratch copy of a small project with a failing test: ${this.#project.folder}`);
    const how = hasScreen
      ? ["This is the screen as it is in any folder. Look around; ctrl+d leaves."]
      : ["", `${bold(">")} ${DEMO_PROMPT}`];
    this.#write(bold("nano-agent demo"), ...about, place, ...how, "");
  }

  #printTestResult(isPassed: boolean, output: string, touchedTests: readonly string[]): void {
    const { bold, green, red } = this.#style;
    const lines = output.trimEnd().split("\n").slice(-MAX_LINES).map(terminalText);
    this.#write("", bold("The tests, run again by the demo itself (node --test)"), ...lines);
    this.#write(isPassed ? green("The tests pass.") : red("The tests do not pass."));
    if (touchedTests.length > 0)
      this.#write(red(`${touchedTests.join(", ")} was changed, so these results prove nothing.`));
  }

  #printOutro(): void {
    const { dim } = this.#style;
    const { folder } = this.#project;
    const left = dim("The scratch copy is removed; --keep keeps it.");
    this.#write("", this.#keep ? `The project stays in ${folder}` : left);
    if (this.#model !== undefined) return;
    this.#write(dim("With a real model: nano-agent demo --model PROVIDER/ID"));
    this.#write(dim("In your own project: nano-agent"));
  }

  #write(...lines: readonly string[]): void {
    this.#call.stdout.write(lines.map((line) => `${line}\n`).join(""));
  }
}

/** The user may continue on the screen. */
const LAST_ANSWERS = Array.from({ length: 100 }, () =>
  says(
    "My words are written beforehand, and these are the last. With a model of your own I can answer: leave with ctrl+d, and start `nano-agent` in a project of yours.",
  ),
);

/** A scripted model that answers at reading speed: it pauses before each piece of text or reasoning. */
function scriptedModel(delayMs: number): Model {
  const model = new ScriptedModel([...DEMO_SCRIPT, ...LAST_ANSWERS], { provider: "scripted", id: "demo" });
  return {
    provider: model.provider,
    id: model.id,
    async *stream(request, options = {}) {
      for await (const part of model.stream(request, options)) {
        if (part.type === "text_delta" || part.type === "thinking_delta")
          await systemClock.sleep(delayMs, options.signal);
        yield part;
      }
    },
  };
}

type Files = { readonly [path: string]: string };

/** Maximum lines shown of the tests' output. */
const MAX_LINES = 60;
const MAX_OUTPUT_BYTES = 1_000_000;

class ScratchProject {
  readonly folder: string;
  /** A neighbouring empty folder for settings and state, out of the commands' reach. */
  readonly stateFolder: string;
  readonly #root: string;
  readonly #before: Files;

  constructor(files: Files) {
    this.#before = files;
    this.#root = realpathSync(mkdtempSync(join(tmpdir(), "nano-agent-demo-")));
    this.folder = join(this.#root, "project");
    this.stateFolder = join(this.#root, "aside");
    mkdirSync(this.stateFolder);
    for (const [path, text] of Object.entries(files)) {
      const file = join(this.folder, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }

  /** Test files that were changed or deleted. */
  changedTests(): readonly string[] {
    return Object.entries(this.#before).flatMap(([path, text]) => {
      const file = join(this.folder, path);
      const isSame = existsSync(file) && readFileSync(file, "utf8") === text;
      return path.startsWith("test/") && !isSame ? [path] : [];
    });
  }

  /** Runs the tests with the `node` on the PATH. Resolves even without one. */
  test(
    environment: Environment,
    signal: AbortSignal,
  ): Promise<{ readonly isPassed: boolean; readonly output: string }> {
    const options = { cwd: this.folder, env: { ...environment }, signal, maxBuffer: MAX_OUTPUT_BYTES };
    return new Promise((resolve) => {
      execFile("node", ["--test", "--test-reporter=spec"], options, (error, stdout, stderr) => {
        // Failing tests have already explained why.
        const why = error === null || stdout !== "" ? "" : error.message;
        resolve({ isPassed: error === null, output: stdout + stderr + why });
      });
    });
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true, maxRetries: 3 });
  }
}

import { delimiter, dirname, join } from "node:path";
import type { CodingSession, CodingSessionOptions } from "../../../app/coding-session/coding-session.ts";
import { createCodingSession } from "../../../app/coding-session/create-coding-session.ts";
import { EXIT, SIGNAL_EXITS } from "../../../app/coding-session/exit-code.ts";
import { noticeText } from "../../../app/coding-session/notice-text.ts";
import type { Outcome } from "../../../app/coding-session/outcome.ts";
import type { Environment } from "../../../app/config/env.ts";
import { systemClock } from "../../../core/base/clock.ts";
import { ScriptedModel } from "../../../testing/scripted-model.ts";
import type { CommandCall } from "../command-call.ts";
import type { CommandContext } from "../command-context.ts";
import { DEMO_PROJECT, DEMO_PROMPT } from "../demo/demo-project.ts";
import { DemoScreen } from "../demo/demo-screen.ts";
import { DEMO_SCRIPT } from "../demo/demo-script.ts";
import { PacedModel } from "../demo/paced-model.ts";
import { runProjectTests } from "../demo/project-tests.ts";
import { ScratchProject } from "../demo/scratch-project.ts";
import { EndingSignals } from "../ending-signals.ts";
import type { Output } from "../output.ts";
import { Progress } from "../progress.ts";
import { styleFor } from "../style.ts";

/** Requests a real model may make; the scripted one needs five. */
const MAX_TURNS = 40;
/** Between two pieces of a scripted answer, where a person watches. */
const DELAY_MS = 25;

/**
 * `nano-agent demo`: lets the agent mend a small project in a scratch folder, then runs the project's tests
 * and shows what changed. The model is scripted unless one is named; everything else is what a run has. Exit
 * 0 only when the tests pass at the end.
 */
export async function demo(context: CommandContext, call: CommandCall): Promise<number> {
  const options: DemoOptions = { keep: call.has("--keep"), model: call.text("--model") };
  const environment = demoEnvironment(context.environment);
  const project = new ScratchProject(DEMO_PROJECT);
  const show = new DemoRun({ context: { ...context, environment }, options, project });
  try {
    return await show.run();
  } finally {
    if (!options.keep) project.remove();
  }
}

/** Commands always find some `node`, and tests that run inside of other tests report to nobody but us. */
function demoEnvironment(environment: Environment): Environment {
  const { NODE_TEST_CONTEXT: _context, ...rest } = environment;
  const own = dirname(process.execPath);
  const path = rest["PATH"];
  return { ...rest, PATH: path === undefined || path === "" ? own : `${path}${delimiter}${own}` };
}

/** What `nano-agent demo` was told. */
interface DemoOptions {
  /** True: the scratch folder stays. */
  readonly keep: boolean;
  /** A real model, `provider/id`, in place of the scripted one. */
  readonly model: string | undefined;
}

interface DemoParts {
  readonly context: CommandContext;
  readonly options: DemoOptions;
  readonly project: ScratchProject;
}

class DemoRun {
  readonly #context: CommandContext;
  readonly #options: DemoOptions;
  readonly #project: ScratchProject;
  readonly #screen: DemoScreen;
  readonly #signals = new EndingSignals();
  readonly #broken = new AbortController();
  #session: CodingSession | undefined;

  constructor({ context, options, project }: DemoParts) {
    const { stdout, environment } = context;
    this.#context = context;
    this.#options = options;
    this.#project = project;
    this.#screen = new DemoScreen(stdout, styleFor(stdout.isTerminal, environment));
    stdout.onBroken((error) => this.#broken.abort(error));
  }

  async run(): Promise<number> {
    try {
      const code = await Promise.race([this.#perform(), this.#signals.forced.then(() => EXIT.failed)]);
      const { received } = this.#signals;
      if (received === undefined) return code;
      this.#session?.killNow();
      return SIGNAL_EXITS[received];
    } finally {
      this.#signals.close();
    }
  }

  async #perform(): Promise<number> {
    const { environment, stderr } = this.#context;
    const { folder } = this.#project;
    const session = await createCodingSession({
      ...this.#source,
      cwd: folder,
      keep: false,
      settings: { permissionMode: "acceptEdits", allowedTools: ["bash"], maxTurns: MAX_TURNS, undo: false },
      onNotice: (notice) => {
        if (notice.code !== "model_chosen") stderr.write(`nano-agent: ${noticeText(notice)}\n`);
      },
    });
    this.#session = session;
    this.#signals.allowGrace();
    this.#screen.opening({ folder, prompt: DEMO_PROMPT, model: this.#options.model });
    try {
      await this.#watch(session);
    } finally {
      await session.close();
    }
    this.#screen.diff(await this.#project.diff());
    const report = await runProjectTests(folder, { environment, signal: this.#stop });
    const touchedTests = this.#project.changes().filter((path) => path.startsWith("test/"));
    this.#screen.verdict({ report, touchedTests });
    const { keep: kept, model } = this.#options;
    this.#screen.closing({ folder, kept, scripted: model === undefined });
    const done = report.ok && touchedTests.length === 0 && !this.#stop.aborted;
    return done ? EXIT.done : EXIT.failed;
  }

  get #stop(): AbortSignal {
    return AbortSignal.any([this.#signals.signal, this.#broken.signal]);
  }

  async #watch(session: CodingSession): Promise<void> {
    const { stdout, environment } = this.#context;
    const shown = alwaysShown(stdout);
    const progress = new Progress({
      stderr: shown,
      style: styleFor(stdout.isTerminal, environment),
      liveText: shown,
    });
    session.onEvent((event) => progress.show(event));
    const outcome = await session.send(DEMO_PROMPT, { signal: this.#stop });
    progress.closeLine();
    if (outcome.stopReason !== "completed") this.#screen.stopped(describeEnd(outcome));
  }

  /**
   * The scripted demo is the same on every machine; a real model is found and paid for as the user's settings
   * say.
   */
  get #source(): Pick<CodingSessionOptions, "environment" | "model"> {
    const { environment, stdout } = this.#context;
    const { model } = this.#options;
    if (model !== undefined) return { environment, model };
    const others = Object.entries(environment).filter(([name]) => !name.startsWith("NANO_AGENT_"));
    const nowhere = join(this.#project.folder, ".none");
    return {
      environment: { ...Object.fromEntries(others), XDG_CONFIG_HOME: nowhere, XDG_STATE_HOME: nowhere },
      model: scriptedModel(stdout.isTerminal),
    };
  }
}

function scriptedModel(watched: boolean): PacedModel {
  const model = new ScriptedModel(DEMO_SCRIPT, { provider: "scripted", id: "demo" });
  return new PacedModel(model, { clock: systemClock, delayMs: watched ? DELAY_MS : 0 });
}

/** The demo is made to be looked at: it shows the same on a screen, in a file and in the log of a build. */
function alwaysShown(output: Output): Output {
  return {
    isTerminal: true,
    write: (text) => output.write(text),
    isFull: false,
    drain: () => output.drain(),
    onBroken: (listener) => output.onBroken(listener),
  };
}

function describeEnd({ stopReason, error }: Outcome): string {
  return error === undefined ? `The run ended with ${stopReason}.` : `The run failed: ${error.message}`;
}

import type { CodingSession, SendOptions } from "../../coding/session/coding-session.ts";
import { type PreparedSession, prepareCodingSession } from "../../coding/session/prepare-coding-session.ts";
import { currentFolder, existingFolder, withGoneFolder } from "../../coding/settings/paths.ts";
import { toNanoAgentError } from "../../core/base/errors.ts";
import { newUuid } from "../../core/base/ids.ts";
import { defined } from "../../core/base/json.ts";
import type { Input } from "../../core/message/input.ts";
import { EXIT, SIGNAL_EXITS } from "../../view/exit-code.ts";
import { failedOutcome, type Outcome, RunTally } from "../../view/outcome.ts";
import { askAboutServer, canAsk } from "./answer-questions.ts";
import type { CommandContext } from "./command-context.ts";
import { EndingSignals } from "./ending-signals.ts";
import { assertWritable, writeLastMessage } from "./last-message-file.ts";
import type { RunFlags } from "./run-flags.ts";
import { readRunInput, readSchema } from "./run-input.ts";
import { RunTeller } from "./run-teller.ts";
import { sessionOptionsOf } from "./session-options.ts";
import { StrayErrors } from "./stray-errors.ts";
import { type WaitingContext, withWaitingLine } from "./waiting-line.ts";

/**
 * One run without a screen: reads the prompt, runs the agent, tells what happens in the format asked for.
 * Resolves to the exit code when everything the run started has ended. Never rejects: whatever goes wrong is
 * told and has a code.
 */
export function runHeadless(context: CommandContext, flags: RunFlags): Promise<number> {
  return new HeadlessRun(withWaitingLine(context), flags).run();
}

class HeadlessRun {
  readonly #context: CommandContext;
  readonly #flags: RunFlags;
  readonly #newId: string;
  readonly #signals = new EndingSignals();
  readonly #broken = new AbortController();
  readonly #teller: RunTeller;
  readonly #strays = new StrayErrors();
  #startedAt = performance.now();
  #cwd = "";
  #prepared: PreparedSession | undefined;
  #session: CodingSession | undefined;
  #answering: Promise<void> | undefined;
  #exitCode: number = EXIT.done;
  #isTold = false;

  constructor({ waiting, ...context }: WaitingContext, flags: RunFlags) {
    this.#context = context;
    this.#flags = flags;
    this.#newId = flags.session.sessionId ?? newUuid();
    const prepared = (): PreparedSession | undefined => this.#prepared;
    this.#teller = new RunTeller({ context, flags, prepared, waiting, newId: this.#newId });
    context.stdout.onBroken((error) => this.#broken.abort(error));
  }

  async run(): Promise<number> {
    using _caught = this.#strays.listen();
    return await this.#run();
  }

  async #run(): Promise<number> {
    const ended = await Promise.race([
      this.#perform().catch((error: unknown) => {
        this.#fail(error);
      }),
      this.#signals.forced,
    ]);
    if (ended !== undefined) {
      this.#prepared?.killNow();
      // A run at work has its outcome by now. Once told it may still be tidying up: it has its one result.
      await this.#answering;
      if (!this.#isTold) this.#fail(undefined);
      if (this.#exitCode === EXIT.done) this.#exitCode = SIGNAL_EXITS[ended];
    }
    this.#signals[Symbol.dispose]();
    await this.#context.stdout.drain();
    if (this.#broken.signal.aborted && this.#exitCode === EXIT.done) return EXIT.failed;
    return this.#exitCode;
  }

  async #perform(): Promise<void> {
    const flags = this.#flags;
    this.#cwd = flags.cwd === undefined ? currentFolder() : existingFolder(flags.cwd, "--cwd");
    const cwd = this.#cwd;
    if (flags.outputFile !== undefined) assertWritable(flags.outputFile, cwd);
    const schema = flags.jsonSchema === undefined ? undefined : readSchema(flags.jsonSchema, cwd);
    const { environment, stdout, stderr } = this.#context;
    this.#prepared = await prepareCodingSession({
      ...sessionOptionsOf(flags, { cwd, environment, newId: this.#newId }),
      acceptServer: canAsk(stderr, flags.outputFormat) ? (found) => askAboutServer(found, stderr) : undefined,
      adoptErrors: this.#strays.adopt,
      pace: flags.partialMessages ? () => (stdout.isFull ? stdout.drain() : undefined) : undefined,
      onNotice: (notice) => this.#teller.notice(notice),
    });
    const input = await readRunInput(flags, { cwd, onNotice: (message) => this.#teller.say(message) });
    try {
      const [session] = await Promise.all([this.#prepared.open(), this.#teller.prepare()]);
      this.#session = session;
      this.#teller.begin(cwd, session);
      session.onEvent((event) => this.#teller.event(event));
      this.#signals.allowGrace();
      const signal = AbortSignal.any([this.#signals.signal, this.#broken.signal]);
      for await (const message of input) {
        await this.#answer(session, message, { signal, ...defined({ schema }) });
        if (signal.aborted) break;
      }
    } finally {
      await this.#closeSession();
    }
  }

  async #closeSession(): Promise<void> {
    try {
      await this.#session?.close();
    } catch (error) {
      // A run that could not be recorded has said so already.
      if (this.#exitCode !== EXIT.done) return;
      this.#teller.say(toNanoAgentError(error).message);
      this.#exitCode = EXIT.session;
    }
  }

  #answer(session: CodingSession, input: Input | undefined, options: SendOptions): Promise<void> {
    this.#startedAt = performance.now();
    this.#isTold = false;
    const run = session.send(input, options);
    this.#answering = (async () => this.#end(await run))();
    return this.#answering;
  }

  #fail(thrown: unknown): void {
    const error = toNanoAgentError(
      withGoneFolder(thrown ?? this.#signals.signal.reason ?? "interrupted"),
      "internal",
    );
    this.#teller.begin(this.#cwd, undefined);
    const facts = {
      ...new RunTally().facts,
      durationMs: performance.now() - this.#startedAt,
      signal: this.#signals.received,
      wantsOutput: false,
      goOn: undefined,
    };
    this.#end(failedOutcome(error, facts));
  }

  #end(outcome: Outcome): void {
    this.#teller.end(outcome);
    this.#isTold = true;
    if (outcome.exitCode !== EXIT.done) this.#exitCode = outcome.exitCode;
    this.#keepLastMessage(outcome);
    if (!this.#broken.signal.aborted) this.#teller.advise(outcome, this.#session?.info.model.name);
  }

  #keepLastMessage({ text }: Outcome): void {
    const { outputFile } = this.#flags;
    if (outputFile === undefined || text === "") return;
    const problem = writeLastMessage(outputFile, this.#cwd, text);
    if (problem === undefined) return;
    this.#teller.say(problem);
    if (this.#exitCode === EXIT.done) this.#exitCode = EXIT.failed;
  }
}

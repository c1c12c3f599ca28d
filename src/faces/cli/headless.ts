import type { CodingSession } from "../../app/coding-session/coding-session.ts";
import { EXIT } from "../../app/coding-session/exit-code.ts";
import type { Outcome } from "../../app/coding-session/outcome.ts";
import {
  type PreparedSession,
  prepareCodingSession,
} from "../../app/coding-session/prepare-coding-session.ts";
import { failedOutcome } from "../../app/coding-session/run-outcome.ts";
import { RunTally } from "../../app/coding-session/run-tally.ts";
import { currentFolder, existingFolder, withGoneFolder } from "../../app/config/paths.ts";
import { toNanoAgentError } from "../../core/base/errors.ts";
import { newUuid } from "../../core/base/ids.ts";
import type { JsonSchema } from "../../core/base/schema.ts";
import type { Input } from "../../core/message/given-message.ts";
import { acceptServer } from "./approval/accept-server.ts";
import { answerQuestions } from "./approval/person-to-ask.ts";
import type { CommandContext } from "./command-context.ts";
import { EndingSignals } from "./ending-signals.ts";
import { readInputMessages } from "./input-messages.ts";
import { assertWritable, writeLastMessage } from "./last-message-file.ts";
import { readPrompt, readPromptIfAny } from "./prompt.ts";
import { readSchema } from "./read-schema.ts";
import { stdinKind } from "./read-stdin.ts";
import type { RunFlags } from "./run-flags.ts";
import type { RunObservers } from "./run-observers.ts";
import { RunTeller } from "./run-teller.ts";
import { sessionOptionsOf } from "./session-options.ts";
import { styleFor } from "./style.ts";
import { WaitingLine } from "./waiting-line.ts";

/**
 * One run without a screen: reads the prompt, runs the agent, tells what happens in the format asked for. Resolves to the exit code
 * when everything the run started has ended. Never rejects: whatever goes wrong is told and has a code.
 */
export function runHeadless(context: CommandContext, flags: RunFlags): Promise<number> {
  const { stdout, stderr, environment } = context;
  if (!stderr.isTerminal || environment["TERM"] === "dumb") return new HeadlessRun(context, flags).run();
  const waiting = new WaitingLine({
    output: stderr,
    style: styleFor(true, environment),
    width: () => process.stderr.columns || 80,
  });
  const over = { ...context, stdout: waiting.over(stdout), stderr: waiting.over(stderr) };
  return new HeadlessRun(over, flags, waiting).run();
}

class HeadlessRun {
  readonly #context: CommandContext;
  readonly #flags: RunFlags;
  readonly #newId: string;
  readonly #signals = new EndingSignals();
  readonly #broken = new AbortController();
  readonly #teller: RunTeller;
  #startedAt = performance.now();
  #cwd = "";
  #prepared: PreparedSession | undefined;
  #session: CodingSession | undefined;
  #observers: RunObservers | undefined;
  #answering: Promise<void> | undefined;
  #exitCode: number = EXIT.done;
  /** Whether the newest input has its result. */
  #isTold = false;

  constructor(context: CommandContext, flags: RunFlags, waiting?: WaitingLine) {
    this.#context = context;
    this.#flags = flags;
    this.#newId = flags.session.sessionId ?? newUuid();
    const prepared = (): PreparedSession | undefined => this.#prepared;
    this.#teller = new RunTeller({ context, flags, prepared, waiting, newId: this.#newId });
    context.stdout.onBroken((error) => {
      if (!("code" in error) || error.code !== "EPIPE") this.#teller.say(`standard output: ${error.message}`);
      this.#broken.abort(error);
    });
  }

  async run(): Promise<number> {
    const ended = await Promise.race([
      this.#perform().catch((error: unknown) => {
        this.#fail(error);
      }),
      this.#signals.forced.then(() => "forced" as const),
    ]);
    if (ended === "forced") {
      this.#prepared?.killNow();
      // A run at work has its outcome by now. What ended and was told may still have been tidied up behind: it has its one result.
      await this.#answering;
      if (!this.#isTold) this.#fail(undefined);
    }
    this.#signals.close();
    await this.#context.stdout.drain();
    if (this.#broken.signal.aborted && this.#exitCode === EXIT.done) return EXIT.failed;
    return this.#exitCode;
  }

  async #perform(): Promise<void> {
    const flags = this.#flags;
    this.#cwd = flags.cwd === undefined ? currentFolder() : existingFolder(flags.cwd, "--cwd");
    if (flags.outputFile !== undefined) assertWritable(flags.outputFile, this.#cwd);
    const schema = flags.jsonSchema === undefined ? undefined : readSchema(flags.jsonSchema, this.#cwd);
    const prepared = await prepareCodingSession({
      ...sessionOptionsOf(flags, {
        cwd: this.#cwd,
        environment: this.#context.environment,
        newId: this.#newId,
      }),
      acceptServer: acceptServer(this.#context.stderr, flags.outputFormat),
      onNotice: (notice) => this.#teller.notice(notice),
    });
    this.#prepared = prepared;
    const prompt = flags.inputFormat === "text" ? await this.#prompt() : undefined;
    if (flags.inputFormat !== "text" && flags.words.length > 0) throw promptBesideLines();
    try {
      const [session] = await Promise.all([prepared.open(), this.#teller.prepare()]);
      this.#session = session;
      this.#teller.begin(this.#cwd, session);
      await this.#observe(session, prepared);
      this.#signals.allowGrace();
      if (flags.inputFormat === "text") await this.#answer(session, prompt, schema);
      else await this.#answerLines(session, schema);
    } finally {
      await this.#closeSession();
      await this.#observers?.flush();
    }
  }

  async #observe(session: CodingSession, { settings, redact }: PreparedSession): Promise<void> {
    const { verbose } = this.#flags;
    const config = settings.config.values;
    if (verbose || config.openTelemetry !== undefined) {
      const { openRunObservers } = await import("./run-observers.ts");
      this.#observers = await openRunObservers({
        verbose,
        config,
        write: (text) => this.#context.stderr.write(text),
        redact: (text) => redact?.text(text) ?? text,
        onNotice: (message) => this.#teller.say(message),
      });
    }
    session.onEvent((event) => {
      this.#observers?.observe(event);
      this.#teller.event(event);
    });
    const { person } = this.#teller;
    if (person !== undefined) answerQuestions(session, person);
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

  #prompt(): Promise<string | undefined> {
    const read = this.#flags.session.fromStep === undefined ? readPrompt : readPromptIfAny;
    return read({
      words: this.#flags.words,
      stdin: stdinKind(),
      cwd: this.#cwd,
      onNotice: (message) => this.#teller.say(message),
    });
  }

  async #answerLines(session: CodingSession, schema: JsonSchema | undefined): Promise<void> {
    let count = 0;
    for await (const message of readInputMessages(process.stdin)) {
      count++;
      await this.#answer(session, message, schema);
      if (this.#signals.signal.aborted || this.#broken.signal.aborted) return;
    }
    if (count === 0 && !this.#signals.signal.aborted) throw nothingSaid();
  }

  #answer(session: CodingSession, input: Input | undefined, schema: JsonSchema | undefined): Promise<void> {
    this.#startedAt = performance.now();
    this.#isTold = false;
    const run = session.send(input, {
      signal: AbortSignal.any([this.#signals.signal, this.#broken.signal]),
      ...(schema === undefined ? {} : { schema }),
    });
    this.#answering = (async () => this.#end(await run))();
    return this.#answering;
  }

  /** Ends what never came to a run. */
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

function promptBesideLines(): Error {
  return toNanoAgentError(
    "With --input-format stream-json the messages come from standard input. Leave the prompt out.",
    "invalid_argument",
  );
}

function nothingSaid(): Error {
  return toNanoAgentError(
    'Standard input ended without a message. Write lines of {"type":"user","message":{"role":"user","content":"…"}}.',
    "invalid_argument",
  );
}

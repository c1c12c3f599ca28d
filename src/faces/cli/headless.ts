import { type ComposedAgent, composeAgent } from "../../app/compose.ts";
import { currentFolder, existingFolder, withGoneFolder } from "../../app/config/paths.ts";
import { LOCAL_MODEL } from "../../app/model-choice.ts";
import { findSession, type OpenSession } from "../../app/open-session.ts";
import { redactionFor } from "../../app/secrets.ts";
import { loadSettings, type Settings } from "../../app/settings.ts";
import type { AgentEvent } from "../../core/agent/event.ts";
import { toNanoAgentError } from "../../core/base/errors.ts";
import { newUuid } from "../../core/base/ids.ts";
import type { Redaction } from "../../core/base/redaction.ts";
import type { JsonSchema } from "../../core/base/schema.ts";
import { counted } from "../../core/base/text.ts";
import type { Input } from "../../core/message/given-message.ts";
import type { ApprovalPrompt } from "../../permission/approval-prompt.ts";
import { hasRepairs } from "../../session/repair-report.ts";
import { acceptServer } from "./approval/accept-server.ts";
import { personToAsk } from "./approval/person-to-ask.ts";
import type { CommandContext } from "./command-context.ts";
import { EndingSignals } from "./ending-signals.ts";
import { EXIT } from "./exit-code.ts";
import { explainError } from "./explain-error.ts";
import { readInputMessages } from "./input-messages.ts";
import { assertWritable, writeLastMessage } from "./last-message-file.ts";
import { failedOutcome, goOnText, type Outcome, outcomeOf } from "./outcome.ts";
import { Progress, seconds } from "./progress.ts";
import { readPrompt, readPromptIfAny, textOrFile } from "./prompt.ts";
import { readSchema } from "./read-schema.ts";
import { stdinKind } from "./read-stdin.ts";
import { repairText } from "./repair-text.ts";
import { createReporter, type InitFacts, type Reporter } from "./reporter.ts";
import type { RunFlags } from "./run-flags.ts";
import type { RunObservers } from "./run-observers.ts";
import { RunTally } from "./run-tally.ts";
import { styleFor } from "./style.ts";
import { terminalLine } from "./terminal-text.ts";
import { leftOutText } from "./trust-text.ts";
import { widthOf, wrapText } from "./wrap-text.ts";

/**
 * One run without a screen: reads the prompt, runs the agent, tells what happens in the format asked for. Resolves to the exit code
 * when everything the run started has ended. Never rejects: whatever goes wrong is told and has a code.
 */
export function runHeadless(context: CommandContext, flags: RunFlags): Promise<number> {
  return new HeadlessRun(context, flags).run();
}

class HeadlessRun {
  readonly #context: CommandContext;
  readonly #flags: RunFlags;
  #sessionId: string;
  readonly #signals = new EndingSignals();
  readonly #broken = new AbortController();
  readonly #reporter: Reporter;
  readonly #progress: Progress;
  #cwd = "";
  #settings: Settings | undefined;
  #redact: Redaction | undefined;
  #session: OpenSession | undefined;
  #composed: ComposedAgent | undefined;
  #observers: RunObservers | undefined;
  #tidied: Promise<void> | undefined;
  #tally = new RunTally();
  #startedAt = performance.now();
  #exitCode: number = EXIT.done;
  /** Whether the newest input has its result. */
  #isTold = false;

  constructor(context: CommandContext, flags: RunFlags) {
    this.#context = context;
    this.#flags = flags;
    this.#sessionId = flags.session.sessionId ?? newUuid();
    const { stdout, stderr, environment } = context;
    const live = this.#isLive();
    this.#reporter = createReporter({
      format: flags.outputFormat,
      stdout,
      sessionId: () => this.#sessionId,
      partial: flags.partialMessages,
      live,
    });
    this.#progress = new Progress({
      stderr,
      style: styleFor(stderr.isTerminal, environment),
      liveText: live ? stdout : undefined,
    });
    stdout.onBroken((error) => {
      if (!("code" in error) || error.code !== "EPIPE") this.#say(`standard output: ${error.message}`);
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
      this.#composed?.killNow();
      // What ended and was told may still have been tidied up behind: it has its one result.
      if (!this.#isTold) this.#fail(undefined);
      this.#session?.release();
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
    const settings = await this.#loadSettings();
    const prompt = flags.inputFormat === "text" ? await this.#prompt() : undefined;
    if (flags.inputFormat !== "text" && flags.words.length > 0) throw promptBesideLines();
    try {
      const composed = await this.#compose(settings);
      await this.#openObservers(settings);
      this.#signals.allowGrace();
      if (flags.inputFormat === "text") await this.#answer(composed, prompt, schema);
      else await this.#answerLines(composed, schema);
    } finally {
      await Promise.all([this.#composed?.dispose(), this.#tidied]);
      await this.#closeSession();
      await this.#observers?.flush();
    }
  }

  async #openObservers({ config }: Settings): Promise<void> {
    const { verbose } = this.#flags;
    if (!verbose && config.values.openTelemetry === undefined) return;
    const { openRunObservers } = await import("./run-observers.ts");
    this.#observers = await openRunObservers({
      verbose,
      config: config.values,
      write: (text) => this.#context.stderr.write(text),
      redact: (text) => this.#redact?.text(text) ?? text,
      onNotice: (message) => this.#say(message),
    });
  }

  async #closeSession(): Promise<void> {
    try {
      await this.#session?.close();
    } catch (error) {
      // A run that could not be recorded has said so already.
      if (this.#exitCode !== EXIT.done) return;
      this.#say(toNanoAgentError(error).message);
      this.#exitCode = EXIT.session;
    }
  }

  async #compose(settings: Settings): Promise<ComposedAgent> {
    const { addDirs, session } = this.#flags;
    const { paths, cwd } = settings;
    const found = findSession(session, { paths, cwd, newId: this.#sessionId });
    this.#sessionId = found.sessionId;
    const composed = await composeAgent({
      settings,
      addDirs,
      remembers: session.keep,
      openJournal: async () => {
        this.#session = await found.open();
        return this.#session.journal;
      },
      approval: this.#approval(),
      acceptServer: acceptServer(this.#context.stderr, this.#flags.outputFormat),
      onNotice: (message) => this.#say(message),
    });
    this.#composed = composed;
    this.#begin(composed);
    this.#sayModel(composed);
    const { folder, leftOut } = settings.trust;
    if (leftOut.length > 0) {
      this.#reporter.untrusted(folder, leftOut);
      this.#say(leftOutText(leftOut));
    }
    const { repairs, path } = this.#session ?? {};
    if (repairs !== undefined && path !== undefined && hasRepairs(repairs)) {
      this.#reporter.repair(repairs, path);
      this.#say(repairText(repairs, path));
    }
    return composed;
  }

  /** A person sees which model is used and why; a program when that was not said in so many words. */
  #sayModel({ model, modelSource }: ComposedAgent): void {
    if (modelSource === undefined) return;
    const said = this.#settings?.config.values.model;
    const isNamed = said !== undefined && said !== LOCAL_MODEL;
    if (this.#context.stderr.isTerminal || !isNamed) this.#say(`model ${model}, because of ${modelSource}`);
  }

  #approval(): ApprovalPrompt | undefined {
    const { outputFormat, inputFormat } = this.#flags;
    const { stderr, environment } = this.#context;
    const style = styleFor(stderr.isTerminal, environment);
    return personToAsk({ outputFormat, inputFormat, stderr, style, hold: () => this.#progress.hold() });
  }

  /** The command that goes on with what this run has kept; undefined when it has kept nothing. */
  #goOn(): string | undefined {
    const options = this.#session?.goOn();
    if (options === undefined) return undefined;
    const { cwd } = this.#flags;
    return `nano-agent -p ${options}${cwd === undefined ? "" : ` -C ${this.#cwd}`} "…"`;
  }

  async #loadSettings(): Promise<Settings> {
    const { config } = this.#flags;
    const cwd = this.#cwd;
    const { systemPrompt, appendSystemPrompt } = config;
    const settings = await loadSettings({
      environment: this.#context.environment,
      cwd,
      flags: {
        ...config,
        ...(systemPrompt === undefined
          ? {}
          : { systemPrompt: textOrFile(systemPrompt, { what: "--system-prompt", cwd }) }),
        ...(appendSystemPrompt === undefined
          ? {}
          : { appendSystemPrompt: textOrFile(appendSystemPrompt, { what: "--append-system-prompt", cwd }) }),
      },
    });
    this.#settings = settings;
    this.#redact = redactionFor(settings.environment, settings.config.values);
    for (const notice of settings.config.notices) this.#say(notice);
    return settings;
  }

  #prompt(): Promise<string | undefined> {
    const read = this.#flags.session.fromStep === undefined ? readPrompt : readPromptIfAny;
    return read({
      words: this.#flags.words,
      stdin: stdinKind(),
      cwd: this.#cwd,
      onNotice: (message) => this.#say(message),
    });
  }

  async #answerLines(composed: ComposedAgent, schema: JsonSchema | undefined): Promise<void> {
    let count = 0;
    for await (const message of readInputMessages(process.stdin)) {
      count++;
      await this.#answer(composed, message, schema);
      if (this.#signals.signal.aborted || this.#broken.signal.aborted) return;
    }
    if (count === 0 && !this.#signals.signal.aborted) throw nothingSaid();
  }

  async #answer(
    composed: ComposedAgent,
    input: Input | undefined,
    schema: JsonSchema | undefined,
  ): Promise<void> {
    this.#tally = new RunTally();
    this.#startedAt = performance.now();
    this.#isTold = false;
    const running = composed.agent.run(input, {
      signal: AbortSignal.any([this.#signals.signal, this.#broken.signal]),
      onEvent: (event) => this.#onEvent(event),
      ...(schema === undefined ? {} : { schema }),
    });
    try {
      const result = await running;
      const { denials, turns } = this.#tally;
      const outcome = outcomeOf(result, {
        denials: denials.length,
        firstDenial: denials[0] && `${denials[0].tool_name}: ${denials[0].reason}`,
        signal: this.#signals.received,
        goOn: this.#goOn(),
        wantsOutput: schema !== undefined,
        turns,
      });
      this.#end(outcome);
    } catch (error) {
      this.#fail(error);
    }
  }

  #onEvent(event: AgentEvent): void {
    // While the model still writes the command, what it needs can be made ready.
    if (event.type === "tool_call_start" && event.name === "bash") void this.#composed?.prepare();
    // With the first turn, while the request is under way: a start need not wait for it.
    if (event.type === "turn_start" && event.iteration === 1) this.#tidied = this.#composed?.tidy();
    this.#tally.add(event);
    this.#observers?.observe(event);
    this.#progress.show(event);
    this.#reporter.event(event);
  }

  /** Ends a run that threw, never began, or must not be waited for any longer. */
  #fail(thrown: unknown): void {
    const error = toNanoAgentError(
      withGoneFolder(thrown ?? this.#signals.signal.reason ?? "interrupted"),
      "internal",
    );
    this.#begin(undefined);
    const facts = { signal: this.#signals.received, goOn: this.#goOn() };
    this.#end(failedOutcome(error, facts, this.#tally.partialText));
  }

  #begin(composed: ComposedAgent | undefined): void {
    this.#reporter.begin({
      cwd: this.#cwd,
      tools: composed?.toolNames ?? [],
      model: composed?.model ?? null,
      ...sourceOf(composed),
      skills: composed?.skills ?? [],
      agents: composed?.agents ?? [],
      permissionMode: composed?.mode ?? this.#flags.config.permissionMode ?? "default",
      sandbox: composed?.sandbox ?? "off",
    });
  }

  #end(outcome: Outcome): void {
    const durationMs = performance.now() - this.#startedAt;
    this.#progress.closeLine();
    this.#reporter.end({ outcome, tally: this.#tally, durationMs });
    this.#isTold = true;
    if (outcome.exitCode !== EXIT.done) this.#exitCode = outcome.exitCode;
    const { outputFile } = this.#flags;
    if (outputFile !== undefined && outcome.text !== "") {
      const problem = writeLastMessage(outputFile, this.#cwd, outcome.text);
      if (problem !== undefined) {
        this.#say(problem);
        if (this.#exitCode === EXIT.done) this.#exitCode = EXIT.failed;
      }
    }
    if (this.#broken.signal.aborted) return;
    this.#summarise(durationMs);
    if (outcome.error !== undefined && outcome.subtype === "error_during_execution") {
      const place = { settings: this.#settings, model: this.#composed?.model };
      this.#say(`${explainError(outcome.error, place)}${goOnText(this.#goOn())}`);
    } else if (outcome.advice !== undefined) this.#say(outcome.advice);
  }

  #summarise(durationMs: number): void {
    const { stderr, environment } = this.#context;
    if (!stderr.isTerminal || this.#tally.turns === 0) return;
    const { usage, total_cost_usd: cost, num_turns: turns } = this.#tally.totals();
    const input = usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
    const parts = [
      counted(turns, "turn"),
      `${count(input)} tokens in, ${count(usage.output_tokens)} out`,
      cost === null ? "cost unknown" : `$${cost.toFixed(4)}`,
      seconds(durationMs),
    ];
    stderr.write(`${styleFor(true, environment).dim(parts.join(" · "))}\n`);
  }

  #say(message: string): void {
    const { stderr } = this.#context;
    const text = terminalLine(this.#redact?.text(message) ?? message, 2_000);
    stderr.write(
      `${wrapText(text, { width: widthOf(stderr, 2), first: "nano-agent: ", rest: "  " }).join("\n")}\n`,
    );
  }

  /** The answer is shown while it is written only where a person sees both streams; a value for a schema is one piece. */
  #isLive(): boolean {
    const { stdout, stderr } = this.#context;
    const { outputFormat, jsonSchema, config } = this.#flags;
    // What phases say is work on the answer, and the last thing said need not be the answer.
    if (config.pattern === "plan" || config.pattern === "reflection") return false;
    return outputFormat === "text" && jsonSchema === undefined && stdout.isTerminal && stderr.isTerminal;
  }
}

function sourceOf(composed: ComposedAgent | undefined): Pick<InitFacts, "model_source"> {
  return composed?.modelSource === undefined ? {} : { model_source: composed.modelSource };
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

function count(tokens: number): string {
  return tokens < 1_000 ? String(tokens) : `${(tokens / 1_000).toFixed(1)}k`;
}

import type {
  CodingSession,
  CodingSessionOptions,
  McpServerView,
  SessionInfo,
} from "../../app/coding-session/coding-session.ts";
import { EXIT } from "../../app/coding-session/exit-code.ts";
import type { Notice } from "../../app/coding-session/notice.ts";
import { noticeText } from "../../app/coding-session/notice-text.ts";
import type { Outcome } from "../../app/coding-session/outcome.ts";
import {
  type PreparedSession,
  prepareCodingSession,
} from "../../app/coding-session/prepare-coding-session.ts";
import { failedOutcome, goOnText } from "../../app/coding-session/run-outcome.ts";
import { RunTally } from "../../app/coding-session/run-tally.ts";
import { currentFolder, existingFolder, withGoneFolder } from "../../app/config/paths.ts";
import { toNanoAgentError } from "../../core/base/errors.ts";
import { newUuid } from "../../core/base/ids.ts";
import type { JsonSchema } from "../../core/base/schema.ts";
import { counted } from "../../core/base/text.ts";
import type { Input } from "../../core/message/given-message.ts";
import type { ApprovalPrompt } from "../../permission/approval-prompt.ts";
import { acceptServer } from "./approval/accept-server.ts";
import { answerQuestions, personToAsk } from "./approval/person-to-ask.ts";
import type { CommandContext } from "./command-context.ts";
import { EndingSignals } from "./ending-signals.ts";
import { explainError } from "./explain-error.ts";
import { readInputMessages } from "./input-messages.ts";
import { assertWritable, writeLastMessage } from "./last-message-file.ts";
import { Progress, seconds } from "./progress.ts";
import { readPrompt, readPromptIfAny, textOrFile } from "./prompt.ts";
import { readSchema } from "./read-schema.ts";
import { stdinKind } from "./read-stdin.ts";
import { createReporter, type InitFacts, type Reporter } from "./reporter.ts";
import type { RunFlags } from "./run-flags.ts";
import type { RunObservers } from "./run-observers.ts";
import { styleFor } from "./style.ts";
import { terminalLine } from "./terminal-text.ts";
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
  readonly #newId: string;
  readonly #signals = new EndingSignals();
  readonly #broken = new AbortController();
  readonly #reporter: Reporter;
  readonly #progress: Progress;
  readonly #person: ApprovalPrompt | undefined;
  #startedAt = performance.now();
  #cwd = "";
  #prepared: PreparedSession | undefined;
  #session: CodingSession | undefined;
  #observers: RunObservers | undefined;
  #answering: Promise<void> | undefined;
  #exitCode: number = EXIT.done;
  /** Whether the newest input has its result. */
  #isTold = false;

  constructor(context: CommandContext, flags: RunFlags) {
    this.#context = context;
    this.#flags = flags;
    this.#newId = flags.session.sessionId ?? newUuid();
    const { stdout, stderr, environment } = context;
    const live = this.#isLive();
    const style = styleFor(stderr.isTerminal, environment);
    this.#reporter = createReporter({
      format: flags.outputFormat,
      stdout,
      sessionId: () => this.#prepared?.sessionId ?? this.#newId,
      partial: flags.partialMessages,
      live,
    });
    this.#progress = new Progress({ stderr, style, liveText: live ? stdout : undefined });
    const { outputFormat, inputFormat } = flags;
    const hold = (): (() => void) => this.#progress.hold();
    this.#person = personToAsk({ outputFormat, inputFormat, stderr, style, hold });
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
    const prepared = await prepareCodingSession(this.#sessionOptions());
    this.#prepared = prepared;
    const prompt = flags.inputFormat === "text" ? await this.#prompt() : undefined;
    if (flags.inputFormat !== "text" && flags.words.length > 0) throw promptBesideLines();
    try {
      const session = await prepared.open();
      this.#session = session;
      this.#begin(session);
      await this.#observe(session, prepared);
      this.#signals.allowGrace();
      if (flags.inputFormat === "text") await this.#answer(session, prompt, schema);
      else await this.#answerLines(session, schema);
    } finally {
      await this.#closeSession();
      await this.#observers?.flush();
    }
  }

  #sessionOptions(): CodingSessionOptions {
    const { config, addDirs, session, cwd: folder } = this.#flags;
    const cwd = this.#cwd;
    const { systemPrompt, appendSystemPrompt } = config;
    const { keep, from, fork, fromStep } = session;
    const text = (value: string, what: string): string => textOrFile(value, { what, cwd });
    return {
      cwd,
      addDirs,
      environment: this.#context.environment,
      settings: {
        ...config,
        ...(systemPrompt === undefined ? {} : { systemPrompt: text(systemPrompt, "--system-prompt") }),
        ...(appendSystemPrompt === undefined
          ? {}
          : { appendSystemPrompt: text(appendSystemPrompt, "--append-system-prompt") }),
      },
      keep,
      sessionId: this.#newId,
      mcp: this.#flags.mcp,
      ...(from === undefined
        ? {}
        : {
            resume: {
              id: from.type === "newest" ? "last" : from.id,
              fork,
              ...(fromStep === undefined ? {} : { step: fromStep }),
            },
          }),
      goOnCommand: (options) => `nano-agent -p ${options}${folder === undefined ? "" : ` -C ${cwd}`} "…"`,
      acceptServer: acceptServer(this.#context.stderr, this.#flags.outputFormat),
      onNotice: (notice) => this.#tell(notice),
    };
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
        onNotice: (message) => this.#say(message),
      });
    }
    session.onEvent((event) => {
      this.#observers?.observe(event);
      this.#progress.show(event);
      this.#reporter.event(event);
    });
    if (this.#person !== undefined) answerQuestions(session, this.#person);
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

  #prompt(): Promise<string | undefined> {
    const read = this.#flags.session.fromStep === undefined ? readPrompt : readPromptIfAny;
    return read({
      words: this.#flags.words,
      stdin: stdinKind(),
      cwd: this.#cwd,
      onNotice: (message) => this.#say(message),
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
    this.#begin(undefined);
    const facts = {
      ...new RunTally().facts,
      durationMs: performance.now() - this.#startedAt,
      signal: this.#signals.received,
      wantsOutput: false,
      goOn: undefined,
    };
    this.#end(failedOutcome(error, facts));
  }

  #begin(session: CodingSession | undefined): void {
    this.#reporter.begin({ cwd: this.#cwd, ...initFacts(session?.info, this.#flags) });
    for (const notice of session?.notices ?? []) {
      if (notice.code === "untrusted") this.#reporter.untrusted(notice.folder, notice.items);
      else if (notice.code === "repaired") this.#reporter.repair(notice.repairs, notice.path);
    }
  }

  #end(outcome: Outcome): void {
    this.#progress.closeLine();
    this.#reporter.end(outcome);
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
    this.#summarise(outcome);
    if (outcome.error !== undefined && outcome.code === "error_during_execution") {
      const place = { settings: this.#prepared?.settings, model: this.#session?.info.model.name };
      this.#say(`${explainError(outcome.error, place)}${goOnText(outcome.goOn)}`);
    } else if (outcome.advice !== undefined) this.#say(outcome.advice.text);
  }

  #summarise({ turns, usage, cost, durationMs }: Outcome): void {
    const { stderr, environment } = this.#context;
    if (!stderr.isTerminal || turns === 0) return;
    const parts = [
      counted(turns, "turn"),
      `${count(usage.inputTokens)} tokens in, ${count(usage.outputTokens)} out`,
      cost === undefined ? "cost unknown" : `$${cost.toFixed(4)}`,
      seconds(durationMs),
    ];
    stderr.write(`${styleFor(true, environment).dim(parts.join(" · "))}\n`);
  }

  #tell(notice: Notice): void {
    if (notice.code === "permission") this.#person?.tell(noticeText(notice));
    else if (notice.level !== "info" || this.#isNews(notice)) this.#say(noticeText(notice));
  }

  /** What extensions say is for whoever reads. A person sees which model is used and why; a program when that was not said in so many words. */
  #isNews(notice: Notice): boolean {
    if (notice.code !== "model_chosen") return notice.code === "extension";
    return this.#context.stderr.isTerminal || notice.why === "key" || notice.why === "local";
  }

  #say(message: string): void {
    const { stderr } = this.#context;
    const text = terminalLine(this.#prepared?.redact?.text(message) ?? message, 2_000);
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

/** What the first line says of a session; of none where it could not be opened. */
function initFacts(info: SessionInfo | undefined, { config }: RunFlags): Omit<InitFacts, "cwd"> {
  if (info === undefined)
    return {
      tools: [],
      model: null,
      skills: [],
      agents: [],
      slash_commands: [],
      mcp_servers: [],
      permissionMode: config.permissionMode ?? "default",
      sandbox: "off",
    };
  const { tools, model, skills, agents, mcpServers, mode, sandbox } = info;
  return {
    tools,
    model: model.name,
    ...(model.source === undefined ? {} : { model_source: model.source }),
    skills,
    agents,
    slash_commands: info.commands.map(({ name }) => name),
    mcp_servers: mcpServers.map(({ name, status }) => ({ name, status: INIT_STATUS[status] })),
    permissionMode: mode,
    sandbox,
  };
}

/** The words that consumers of the first line know. */
const INIT_STATUS: { readonly [status in McpServerView["status"]]: string } = {
  connected: "connected",
  connecting: "pending",
  failed: "failed",
  needs_auth: "needs-auth",
  disabled: "disabled",
};

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

import { accessSync, constants, statSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type {
  CodingSession,
  McpServerView,
  SendOptions,
  SessionInfo,
} from "../../coding/session/coding-session.ts";
import { type PreparedSession, prepareCodingSession } from "../../coding/session/prepare-coding-session.ts";
import { currentFolder, existingFolder, explainRemovedFolder } from "../../coding/settings/paths.ts";
import type { AgentEvent } from "../../core/agent/entries.ts";
import { errorMessage, invalidArgument, toNanoAgentError } from "../../core/base/errors.ts";
import { revealInvisible } from "../../core/base/hidden-characters.ts";
import { newUuid } from "../../core/base/ids.ts";
import { omitUndefined } from "../../core/base/json.ts";
import { pluralize } from "../../core/base/text.ts";
import type { Input } from "../../core/message/input.ts";
import { LOCAL_MODEL } from "../../providers/model-choice.ts";
import type { LogSink } from "../../telemetry/run-log.ts";
import { describeDuration } from "../../tools/shell/describe-result.ts";
import { evidenceText } from "../../view/evidence.ts";
import { EXIT, SIGNAL_EXITS } from "../../view/exit-code.ts";
import type { Notice } from "../../view/notice.ts";
import { noticeText } from "../../view/notice-text.ts";
import { failedOutcome, type Outcome, RunTally, resumeText } from "../../view/outcome.ts";
import { terminalLine, terminalText } from "../../view/safe-text.ts";
import type { SessionView } from "../../view/view.ts";
import { noticeOf, PHASE_TEXTS, phraseText, retryText } from "../../view/words.ts";
import type { LineDrawer, LineOutput } from "../terminal/line-drawer.ts";
import { tokensText } from "../text/amounts.ts";
import { fitColumns } from "../text/columns.ts";
import { answerQuestions, askAboutServer, canAsk } from "./answer-questions.ts";
import { type CommandContext, type Output, type Style, say, styleFor } from "./command-context.ts";
import { EndingSignals } from "./ending-signals.ts";
import { explainError } from "./explain-error.ts";
import { UncaughtErrors } from "./foreign-code.ts";
import { JsonReporter } from "./json-lines.ts";
import { readRunInput, readSchema } from "./prompt.ts";
import { type RunFlags, sessionOptionsOf } from "./run-flags.ts";

/**
 * One run without a screen: reads the prompt, runs the agent and reports in the requested format. Resolves to
 * the exit code when everything the run started has ended. Never rejects: every failure is reported and has a
 * code.
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
  readonly #reporter: RunReporter;
  readonly #uncaught = new UncaughtErrors();
  #startedAt = performance.now();
  #cwd = "";
  #prepared: PreparedSession | undefined;
  #session: CodingSession | undefined;
  #answering: Promise<void> | undefined;
  #exitCode: number = EXIT.done;
  #isReported = false;

  constructor(context: CommandContext, flags: RunFlags) {
    this.#flags = flags;
    this.#newId = flags.session.sessionId ?? newUuid();
    this.#reporter = new RunReporter(context, flags, () => this.#prepared, this.#newId);
    this.#context = this.#reporter.context;
    context.stdout.onBroken((error) => this.#broken.abort(error));
  }

  async run(): Promise<number> {
    using _caught = this.#uncaught.listen();
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
      // A run in progress has its outcome already. If it is still cleaning up, that was reported.
      await this.#answering;
      if (!this.#isReported) this.#fail(undefined);
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
      adoptErrors: this.#uncaught.adopt,
      pace: flags.partialMessages ? () => (stdout.isFull ? stdout.drain() : undefined) : undefined,
      onNotice: (notice) => this.#reporter.notice(notice),
    });
    const isStream = flags.inputFormat === "stream-json";
    const needsPrompt = flags.session.resume?.step === undefined;
    const say = (message: string): void => this.#reporter.say(message);
    const input = await readRunInput(flags.words, isStream, needsPrompt, cwd, say);
    try {
      const [session] = await Promise.all([this.#prepared.open(), this.#reporter.prepare()]);
      this.#session = session;
      this.#reporter.begin(cwd, session);
      session.onEvent((event) => this.#reporter.event(event));
      this.#signals.allowGrace();
      const signal = AbortSignal.any([this.#signals.signal, this.#broken.signal]);
      for await (const message of input) {
        await this.#answer(session, message, { signal, ...omitUndefined({ schema }) });
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
      // A run that could not be recorded has reported it already.
      if (this.#exitCode !== EXIT.done) return;
      this.#reporter.say(toNanoAgentError(error).message);
      this.#exitCode = EXIT.session;
    }
  }

  #answer(session: CodingSession, input: Input | undefined, options: SendOptions): Promise<void> {
    this.#startedAt = performance.now();
    this.#isReported = false;
    const run = session.send(input, options);
    this.#answering = (async () => this.#end(await run))();
    return this.#answering;
  }

  #fail(thrown: unknown): void {
    const error = toNanoAgentError(
      explainRemovedFolder(thrown ?? this.#signals.signal.reason ?? "interrupted"),
      "internal",
    );
    this.#reporter.begin(this.#cwd, undefined);
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
    this.#reporter.end(outcome);
    this.#isReported = true;
    if (outcome.exitCode !== EXIT.done) this.#exitCode = outcome.exitCode;
    this.#saveLastMessage(outcome);
    if (!this.#broken.signal.aborted) this.#reporter.printAdvice(outcome, this.#session?.info.model.name);
  }

  #saveLastMessage({ text }: Outcome): void {
    const { outputFile } = this.#flags;
    if (outputFile === undefined || text === "") return;
    try {
      writeFileSync(resolve(this.#cwd, outputFile), text.endsWith("\n") ? text : `${text}\n`);
    } catch (error) {
      this.#reporter.say(`--output-last-message: the answer could not be written: ${errorMessage(error)}`);
      if (this.#exitCode === EXIT.done) this.#exitCode = EXIT.failed;
    }
  }
}

export class RunReporter {
  /** Outputs that erase the waiting line first. */
  readonly context: CommandContext;
  readonly #flags: RunFlags;
  readonly #prepared: () => PreparedSession | undefined;
  /** Set if the terminal can erase a line. */
  readonly #waiting: WaitingLine | undefined;
  /** Reports to programs; undefined if the answer is text. */
  readonly #json: JsonReporter | undefined;
  readonly #isLive: boolean;
  readonly #style: Style;
  readonly #shownNotices = new Set<Notice>();
  #lines: typeof import("../terminal/line-drawer.ts") | undefined;
  #drawer: LineDrawer | undefined;
  #session: CodingSession | undefined;
  /** A question is on the terminal: nothing else is written. */
  #isPaused = false;
  #redraw: NodeJS.Timeout | undefined;
  #log: ((event: AgentEvent) => void) | undefined;
  /** Shown together with the session id on a terminal. */
  #modelText: string | undefined;

  /** `prepared`: the session once it is known; `newId`: its id until then. */
  constructor(
    context: CommandContext,
    flags: RunFlags,
    prepared: () => PreparedSession | undefined,
    newId: string,
  ) {
    const { stdout, stderr, environment } = context;
    this.#flags = flags;
    this.#prepared = prepared;
    this.#style = styleFor(stderr.isTerminal, environment);
    if (stderr.isTerminal && environment["TERM"] !== "dumb")
      this.#waiting = new WaitingLine(stderr, this.#style, () => process.stderr.columns || 80);
    const withWaitingLine = (output: Output): Output => this.#waiting?.wrap(output) ?? output;
    this.context = { ...context, stdout: withWaitingLine(stdout), stderr: withWaitingLine(stderr) };
    const { outputFormat, partialMessages } = flags;
    const sessionId = (): string => prepared()?.sessionId ?? newId;
    if (outputFormat !== "text")
      this.#json = new JsonReporter(
        this.context.stdout,
        sessionId,
        outputFormat === "stream-json",
        partialMessages,
      );
    this.#isLive = isLive(context, flags);
  }

  /** Loads the code that draws a run for a person, and the verbose log. */
  async prepare(): Promise<void> {
    const { stderr } = this.context;
    if (this.#flags.verbose) {
      const { runLog } = await import("../../telemetry/run-log.ts");
      const startedAt = performance.now();
      const redact = (text: string): string => this.#redacted(text);
      const sink: LogSink = (service, text) => {
        const seconds = ((performance.now() - startedAt) / 1000).toFixed(3);
        stderr.write(`+${seconds}s [${service}] ${terminalLine(redact(text), 1_000)}\n`);
      };
      this.#log = runLog(sink, { redact });
    }
    if (stderr.isTerminal || isForReader(this.context, this.#flags))
      this.#lines = await import("../terminal/line-drawer.ts");
  }

  get #linePlace(): LineOutput {
    const { environment } = this.context;
    return { environment, isStyled: true, columns: () => process.stderr.columns || 80 };
  }

  #follow(session: CodingSession): void {
    const { stdout, stderr } = this.context;
    if (this.#lines === undefined || !stderr.isTerminal) return;
    this.#session = session;
    const [isLive, shown] = [this.#isLive, this.#shownNotices];
    // If the answer is shown live, both are terminals: a single stream keeps the order.
    const write = (text: string): void => (isLive ? stdout : stderr).write(text);
    const { LineDrawer } = this.#lines;
    this.#drawer = new LineDrawer(
      { ...this.#linePlace, write, isLive, shownNotices: shown },
      session.view.items,
    );
    session.onChange(() => {
      this.#waiting?.follow(session.view);
      if (!this.#isPaused) this.#drawer?.draw(session.view.items);
    });
  }

  /** Leaves the terminal to a question until the returned function is called. */
  #pause(): () => void {
    this.#isPaused = true;
    this.#waiting?.clear();
    return () => {
      this.#isPaused = false;
      this.#drawer?.draw(this.#session?.view.items ?? []);
    };
  }

  /** Writes the first line; later calls write none. */
  begin(cwd: string, session: CodingSession | undefined): void {
    this.#json?.begin({ cwd, ...initFacts(session?.info, this.#flags) });
    const { stderr } = this.context;
    if (session !== undefined && stderr.isTerminal) this.say(this.#startText(session));
    if (session !== undefined && canAsk(stderr, this.#flags.outputFormat))
      answerQuestions(session, { ...this.#linePlace, hold: () => this.#pause() });
    if (session !== undefined) this.#follow(session);
    for (const notice of session?.notices ?? []) {
      if (notice.code === "untrusted") this.#json?.untrusted(notice.folder, notice.items);
      else if (notice.code === "repaired") this.#json?.repair(notice.repairs, notice.path);
    }
  }

  event(event: AgentEvent): void {
    this.#log?.(event);
    if (this.#waiting !== undefined)
      this.#redraw ??= setInterval(() => {
        if (!this.#isPaused) this.#waiting?.draw();
      }, REDRAW_MS).unref();
    const note = this.context.stderr.isTerminal ? undefined : lineOf(event);
    if (note !== undefined) this.say(note);
    this.#json?.event(event);
  }

  end(outcome: Outcome): void {
    clearInterval(this.#redraw);
    this.#redraw = undefined;
    this.#waiting?.clear();
    this.#drawer?.end(this.#session?.view.items ?? []);
    if (this.#json !== undefined) this.#json.end(outcome);
    // The text of a finish tool was not streamed.
    else if ((!this.#isLive || outcome.stopReason === "finish_tool") && outcome.text !== "")
      this.context.stdout.write(this.#shownText(outcome.text));
  }

  /** The answer, unless it was streamed. */
  #shownText(answer: string): string {
    if (this.#lines !== undefined && isForReader(this.context, this.#flags))
      return new this.#lines.LineWriter(this.#linePlace).answer(answer);
    const text = this.context.stdout.isTerminal ? terminalText(answer) : answer;
    return text.endsWith("\n") ? text : `${text}\n`;
  }

  printAdvice(outcome: Outcome, model: string | undefined): void {
    this.#summarise(outcome);
    const proof = evidenceText(outcome.evidence);
    if (this.#json === undefined && proof !== "") this.say(terminalLine(proof, 500));
    if (outcome.error !== undefined && outcome.code === "error_during_execution") {
      const place = { settings: this.#prepared()?.settings, model };
      this.say(`${explainError(outcome.error, place)}${resumeText(outcome.goOn)}`);
    } else if (outcome.advice !== undefined) this.say(outcome.advice.text);
  }

  notice(notice: Notice): void {
    const { stderr } = this.context;
    this.#shownNotices.add(notice);
    if (notice.code === "permission") {
      const text = terminalLine(revealInvisible(noticeText(notice)), 2_000);
      if (canAsk(stderr, this.#flags.outputFormat)) stderr.write(`${this.#style.dim(`  ${text}`)}\n`);
    } else if (notice.code === "model_chosen" && stderr.isTerminal) this.#modelText = noticeText(notice);
    else if (notice.code !== "model_chosen" || this.#mentionsModel(notice)) this.say(noticeText(notice));
  }

  /** Writes a message to standard error, with secrets removed. */
  say(message: string): void {
    say(this.context, this.#redacted(message));
  }

  #redacted(text: string): string {
    return this.#prepared()?.redact?.text(text) ?? text;
  }

  #summarise({ turns, usage, cost, durationMs }: Outcome): void {
    const { stderr } = this.context;
    if (!stderr.isTerminal || turns === 0) return;
    const parts = [
      pluralize(turns, "turn"),
      `${tokensText(usage.inputTokens)} tokens in, ${tokensText(usage.outputTokens)} out`,
      cost === undefined ? "cost unknown" : `$${cost.toFixed(4)}`,
      describeDuration(durationMs),
    ];
    stderr.write(`${this.#style.dim(parts.join(" · "))}\n`);
  }

  #startText({ info, id }: CodingSession): string {
    const model = this.#modelText ?? `model ${info.model.name}`;
    return !this.#flags.session.keep ? model : `${model}; session ${id.slice(0, SHOWN_ID)}`;
  }

  /** Off a terminal the model is mentioned unless it was named explicitly. */
  #mentionsModel({ why, source }: Extract<Notice, { readonly code: "model_chosen" }>): boolean {
    const configured = this.#prepared()?.settings.config.values.model;
    const isNamed = configured !== undefined && configured !== LOCAL_MODEL;
    return why === "resumed" || (source !== undefined && !isNamed);
  }
}

/** The note for an event, wherever standard error goes; undefined for most events. */
function lineOf(event: AgentEvent): string | undefined {
  const notice = noticeOf(event);
  if (notice?.level === "warning") return noticeText(notice);
  if (event.type !== "compaction") return undefined;
  const { tokensBefore: before, tokensAfter: after, method } = event;
  return phraseText({ code: "compacted", before, after, method }, tokensText);
}

const REDRAW_MS = 1_000;
/** Characters of a session's id that suffice to resume it. */
const SHOWN_ID = 8;

/** True if the answer is shown while it is written: a person sees both streams, and it is not a value. */
function isLive(context: CommandContext, flags: RunFlags): boolean {
  // Text of the phases is not the answer, and the last text need not be it either.
  if (flags.config.pattern === "plan" || flags.config.pattern === "reflection") return false;
  return context.stderr.isTerminal && isForReader(context, flags);
}

/** True if a person reads the answer and it is not a value. */
function isForReader({ stdout }: CommandContext, { outputFormat, jsonSchema }: RunFlags): boolean {
  return outputFormat === "text" && jsonSchema === undefined && stdout.isTerminal;
}

function initFacts(info: SessionInfo | undefined, { config }: RunFlags): object {
  if (info === undefined) {
    const none = { tools: [], skills: [], agents: [], slash_commands: [], mcp_servers: [] };
    return { ...none, model: null, permissionMode: config.permissionMode ?? "default", sandbox: "off" };
  }
  const { tools, model, skills, agents, commands, mcpServers, mode: permissionMode, sandbox } = info;
  const slash_commands = commands.map(({ name }) => name);
  const mcp_servers = mcpServers.map(({ name, status }) => ({ name, status: INIT_STATUS[status] }));
  const names = { tools, model: model.name, model_source: model.source };
  return { ...names, skills, agents, slash_commands, mcp_servers, permissionMode, sandbox };
}

/** The status names that readers of the `init` line know. */
const INIT_STATUS: { readonly [status in McpServerView["status"]]: string } = {
  connected: "connected",
  connecting: "pending",
  failed: "failed",
  needs_auth: "needs-auth",
  disabled: "disabled",
};

/** Throws `invalid_argument` before any work if the answer's file is certainly not writable. */
function assertWritable(path: string, cwd: string): void {
  const target = resolve(cwd, path);
  try {
    const stats = statSync(target, { throwIfNoEntry: false });
    if (stats?.isDirectory() === true) throw new Error(`${target} is a folder`);
    accessSync(stats === undefined ? dirname(target) : target, constants.W_OK);
  } catch (error) {
    throw invalidArgument(`--output-last-message: ${errorMessage(error)}. Name a file that can be written.`, {
      cause: error,
    });
  }
}

/** Shorter waits, in milliseconds, are not shown. */
const MIN_WAIT_MS = 1_000;
/** Leaves room for the time that follows. */
const MAX_SUBJECT_CHARS = 60;

/**
 * One line on a terminal that shows what a run is waiting for and for how long. Each {@link draw} overwrites
 * it, and it is erased before anything else is written through {@link wrap}.
 */
export class WaitingLine {
  readonly #output: Output;
  readonly #dim: Style["dim"];
  readonly #width: () => number;
  readonly #now: () => number;
  #subject = "";
  #since = 0;
  #isDrawn = false;
  #view: SessionView | undefined;

  constructor(
    output: Output,
    { dim }: Pick<Style, "dim">,
    width: () => number,
    now: () => number = () => performance.now(),
  ) {
    this.#output = output;
    this.#dim = dim;
    this.#width = width;
    this.#now = now;
  }

  /** Follows a session; the time keeps counting while the subject is unchanged. */
  follow(view: SessionView): void {
    this.#view = view;
    const what = waitSubject(view, Number.POSITIVE_INFINITY);
    if (what === this.#subject) return;
    this.clear();
    this.#subject = what;
    this.#since = this.#now();
  }

  draw(): void {
    const waitedMs = this.#now() - this.#since;
    if (this.#view === undefined || this.#subject === "" || waitedMs < MIN_WAIT_MS) return;
    const what = terminalLine(waitSubject(this.#view, Date.now()), MAX_SUBJECT_CHARS);
    const text = fitColumns(`… ${what} · ${Math.floor(waitedMs / 1_000)} s`, Math.max(1, this.#width() - 1));
    this.#output.write(`\r\u001B[K${this.#dim(text)}`);
    this.#isDrawn = true;
  }

  /** Erases the line until it is drawn again. */
  clear(): void {
    if (this.#isDrawn) this.#output.write("\r\u001B[K");
    this.#isDrawn = false;
  }

  /** An output on the same terminal that erases the line before writing. */
  wrap(output: Output): Output {
    if (!output.isTerminal) return output;
    const write = (text: string): void => {
      this.clear();
      output.write(text);
    };
    const { drain, onBroken } = output;
    return {
      isTerminal: true,
      isFull: false,
      write,
      drain: drain.bind(output),
      onBroken: onBroken.bind(output),
    };
  }
}

function waitSubject({ run, state, items }: SessionView, now: number): string {
  if (run === undefined || state === "waiting") return "";
  if (run.retry !== undefined) return retryText(run.retry, now);
  const [first, ...more] = items.filter((item) => item.type === "tool" && item.state === "running");
  if (run.phase !== "tools" || first?.type !== "tool") return PHASE_TEXTS[run.phase];
  return more.length > 0 ? `running ${more.length + 1} calls` : `running ${first.name} ${first.title}`.trim();
}

import type { CodingSession, McpServerView, SessionInfo } from "../../coding/session/coding-session.ts";
import type { PreparedSession } from "../../coding/session/prepare-coding-session.ts";
import type { AgentEvent } from "../../core/agent/entries.ts";
import { counted } from "../../core/base/text.ts";
import { withHiddenShown } from "../../permission/hidden-characters.ts";
import { LOCAL_MODEL } from "../../providers/model-choice.ts";
import type { LogSink } from "../../telemetry/run-log.ts";
import { describeDuration } from "../../tools/shell/report.ts";
import { evidenceText } from "../../view/evidence.ts";
import type { Notice } from "../../view/notice.ts";
import { noticeText } from "../../view/notice-text.ts";
import { goOnText, type Outcome } from "../../view/outcome.ts";
import { terminalLine, terminalText } from "../../view/safe-text.ts";
import { noticeOf, phraseText } from "../../view/words.ts";
import type { LineDrawer, LinePlace } from "../terminal/line-drawer.ts";
import { answerQuestions, canAsk } from "./answer-questions.ts";
import { type CommandContext, say } from "./command-context.ts";
import { explainError } from "./explain-error.ts";
import { JsonReporter } from "./json-lines.ts";
import type { RunFlags } from "./run-flags.ts";
import { type Style, styleFor } from "./style.ts";
import type { WaitingLine } from "./waiting-line.ts";

/** Options of {@link RunTeller}. */
export interface RunTellerOptions {
  readonly context: CommandContext;
  readonly flags: RunFlags;
  /** The session as far as it is known by now. */
  readonly prepared: () => PreparedSession | undefined;
  readonly waiting: WaitingLine | undefined;
  /** Id of the session as long as nothing is known of it. */
  readonly newId: string;
}

/** Tells what a run does: its result on standard output, everything for people on standard error. */
export class RunTeller {
  readonly #options: RunTellerOptions;
  /** Tells programs; undefined where the answer is text. */
  readonly #reporter: JsonReporter | undefined;
  readonly #isLive: boolean;
  readonly #style: Style;
  /** Notices that were told. */
  readonly #told = new Set<Notice>();
  #lines: typeof import("../terminal/line-drawer.ts") | undefined;
  #drawer: LineDrawer | undefined;
  #session: CodingSession | undefined;
  /** A question stands on the terminal: nothing else is written. */
  #isHeld = false;
  #beat: NodeJS.Timeout | undefined;
  #log: ((event: AgentEvent) => void) | undefined;
  /** Said with the session, where a person reads it. */
  #modelText: string | undefined;

  constructor(options: RunTellerOptions) {
    this.#options = options;
    const { context, flags, prepared, newId } = options;
    const { stdout, stderr, environment } = context;
    const { outputFormat, partialMessages: partial } = flags;
    const sessionId = (): string => prepared()?.sessionId ?? newId;
    const stream = outputFormat === "stream-json";
    if (outputFormat !== "text") this.#reporter = new JsonReporter({ stdout, sessionId, partial, stream });
    this.#isLive = isLive(context, flags);
    this.#style = styleFor(stderr.isTerminal, environment);
  }

  /** Loads what draws a run for a person, and what says more than the usual. */
  async prepare(): Promise<void> {
    const { context, flags } = this.#options;
    const { stderr } = context;
    if (flags.verbose) {
      const { runLog } = await import("../../telemetry/run-log.ts");
      const startedAt = performance.now();
      const redact = (text: string): string => this.#redacted(text);
      const sink: LogSink = (service, text) => {
        const seconds = ((performance.now() - startedAt) / 1000).toFixed(3);
        stderr.write(`+${seconds}s [${service}] ${terminalLine(redact(text), 1_000)}\n`);
      };
      this.#log = runLog(sink, { redact });
    }
    if (stderr.isTerminal || isForReader(context, flags))
      this.#lines = await import("../terminal/line-drawer.ts");
  }

  get #place(): LinePlace {
    const { environment } = this.#options.context;
    return { environment, isStyled: true, columns: () => process.stderr.columns || 80 };
  }

  /** Draws a session from here on. */
  #follow(session: CodingSession): void {
    const { context, waiting } = this.#options;
    const { stdout, stderr } = context;
    if (this.#lines === undefined || !stderr.isTerminal) return;
    this.#session = session;
    const outputs = {
      write: (text: string) => stderr.write(text),
      writeAnswer: this.#isLive ? (text: string) => stdout.write(text) : undefined,
    };
    const { LineDrawer } = this.#lines;
    this.#drawer = new LineDrawer({ ...this.#place, ...outputs, told: this.#told }, session.view.items);
    session.onChange(() => {
      waiting?.follow(session.view);
      if (!this.#isHeld) this.#drawer?.draw(session.view.items);
    });
  }

  /** Leaves the terminal to a question until the function it returns is called. */
  #hold(): () => void {
    this.#isHeld = true;
    this.#options.waiting?.clear();
    return () => {
      this.#isHeld = false;
      this.#drawer?.draw(this.#session?.view.items ?? []);
    };
  }

  /** The first line; later ones are left out. */
  begin(cwd: string, session: CodingSession | undefined): void {
    this.#reporter?.begin({ cwd, ...initFacts(session?.info, this.#options.flags) });
    const { context, flags } = this.#options;
    const { stderr } = context;
    if (session !== undefined && stderr.isTerminal) this.say(this.#startText(session));
    if (session !== undefined && canAsk(stderr, flags.outputFormat))
      answerQuestions(session, { ...this.#place, hold: () => this.#hold() });
    if (session !== undefined) this.#follow(session);
    for (const notice of session?.notices ?? []) {
      if (notice.code === "untrusted") this.#reporter?.untrusted(notice.folder, notice.items);
      else if (notice.code === "repaired") this.#reporter?.repair(notice.repairs, notice.path);
    }
  }

  event(event: AgentEvent): void {
    this.#log?.(event);
    const { waiting, context } = this.#options;
    if (waiting !== undefined)
      this.#beat ??= setInterval(() => {
        if (!this.#isHeld) waiting.draw();
      }, BEAT_MS).unref();
    const note = context.stderr.isTerminal ? undefined : lineOf(event);
    if (note !== undefined) this.say(note);
    this.#reporter?.event(event);
  }

  end(outcome: Outcome): void {
    clearInterval(this.#beat);
    this.#beat = undefined;
    this.#options.waiting?.clear();
    this.#drawer?.end(this.#session?.view.items ?? []);
    if (this.#reporter !== undefined) this.#reporter.end(outcome);
    // The text of a finish tool was not streamed.
    else if ((!this.#isLive || outcome.stopReason === "finish_tool") && outcome.text !== "")
      this.#options.context.stdout.write(this.#shownText(outcome.text));
  }

  /** An answer that was not shown while it was written. */
  #shownText(answer: string): string {
    const { context, flags } = this.#options;
    if (this.#lines !== undefined && isForReader(context, flags))
      return new this.#lines.LineWriter(this.#place).answer(answer);
    const text = context.stdout.isTerminal ? terminalText(answer) : answer;
    return text.endsWith("\n") ? text : `${text}\n`;
  }

  /** Tells a person about an end beside its result. */
  advise(outcome: Outcome, model: string | undefined): void {
    this.#summarise(outcome);
    const proof = evidenceText(outcome.evidence);
    if (this.#reporter === undefined && proof !== "") this.say(terminalLine(proof, 500));
    if (outcome.error !== undefined && outcome.code === "error_during_execution") {
      const place = { settings: this.#options.prepared()?.settings, model };
      this.say(`${explainError(outcome.error, place)}${goOnText(outcome.goOn)}`);
    } else if (outcome.advice !== undefined) this.say(outcome.advice.text);
  }

  notice(notice: Notice): void {
    const { stderr } = this.#options.context;
    this.#told.add(notice);
    if (notice.code === "permission") {
      const text = terminalLine(withHiddenShown(noticeText(notice)), 2_000);
      if (canAsk(stderr, this.#options.flags.outputFormat)) stderr.write(`${this.#style.dim(`  ${text}`)}\n`);
    } else if (notice.code === "model_chosen" && stderr.isTerminal) this.#modelText = noticeText(notice);
    else if (notice.code !== "model_chosen" || this.#isNews(notice)) this.say(noticeText(notice));
  }

  /** One message on standard error, secrets taken out. */
  say(message: string): void {
    say(this.#options.context, this.#redacted(message));
  }

  #redacted(text: string): string {
    return this.#options.prepared()?.redact?.text(text) ?? text;
  }

  #summarise({ turns, usage, cost, durationMs }: Outcome): void {
    const { stderr } = this.#options.context;
    if (!stderr.isTerminal || turns === 0) return;
    const parts = [
      counted(turns, "turn"),
      `${count(usage.inputTokens)} tokens in, ${count(usage.outputTokens)} out`,
      cost === undefined ? "cost unknown" : `$${cost.toFixed(4)}`,
      describeDuration(durationMs),
    ];
    stderr.write(`${this.#style.dim(parts.join(" · "))}\n`);
  }

  /** Which model works on which session, for a person. */
  #startText({ info, id }: CodingSession): string {
    const model = this.#modelText ?? `model ${info.model.name}`;
    return !this.#options.flags.session.keep ? model : `${model}; session ${id.slice(0, SHOWN_ID)}`;
  }

  /** A program sees which model is used and why when that was not said in so many words. */
  #isNews({ why, source }: Extract<Notice, { readonly code: "model_chosen" }>): boolean {
    const said = this.#options.prepared()?.settings.config.values.model;
    const isNamed = said !== undefined && said !== LOCAL_MODEL;
    return why === "resumed" || (source !== undefined && !isNamed);
  }
}

/** A note that is told wherever standard error goes; undefined for most events. */
function lineOf(event: AgentEvent): string | undefined {
  const notice = noticeOf(event);
  if (notice?.level === "warning") return noticeText(notice);
  if (event.type !== "compaction") return undefined;
  const { tokensBefore: before, tokensAfter: after, method } = event;
  return phraseText({ code: "compacted", before, after, method }, count);
}

/** Milliseconds between two looks of a person at what is waited for. */
const BEAT_MS = 1_000;
/** Characters of a session's id that are enough to go on with it. */
const SHOWN_ID = 8;

/** True where an answer is shown while it is written: a person sees both streams, and it is no value. */
function isLive(context: CommandContext, flags: RunFlags): boolean {
  // The words of phases are work on the answer, and the last thing said need not be the answer.
  if (flags.config.pattern === "plan" || flags.config.pattern === "reflection") return false;
  return context.stderr.isTerminal && isForReader(context, flags);
}

/** True where a person reads the answer, and it is no value. */
function isForReader({ stdout }: CommandContext, { outputFormat, jsonSchema }: RunFlags): boolean {
  return outputFormat === "text" && jsonSchema === undefined && stdout.isTerminal;
}

/** Facts of the first line about a session; of none where it could not be opened. */
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

/** The words that consumers of the first line know. */
const INIT_STATUS: { readonly [status in McpServerView["status"]]: string } = {
  connected: "connected",
  connecting: "pending",
  failed: "failed",
  needs_auth: "needs-auth",
  disabled: "disabled",
};

function count(tokens: number): string {
  return tokens < 1_000 ? String(tokens) : `${(tokens / 1_000).toFixed(1)}k`;
}

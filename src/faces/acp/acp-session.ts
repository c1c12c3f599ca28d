import { fileURLToPath } from "node:url";
import {
  type AgentContext,
  type BlobResourceContents,
  type ClientCapabilities,
  type ContentBlock,
  methods,
  type PermissionOption,
  type PromptResponse,
  RequestError,
  type SessionUpdate,
  type ToolCallContent,
} from "@agentclientprotocol/sdk";
import type { CodingSession } from "../../coding/session/coding-session.ts";
import { type Json, type NanoAgentError, toNanoAgentError } from "../../core/base/errors.ts";
import { revealInvisible } from "../../core/base/hidden-characters.ts";
import { omitUndefined } from "../../core/base/json.ts";
import type { StopReason } from "../../core/base/stop-reason.ts";
import { toCodeBlock } from "../../core/base/text.ts";
import type { Input } from "../../core/message/input.ts";
import type { UserBlock } from "../../core/message/message.ts";
import { withoutSessionHint } from "../../session/session-error.ts";
import { EXIT, exitCodeOfError } from "../../view/exit-code.ts";
import type { Outcome } from "../../view/outcome.ts";
import type { AnswerChoice, OfferedChoice, Question, QuestionReply } from "../../view/question.ts";
import { questionKind, questionSubject } from "../../view/question-kind.ts";
import { choiceText, questionHeading, questionNotes } from "../../view/question-text.ts";
import { terminalLine } from "../../view/safe-text.ts";
import { ValueForm } from "../../view/value-form.ts";
import type { ToolItem, ViewItem } from "../../view/view.ts";
import { diffContent, isShownAsDiff, toolFacts, ViewPublisher } from "./updates.ts";

export class AcpSession {
  readonly session: CodingSession;
  readonly #client: AgentContext;
  readonly #capabilities: ClientCapabilities | undefined;
  readonly #publisher: ViewPublisher;
  /** The editor's terminals that calls run in, by call. */
  readonly #terminals = new Map<string, string>();
  readonly #asking = new Set<string>();
  #running: AbortController | undefined;
  #commands = "[]";
  /** The latest notification: they are sent in order. */
  #sending: Promise<unknown> = Promise.resolve();

  constructor(session: CodingSession, client: AgentContext, capabilities: ClientCapabilities | undefined) {
    this.session = session;
    this.#client = client;
    this.#capabilities = capabilities;
    this.#publisher = new ViewPublisher(
      session.info.cwd,
      (update) => this.send(update),
      (callId) => this.#terminals.get(callId),
    );
    this.#publisher.skip(session.view);
    session.onChange(({ items, rest, reset }) => {
      const { view } = session;
      if (reset === true) this.#publisher.skip(view);
      for (const index of items) {
        const item = view.items[index];
        if (item !== undefined) this.#publisher.item(item);
      }
      if (rest) this.#publisher.rest(view);
    });
    session.onEvent((event) => {
      if (event.type !== "tool_update") return;
      const terminal = event.metadata?.["terminal"];
      if (typeof terminal !== "string") return;
      this.#terminals.set(event.callId, terminal);
      // The editor shows the terminal from now on, not just after the command has ended.
      this.#announce(event.callId);
    });
    session.onQuestion((question, signal) => this.#ask(question, signal));
  }

  /** Sends an update to the editor. Never throws: updates for a disconnected editor are dropped. */
  send(update: SessionUpdate): void {
    this.#sending = this.#client
      .notify(methods.client.session.update, { sessionId: this.session.id, update })
      .catch(() => undefined);
  }

  /** Sends the whole conversation again; resolves when it is sent. */
  async replay(): Promise<void> {
    this.#publisher.replay(this.session.view);
    await this.#sending;
  }

  /** Announces the commands a prompt can begin with, unless the editor knows them. */
  sendCommands(): void {
    const availableCommands = this.session.info.commands.map(({ name, description = "", hint }) => ({
      name,
      description,
      ...(hint === undefined ? {} : { input: { hint } }),
    }));
    const text = JSON.stringify(availableCommands);
    if (text === this.#commands) return;
    this.#commands = text;
    this.send({ sessionUpdate: "available_commands_update", availableCommands });
  }

  /** Shows the person text that is not from the model. */
  sendNotice(text: string): void {
    this.send({
      sessionUpdate: "agent_message_chunk",
      content: { type: "text", text: `nano-agent: ${terminalLine(text, 2_000)}\n\n` },
    });
  }

  /**
   * Runs one prompt to its end, or until the editor's request is aborted. Rejects with a protocol error if it
   * fails or another is still running.
   */
  async prompt(blocks: readonly ContentBlock[], request: AbortSignal): Promise<PromptResponse> {
    if (this.#running !== undefined)
      throw RequestError.invalidRequest(
        undefined,
        "A prompt of this session is still running: cancel it or wait.",
      );
    // From here on, in the same turn of the event loop, a cancel takes effect.
    const running = new AbortController();
    this.#running = running;
    const signal = AbortSignal.any([running.signal, request]);
    try {
      const input = promptInput(blocks);
      const restored = this.session.questions.filter(({ id }) => !this.#asking.has(id));
      if (restored.length > 0) await this.#askRestored(restored, signal);
      if (signal.aborted) return { stopReason: "cancelled" };
      const outcome = await this.session.send(input, { signal });
      // Servers that started meanwhile may have added prompts.
      this.sendCommands();
      await this.#sending;
      return promptEnd(outcome, signal.aborted);
    } finally {
      this.#running = undefined;
    }
  }

  cancel(): void {
    this.#running?.abort(toNanoAgentError("The editor cancelled the prompt.", "aborted"));
  }

  async close(): Promise<void> {
    this.cancel();
    await this.session.close();
  }

  #announce(callId: string): void {
    const found = findCall(this.session.view.items, callId);
    if (found !== undefined) this.#publisher.announce(found.item, found.agent);
  }

  /**
   * Asks the questions of a process that was killed, and resumes with the answers until the run ends: the
   * prompt's message would refuse them unseen. A cancel leaves unanswered questions open.
   */
  async #askRestored(restored: readonly Question[], signal: AbortSignal): Promise<void> {
    const { session } = this;
    const before = session.lastOutcome;
    for (const question of restored) await this.#askWhileOpen(question, signal);
    const isDone = (): boolean => signal.aborted || (session.lastOutcome !== before && !isBusy(session));
    await waitUntil(isDone, { session, signal });
    if (signal.aborted) await session.stop("The editor cancelled the prompt.");
  }

  /** Asks a question until it is answered or withdrawn: stopping at one withdraws those after it. */
  async #askWhileOpen(question: Question, prompt: AbortSignal): Promise<void> {
    const { session } = this;
    const closed = new AbortController();
    const check = (): void => {
      if (!session.questions.some(({ id }) => id === question.id)) closed.abort();
    };
    const unsubscribe = session.onChange(check);
    check();
    const signal = AbortSignal.any([prompt, closed.signal]);
    if (!signal.aborted) await this.#ask(question, signal);
    unsubscribe();
  }

  async #ask(question: Question, signal: AbortSignal): Promise<void> {
    const { session } = this;
    const [client, capabilities] = [this.#client, this.#capabilities];
    this.#asking.add(question.id);
    // The editor must know a call before a question about it.
    if (question.callId !== undefined) this.#announce(question.callId);
    await this.#sending;
    const context = { client, sessionId: session.id, cwd: session.info.cwd, capabilities, signal };
    const reply = await askClient(question, context);
    this.#asking.delete(question.id);
    if (signal.aborted) return;
    // A cancel is not an answer, unless there is no prompt to cancel.
    if (reply === undefined && this.#running !== undefined) this.cancel();
    // It may have been closed meanwhile, along with its run.
    else if (session.questions.some(({ id }) => id === question.id))
      session.answer(question.id, reply ?? REFUSED);
  }
}

/** Finds a call, newest first, including those of subagents, and the subagent that made it. */
function findCall(
  items: readonly ViewItem[],
  callId: string,
  agent?: string,
): { readonly item: ToolItem; readonly agent: string | undefined } | undefined {
  for (const item of items.toReversed()) {
    if (item.type !== "tool") continue;
    if (item.callId === callId) return { item, agent };
    const inner = findCall(item.agent?.items ?? [], callId, item.agent?.name);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function isBusy({ view: { state, run } }: CodingSession): boolean {
  return state === "running" || state === "stopping" || run !== undefined;
}

/** Resolves when a condition on a session holds; checked at each change and on abort. */
async function waitUntil(
  isDone: () => boolean,
  { session, signal }: { readonly session: CodingSession; readonly signal: AbortSignal },
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  // An answer may start another run right after the run started by the previous answer.
  const check = (): void => void setImmediate(() => isDone() && resolve());
  const unsubscribe = session.onChange(check);
  signal.addEventListener("abort", check, { once: true });
  check();
  await promise;
  unsubscribe();
}

const STOP_REASONS: { readonly [reason in StopReason]?: PromptResponse["stopReason"] } = {
  aborted: "cancelled",
  output_limit: "max_tokens",
  max_iterations: "max_turn_requests",
  budget: "max_turn_requests",
  loop_detected: "max_turn_requests",
  refusal: "refusal",
};

function promptEnd(outcome: Outcome, isCancelled: boolean): PromptResponse {
  if (isCancelled) return { stopReason: "cancelled" };
  const { stopReason, error, advice } = outcome;
  const { code = "internal", message = advice?.text ?? "The run failed." } = error ?? {};
  if (stopReason === "error") throw protocolError({ code, message });
  return { stopReason: STOP_REASONS[stopReason] ?? "end_turn" };
}

/** An editor's prompt as input of a run: text in one message, with the files it embeds; images. */
function promptInput(prompt: readonly ContentBlock[]): Input {
  const blocks = prompt.map(toBlock);
  // Plain text stays unchanged, so that a command at its beginning is recognized.
  const [first, ...rest] = blocks;
  if (first?.type === "text" && rest.length === 0) return first.text;
  if (blocks.every((block) => block.type === "text"))
    return blocks.map((block) => (block.type === "text" ? block.text : "")).join("\n\n");
  return [{ role: "user", content: blocks }];
}

function toBlock(block: ContentBlock): UserBlock {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return {
        type: "image",
        source: { type: "base64", media_type: block.mimeType, data: block.data },
      };
    case "resource_link":
      return { type: "text", text: `@${localPath(block.uri)}` };
    case "resource": {
      const { resource } = block;
      if (!("text" in resource)) return embeddedImage(resource);
      return {
        type: "text",
        text: `<file path=${JSON.stringify(localPath(resource.uri))}>\n${resource.text}\n</file>`,
      };
    }
    default:
      throw RequestError.invalidParams(
        { type: block.type },
        `A prompt cannot hold ${block.type}: text, images and files can be sent.`,
      );
  }
}

function embeddedImage({ uri, mimeType, blob }: BlobResourceContents): UserBlock {
  if (mimeType?.startsWith("image/") !== true)
    throw RequestError.invalidParams({ uri }, "An embedded resource must be text or an image.");
  return { type: "image", source: { type: "base64", media_type: mimeType, data: blob } };
}

function localPath(uri: string): string {
  try {
    return fileURLToPath(uri);
  } catch {
    // Not a local file: the address itself identifies it.
    return uri;
  }
}

const [AUTH_REQUIRED, INTERNAL_ERROR, INVALID_PARAMS] = [-32_000, -32_603, -32_602];

/**
 * Converts one of our errors to the protocol's: invalid request, missing login, or failed work. The message
 * is worded as on the command line, because the editor shows it to the person.
 */
function protocolError(error: Pick<NanoAgentError, "code" | "message">): RequestError {
  const { code } = error;
  const message = withoutSessionHint(error.message);
  const exit = exitCodeOfError(code);
  if (exit === EXIT.credentials) return new RequestError(AUTH_REQUIRED, message, { code });
  return new RequestError(exit === EXIT.failed ? INTERNAL_ERROR : INVALID_PARAMS, message, { code });
}

/** Runs an editor's request; failures become protocol errors. */
export async function withProtocolErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw thrown instanceof RequestError ? thrown : protocolError(toNanoAgentError(thrown));
  }
}

interface QuestionContext {
  readonly client: AgentContext;
  readonly sessionId: string;
  readonly cwd: string;
  readonly capabilities: ClientCapabilities | undefined;
  /** Aborted when the answer is no longer needed. */
  readonly signal: AbortSignal;
}

const REFUSED: QuestionReply = { choice: "no" };

/**
 * Asks the person at the editor. An editor that cannot ask, or fails, refuses. `undefined`: the prompt was
 * cancelled.
 */
async function askClient(question: Question, context: QuestionContext): Promise<QuestionReply | undefined> {
  try {
    switch (questionKind(question)) {
      case "plan":
        return await askPlan(question, context);
      case "ask":
        return context.capabilities?.elicitation?.form == null
          ? await askOneByOne(question, context)
          : await askValue(question, context);
      case "value":
        return await askValue(question, context);
      default:
        return await askPermission(question, context);
    }
  } catch {
    // An editor that cannot ask, or is gone, has not agreed.
    return REFUSED;
  }
}

async function askPermission(
  question: Question,
  context: QuestionContext,
): Promise<QuestionReply | undefined> {
  const { tool = "", input = {}, agent, choices, diff } = question;
  const named = agent === undefined ? "" : `${agent}: `;
  const chosen = await choose(question, context, {
    title: `${named}${questionTitle(question)}`,
    content: [...diffContent({ name: tool, input, diff }, context.cwd), ...noteContent(question)],
    options: choices.map((each) => toOption(each, question)),
  });
  if (chosen === undefined) return undefined;
  const offered = choices.find(({ choice }) => choice === chosen);
  if (offered === undefined) return REFUSED;
  return { choice: offered.choice, ...omitUndefined({ rule: offered.rule }) };
}

interface Offer {
  readonly title: string;
  readonly content: readonly ToolCallContent[];
  readonly options: readonly PermissionOption[];
}

/** Lets the person choose an option; resolves to its id, or `undefined` if the prompt was cancelled. */
async function choose(
  { callId, id, tool = "", input = {} }: Question,
  { client, sessionId, cwd, signal }: QuestionContext,
  { title, content, options }: Offer,
): Promise<string | undefined> {
  const { outcome } = await client.request(
    methods.client.session.requestPermission,
    {
      sessionId,
      toolCall: {
        toolCallId: callId ?? id,
        title: revealInvisible(title),
        status: "pending",
        rawInput: input,
        ...toolFacts(tool, input, cwd),
        content: [...content],
      },
      options: [...options],
    },
    { cancellationSignal: signal, stopWaitingOnCancel: true },
  );
  return outcome.outcome === "cancelled" ? undefined : outcome.optionId;
}

/** Asks about a plan, shown below its title. Changes come with the next message, as editors have no field. */
async function askPlan(question: Question, context: QuestionContext): Promise<QuestionReply | undefined> {
  const { options = [], input = {} } = question;
  const chosen = await choose(question, context, {
    title: questionHeading(question).title,
    content: [textContent(String(input["plan"]))],
    options: [
      ...options.map(
        ({ value, label }): PermissionOption => ({ optionId: value, name: label, kind: "allow_once" }),
      ),
      { optionId: "stop", name: choiceText({ choice: "stop" }, question), kind: "reject_once" },
    ],
  });
  if (chosen === undefined) return undefined;
  return options.some(({ value }) => value === chosen) ? { value: chosen } : { choice: "stop" };
}

/** Asks the model's questions in an editor without forms: one option of each can be chosen. */
async function askOneByOne(question: Question, context: QuestionContext): Promise<QuestionReply | undefined> {
  const form = new ValueForm(question.schema ?? {});
  for (let field = form.field; field !== undefined; field = form.field) {
    const { label, kind, options } = field;
    const notes = options.flatMap((each) => (each.note === undefined ? [] : [`${each.label}: ${each.note}`]));
    const chosen = await choose(question, context, {
      title: label,
      content: notes.length === 0 ? [] : [textContent(notes.join("\n\n"))],
      options: [
        ...options.map((each, at): PermissionOption => {
          return { optionId: String(at), name: revealInvisible(each.label), kind: "allow_once" };
        }),
        { optionId: "no", name: choiceText({ choice: "no" }, question), kind: "reject_once" },
      ],
    });
    if (chosen === undefined) return undefined;
    const value = options[Number(chosen)]?.value;
    if (value === undefined) return form.leave(question);
    const taken = form.give(kind === "several" ? [value] : value);
    if (taken !== undefined) return "value" in taken ? taken : REFUSED;
  }
  return REFUSED;
}

function textContent(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text: revealInvisible(text) } };
}

/** Longer or multi-line text also appears below the title. */
const MAX_TITLE = 300;

const HIDDEN_CHARACTERS_NOTE = "It has characters that do not show; they stand here as their numbers:";

/** The whole effect of a call, except for the part a diff shows. */
function subjectOf(question: Question): string {
  const { tool = "", input = {}, diff } = question;
  const subject = questionSubject(question);
  if (subject === undefined) return JSON.stringify(input);
  const change = { name: tool, input, diff };
  const rest = Object.entries(subject.others).filter(([name]) => !isShownAsDiff(change, name));
  return rest.length === 0 ? subject.main : `${subject.main} ${JSON.stringify(Object.fromEntries(rest))}`;
}

/** The end of a command is always shown: it is what runs last. */
function questionTitle(question: Question): string {
  const { title, target = "" } = questionHeading(question);
  const text = subjectOf(question);
  const shown = text.length <= MAX_TITLE ? text : `${text.slice(0, 150)} … ${text.slice(-145)}`;
  return `${title} ${shown.includes(target) ? "" : `${target} `}${shown}`;
}

/**
 * Everything the title omits: the rest of the call, what it reaches, and why it is asked. Editors render it
 * as Markdown, in which a call could hide part of itself.
 */
function noteContent(question: Question): ToolCallContent[] {
  const subject = subjectOf(question);
  const input = inputText(question, (text) => text);
  const shown = revealInvisible(inputText(question, revealInvisible));
  const texts = [
    ...(shown === input ? [] : [HIDDEN_CHARACTERS_NOTE, toCodeBlock(shown)]),
    ...(subject.length > MAX_TITLE || subject.includes("\n") ? [toCodeBlock(revealInvisible(subject))] : []),
    ...questionNotes(question).map((note) => revealInvisible(note)),
  ];
  if (texts.length === 0) return [];
  return [{ type: "content", content: { type: "text", text: texts.join("\n\n") } }];
}

/** A call's arguments as JSON, texts passed through `look`; DOS line ends are no hidden characters. */
function inputText({ input = {} }: Question, show: (text: string) => string): string {
  const text = (value: unknown): unknown =>
    typeof value === "string" ? show(value.replaceAll("\r\n", "\n")) : value;
  return JSON.stringify(input, (_name, value: unknown) => text(value), 2);
}

/** An editor may remember an "always" answer: stopping one run must not become a permanent refusal. */
const KINDS: { readonly [choice in AnswerChoice]: PermissionOption["kind"] } = {
  once: "allow_once",
  edits: "allow_always",
  always: "allow_always",
  no: "reject_once",
  stop: "reject_once",
};

function toOption(offered: OfferedChoice, question: Question): PermissionOption {
  const { choice } = offered;
  const name = choice === "no" ? "No" : choiceText(offered, question);
  return { optionId: choice, name: revealInvisible(name), kind: KINDS[choice] };
}

async function askValue(
  question: Question,
  { client, sessionId, capabilities, signal }: QuestionContext,
): Promise<QuestionReply> {
  const form = capabilities?.elicitation?.form;
  if (form === undefined || form === null) return REFUSED;
  const { schema, options, reason } = question;
  const { title } = questionHeading(question);
  const requestedSchema = schema ?? {
    type: "object",
    properties: { choice: { type: "string", enum: (options ?? []).map(({ value }) => value) } },
    required: ["choice"],
  };
  const answer = await client.request<{ readonly action: string; readonly content?: Json }>(
    methods.client.elicitation.create,
    { sessionId, mode: "form", message: revealInvisible(reason || title), requestedSchema },
    { cancellationSignal: signal, stopWaitingOnCancel: true },
  );
  if (answer.action !== "accept" || answer.content === undefined) return REFUSED;
  const { content } = answer;
  if (schema !== undefined) return { value: content };
  const { choice } = content as { readonly choice?: Json };
  return choice === undefined ? REFUSED : { value: choice };
}

import { fileURLToPath } from "node:url";
import {
  type AgentContext,
  type BlobResourceContents,
  type ClientCapabilities,
  type ContentBlock,
  methods,
  type PromptResponse,
  RequestError,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import type { CodingSession } from "../../coding/session/coding-session.ts";
import { toNanoAgentError } from "../../core/base/errors.ts";
import type { StopReason } from "../../core/base/stop-reason.ts";
import type { Input } from "../../core/message/input.ts";
import type { UserBlock } from "../../core/message/message.ts";
import type { Outcome } from "../../view/outcome.ts";
import type { Question } from "../../view/question.ts";
import { terminalLine } from "../../view/safe-text.ts";
import type { ToolItem, ViewItem } from "../../view/view.ts";
import { askClient, REFUSED } from "./ask-client.ts";
import { protocolError } from "./protocol-error.ts";
import { ViewPublisher } from "./updates.ts";

export class AcpSession {
  readonly session: CodingSession;
  readonly #client: AgentContext;
  readonly #capabilities: ClientCapabilities | undefined;
  readonly #publisher: ViewPublisher;
  /** Terminals of the editor that calls run in, by call. */
  readonly #terminals = new Map<string, string>();
  readonly #asking = new Set<string>();
  #running: AbortController | undefined;
  #commands = "[]";
  /** The notification that was begun last: they leave in order. */
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
      // The editor shows it from now on, and not first when the command has ended.
      this.#announce(event.callId);
    });
    session.onQuestion((question, signal) => this.#ask(question, signal));
  }

  /** Sends an update to the editor. Never throws: an editor that is gone hears nothing. */
  send(update: SessionUpdate): void {
    this.#sending = this.#client
      .notify(methods.client.session.update, { sessionId: this.session.id, update })
      .catch(() => undefined);
  }

  /** Sends the whole conversation again, and resolves when it has left. */
  async replay(): Promise<void> {
    this.#publisher.replay(this.session.view);
    await this.#sending;
  }

  /** Tells which commands a prompt can begin with, as far as the editor does not know it. */
  tellCommands(): void {
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

  /** Says something to the person that the model did not. */
  tell(text: string): void {
    this.send({
      sessionUpdate: "agent_message_chunk",
      content: { type: "text", text: `nano-agent: ${terminalLine(text, 2_000)}\n\n` },
    });
  }

  /**
   * One prompt to its end, or to that of the editor's request. Rejects with the protocol's error when it
   * failed, or when another is still running.
   */
  async prompt(blocks: readonly ContentBlock[], request: AbortSignal): Promise<PromptResponse> {
    if (this.#running !== undefined)
      throw RequestError.invalidRequest(
        undefined,
        "A prompt of this session is still running: cancel it or wait.",
      );
    // From here on, in the same turn of the event loop, a cancel finds it.
    const running = new AbortController();
    this.#running = running;
    const signal = AbortSignal.any([running.signal, request]);
    try {
      const input = promptInput(blocks);
      const left = this.session.questions.filter(({ id }) => !this.#asking.has(id));
      if (left.length > 0) await this.#askLeft(left, signal);
      if (signal.aborted) return { stopReason: "cancelled" };
      const outcome = await this.session.send(input, { signal });
      // Servers that came up meanwhile may have brought prompts.
      this.tellCommands();
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
   * Asks what an agent that was killed had asked, and goes on with the answers to the end: the message of a
   * prompt would refuse it unseen. A cancel leaves open what is not answered.
   */
  async #askLeft(left: readonly Question[], signal: AbortSignal): Promise<void> {
    const { session } = this;
    const before = session.lastOutcome;
    for (const question of left) await this.#askWhileOpen(question, signal);
    const isDone = (): boolean => signal.aborted || (session.lastOutcome !== before && !isAtWork(session));
    await untilDone(isDone, { session, signal });
    if (signal.aborted) await session.stop("The editor cancelled the prompt.");
  }

  /** A stop takes back the questions behind its own. */
  async #askWhileOpen(question: Question, prompt: AbortSignal): Promise<void> {
    const { session } = this;
    const taken = new AbortController();
    const look = (): void => {
      if (!session.questions.some(({ id }) => id === question.id)) taken.abort();
    };
    const off = session.onChange(look);
    look();
    const signal = AbortSignal.any([prompt, taken.signal]);
    if (!signal.aborted) await this.#ask(question, signal);
    off();
  }

  async #ask(question: Question, signal: AbortSignal): Promise<void> {
    const { session } = this;
    const [client, capabilities] = [this.#client, this.#capabilities];
    this.#asking.add(question.id);
    // The editor must know a call before it is asked about it.
    if (question.callId !== undefined) this.#announce(question.callId);
    await this.#sending;
    const place = { client, sessionId: session.id, cwd: session.info.cwd, capabilities, signal };
    const reply = await askClient(question, place);
    this.#asking.delete(question.id);
    if (signal.aborted) return;
    // A cancel is no answer, unless there is no prompt that it could be about.
    if (reply === undefined && this.#running !== undefined) this.cancel();
    // It may have been closed meanwhile, with the run it belonged to.
    else if (session.questions.some(({ id }) => id === question.id))
      session.answer(question.id, reply ?? REFUSED);
  }
}

/** A call, from the newest backwards, those of subagents included, and the subagent that made it. */
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

function isAtWork({ view: { state, run } }: CodingSession): boolean {
  return state === "running" || state === "stopping" || run !== undefined;
}

/** Resolves when something holds of a session, which is looked at with each change and at the abort. */
async function untilDone(
  isDone: () => boolean,
  { session, signal }: { readonly session: CodingSession; readonly signal: AbortSignal },
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  // An answer may have a run begin right behind the one that another answer has begun.
  const look = (): void => void setImmediate(() => isDone() && resolve());
  const off = session.onChange(look);
  signal.addEventListener("abort", look, { once: true });
  look();
  await promise;
  off();
}

const ENDS: { readonly [reason in StopReason]?: PromptResponse["stopReason"] } = {
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
  return { stopReason: ENDS[stopReason] ?? "end_turn" };
}

/** A prompt of an editor as input of a run: texts in one message, with the files it embeds; images. */
function promptInput(prompt: readonly ContentBlock[]): Input {
  const blocks = prompt.map(toBlock);
  // A plain text stays one, so that a command at its beginning is seen.
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
    // Not a file of this machine: the address itself says where it is.
    return uri;
  }
}

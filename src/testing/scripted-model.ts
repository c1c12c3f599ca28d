import { once } from "node:events";
import { abortError } from "../core/base/async.ts";
import { invalidArgument } from "../core/base/errors.ts";
import { parseToolInput } from "../core/base/json.ts";
import { type Message, textOf } from "../core/message/message.ts";
import type { Model, ModelCallOptions, ModelInfo, ModelRequest, StreamPart } from "../core/model/model.ts";
import { endingOf, piecesOf, Script, type ScriptPiece, type ScriptStep } from "./script.ts";

/** Options of {@link ScriptedModel}. */
export interface ScriptedModelOptions {
  /** Default `scripted`. */
  readonly provider?: string;
  /** Default `scripted`. */
  readonly id?: string;
  readonly info?: ModelInfo;
  /** Characters per delta; surrogate pairs stay whole. Default 16. */
  readonly chunkSize?: number;
}

/**
 * A model that plays a script: one step per request. An extra request fails with `script_mismatch`, and
 * {@link ScriptedModel.assertFinished} fails on a step left over, so a test notices a loop that asks once too
 * often or too rarely. A function instead of a list of steps answers every request. Calls without an id get
 * `call_1`, `call_2`… in the order they are played. Honours the signal: an aborted request fails with
 * `aborted` before its next part, even during a wait.
 */
export class ScriptedModel implements Model {
  readonly provider: string;
  readonly id: string;
  declare readonly info?: ModelInfo;
  /**
   * Every request so far, in order. Each is a copy whose `messages` and `tools` are frozen lists of the
   * original objects: the objects never change once sent ({@link ModelRequest}), but the original list may
   * still grow.
   */
  readonly requests: ModelRequest[] = [];
  readonly #script: Script<ScriptStep>;
  readonly #chunkSize: number;
  #calls = 0;

  constructor(
    steps: readonly ScriptStep[] | Extract<ScriptStep, (...args: never) => unknown>,
    options: ScriptedModelOptions = {},
  ) {
    const { provider = "scripted", id = "scripted", info, chunkSize = 16 } = options;
    if (!(chunkSize >= 1)) throw invalidArgument(`chunkSize is ${chunkSize}; it must be at least 1.`);
    this.provider = provider;
    this.id = id;
    if (info !== undefined) this.info = info;
    this.#script = new Script<ScriptStep>(steps);
    this.#chunkSize = chunkSize;
  }

  async *stream(
    request: ModelRequest,
    options: ModelCallOptions = {},
  ): AsyncGenerator<StreamPart, void, undefined> {
    const { signal } = options;
    throwIfAborted(signal);
    const step = this.#script.take(() => describeRequest(request));
    const index = this.requests.push(snapshot(request)) - 1;
    const pieces = piecesOf(typeof step === "function" ? await step(request, index) : step);
    let position = 0;
    for (const piece of pieces) {
      throwIfAborted(signal);
      if (piece.type === "waits") await waitFor(piece.until, signal);
      else if (piece.type === "fails") throw piece.error;
      else if (piece.type !== "finishes") {
        for (const part of this.#play(piece, position)) {
          throwIfAborted(signal);
          yield part;
        }
        position += 1;
      }
    }
    throwIfAborted(signal);
    yield { type: "finish", ...endingOf(pieces), model: this.id };
  }

  /** Throws `script_mismatch` if steps are left over. */
  assertFinished(): void {
    this.#script.assertFinished();
  }

  *#play(
    piece: Extract<ScriptPiece, { type: "says" | "thinks" | "calls" }>,
    index: number,
  ): Generator<StreamPart> {
    switch (piece.type) {
      case "says":
        for (const text of textChunks(piece.text, this.#chunkSize)) yield { type: "text_delta", index, text };
        return;
      case "thinks": {
        const { text: thinking, signature } = piece;
        for (const text of textChunks(thinking, this.#chunkSize))
          yield { type: "thinking_delta", index, text };
        if (signature !== undefined)
          yield { type: "block", index, block: { type: "thinking", thinking, signature } };
        return;
      }
      case "calls": {
        const id = piece.id ?? `call_${++this.#calls}`;
        const json = typeof piece.input === "string" ? piece.input : JSON.stringify(piece.input);
        const parsed = typeof piece.input === "string" ? parseToolInput(piece.input) : { input: piece.input };
        yield { type: "tool_call_start", index, id, name: piece.name };
        for (const chunk of textChunks(json, this.#chunkSize))
          yield { type: "tool_call_delta", index, json: chunk };
        yield { type: "block", index, block: { type: "tool_use", id, name: piece.name, ...parsed } };
      }
    }
  }
}

function snapshot(request: ModelRequest): ModelRequest {
  const copy = { ...request, messages: Object.freeze([...request.messages]) };
  return Object.freeze(
    request.tools === undefined ? copy : { ...copy, tools: Object.freeze([...request.tools]) },
  );
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw abortError(signal, "The request was aborted.");
}

/** Splits `text` into pieces of `size` characters, one more if a surrogate pair would be split. */
export function* textChunks(text: string, size: number): Generator<string> {
  for (let start = 0; start < text.length; ) {
    let end = start + size;
    const last = text.charCodeAt(end - 1);
    if (last >= 0xd800 && last <= 0xdbff) end += 1;
    yield text.slice(start, end);
    start = end;
  }
}

/** Settles like `until`, or rejects when `signal` is aborted. Leaves no listener behind. */
export async function waitFor(until: Promise<unknown> | AbortSignal, signal?: AbortSignal): Promise<void> {
  const done = new AbortController();
  const aborted = (each: AbortSignal): Promise<unknown> =>
    each.aborted ? Promise.resolve() : once(each, "abort", { signal: done.signal }).catch(() => undefined);
  const settles = until instanceof AbortSignal ? aborted(until) : until;
  try {
    await Promise.race([settles, ...(signal === undefined ? [] : [aborted(signal)])]);
  } finally {
    done.abort();
  }
  throwIfAborted(signal);
}

function describeRequest(request: ModelRequest): string {
  const last = request.messages.at(-1);
  const tools = request.tools?.map(({ name }) => name).join(", ") ?? "";
  const toolsText = tools === "" ? "without tools" : `with the tools ${tools}`;
  return last === undefined ? "a request without messages" : `${toolsText}, after ${describeMessage(last)}`;
}

function describeMessage(message: Message): string {
  const parts = message.content.map((block) => {
    if (block.type === "tool_result")
      return `tool_result ${JSON.stringify(textOf(block.content).slice(0, 80).toWellFormed())}`;
    if (block.type === "tool_use") return `tool_use ${block.name}`;
    return block.type === "text"
      ? `text ${JSON.stringify(block.text.slice(0, 80).toWellFormed())}`
      : block.type;
  });
  return `a ${message.role} message of ${parts.join(", ") || "nothing"}`;
}

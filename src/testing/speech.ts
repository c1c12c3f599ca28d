import { type NanoAgentError, toNanoAgentError } from "../core/base/errors.ts";
import { type Fields, parseToolInput } from "../core/base/json.ts";
import type { Usage } from "../core/message/message.ts";
import type { FinishReason } from "../core/model/model.ts";
import { endingOf, type ScriptPiece } from "./script.ts";
import { textChunks } from "./scripted-model.ts";

/** The rest of what a wire's speech depends on. */
export interface SpeechContext {
  /** Model the request asked for. */
  readonly model: string;
  /** Characters of one delta. */
  readonly chunkSize: number;
  /** True when the request asked for usage, where a wire asks. */
  readonly wantsUsage: boolean;
  /** Number of this answer, from 1, for ids. */
  readonly number: number;
  /** Id for a call that was scripted without one. */
  readonly nextCallId: () => string;
}

/** A piece of an event stream: its text, or a pause in it. */
export type Utterance = string | Extract<ScriptPiece, { type: "waits" }>;

/** Renders an answer into one wire's events. */
export type Speech = (pieces: readonly ScriptPiece[], context: SpeechContext) => Iterable<Utterance>;

/** A tool call as wires send it. */
export interface SpokenCall {
  readonly id: string;
  readonly name: string;
  /** JSON text of the arguments, as scripted. */
  readonly json: string;
  /** The arguments where they are an object. */
  readonly args: Fields | undefined;
}

/** A scripted call with its id and the text of its arguments. */
export function spokenCall(
  piece: Extract<ScriptPiece, { type: "calls" }>,
  context: SpeechContext,
): SpokenCall {
  const json = typeof piece.input === "string" ? piece.input : JSON.stringify(piece.input);
  const parsed = parseToolInput(json);
  const args = parsed.invalid_input === undefined ? parsed.input : undefined;
  return { id: piece.id ?? context.nextCallId(), name: piece.name, json, args };
}

/** The deltas of a text. */
export function deltas(text: string, context: SpeechContext): readonly string[] {
  return [...textChunks(text, context.chunkSize)];
}

/** How an answer ends: the scripted `raw` where it differs from the unified word, else the vendor's. */
export function spokenEnding(
  pieces: readonly ScriptPiece[],
  words: { readonly [K in FinishReason["unified"]]?: string },
): { readonly reason: string; readonly usage: Usage } {
  const { finishReason, usage } = endingOf(pieces);
  const { unified, raw } = finishReason;
  return { reason: raw === unified ? (words[unified] ?? raw) : raw, usage };
}

/** Code and message of a scripted failure. */
export function spokenError(piece: Extract<ScriptPiece, { type: "fails" }>): NanoAgentError {
  return toNanoAgentError(piece.error, "provider_error");
}

/** A server-sent event with a name, as JSON. */
export function namedEvent(name: string, data: Fields): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

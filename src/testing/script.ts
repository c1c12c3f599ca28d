import { type JsonObject, NanoAgentError } from "../core/base/errors.ts";
import { clipped, counted } from "../core/base/text.ts";
import type { ToolInput, Usage } from "../core/message/message.ts";
import type { FinishReason, ModelRequest } from "../core/model/model.ts";

/** Something a scripted answer does; plain data, made by {@link says}, {@link calls} and their like. */
export type ScriptPiece =
  | { readonly type: "says"; readonly text: string }
  | { readonly type: "thinks"; readonly text: string; readonly signature?: string }
  | {
      readonly type: "calls";
      readonly name: string;
      readonly input: ToolInput | string;
      readonly id?: string;
    }
  | { readonly type: "fails"; readonly error: Error }
  | { readonly type: "waits"; readonly until: Promise<unknown> | AbortSignal }
  | {
      readonly type: "finishes";
      readonly reason: FinishReason["unified"] | FinishReason;
      readonly usage?: Usage;
    };

/** One answer: a piece, or several in order. */
export type ScriptAnswer = ScriptPiece | readonly ScriptPiece[];

/** An answer, or a function that makes it from the request. `index` counts requests from 0. */
export type ScriptStep =
  | ScriptAnswer
  | ((request: ModelRequest, index: number) => ScriptAnswer | Promise<ScriptAnswer>);

/** The model writes text. */
export function says(text: string): ScriptPiece {
  return { type: "says", text };
}

/** The model reasons; `signature` is what its provider wants back with the block. */
export function thinks(text: string, signature?: string): ScriptPiece {
  return signature === undefined ? { type: "thinks", text } : { type: "thinks", text, signature };
}

/**
 * The model calls a tool. A string as `input` is sent as the JSON text of the arguments exactly as it is,
 * malformed or not. Without an `id` the double counts: `call_1`, `call_2`…
 */
export function calls(name: string, input: ToolInput | string = {}, id?: string): ScriptPiece {
  return id === undefined ? { type: "calls", name, input } : { type: "calls", name, input, id };
}

/** The request fails here, after what was streamed. A string is a `provider_error`. */
export function fails(error: Error | string): ScriptPiece {
  return {
    type: "fails",
    error: typeof error === "string" ? new NanoAgentError("provider_error", error) : error,
  };
}

/** The answer goes on when the promise settles (a rejection fails the request) or the signal is aborted. */
export function waits(until: Promise<unknown> | AbortSignal): ScriptPiece {
  return { type: "waits", until };
}

/** Why the answer ends and what it costs. Default: `tool_use` after a call, else `stop`. */
export function finishes(reason: FinishReason["unified"] | FinishReason, usage?: Usage): ScriptPiece {
  return usage === undefined ? { type: "finishes", reason } : { type: "finishes", reason, usage };
}

/** The cost of a scripted answer unless {@link finishes} says otherwise. */
export const SCRIPTED_USAGE: Usage = Object.freeze({ inputTokens: 100, outputTokens: 20 });

/** The pieces of an answer. */
export function piecesOf(answer: ScriptAnswer): readonly ScriptPiece[] {
  return Array.isArray(answer) ? (answer as readonly ScriptPiece[]) : [answer as ScriptPiece];
}

/** How an answer ends: as its last {@link finishes} says, else as its pieces make plausible. */
export function endingOf(pieces: readonly ScriptPiece[]): {
  readonly finishReason: FinishReason;
  readonly usage: Usage;
} {
  let unified: FinishReason["unified"] = "stop";
  let explicit: Extract<ScriptPiece, { type: "finishes" }> | undefined;
  for (const piece of pieces) {
    if (piece.type === "calls") unified = "tool_use";
    if (piece.type === "finishes") explicit = piece;
  }
  const reason = explicit?.reason ?? unified;
  return {
    finishReason: typeof reason === "string" ? { unified: reason, raw: reason } : reason,
    usage: explicit?.usage ?? SCRIPTED_USAGE,
  };
}

/**
 * The steps of a script and how far it has come. Every double that plays one uses it, so that they fail
 * alike: on a request too many and on a step left over. A single step that is a function instead of a list
 * answers every request.
 */
export class Script<Step> {
  readonly #steps: readonly Step[] | ((...args: never) => unknown);
  #taken = 0;

  constructor(steps: readonly Step[] | (Step & ((...args: never) => unknown))) {
    this.#steps = steps;
  }

  /** Requests so far. */
  get taken(): number {
    return this.#taken;
  }

  /** The next step. `asked` describes the request, for the `script_mismatch` when there is none. */
  take(asked: () => string): Step {
    const steps = this.#steps;
    if (typeof steps === "function") {
      this.#taken += 1;
      return steps as Step;
    }
    const step = steps[this.#taken];
    if (step === undefined) {
      throw mismatch(
        `The script has ${counted(steps.length, "step")} and was asked for one more: ${asked()}. It played ${describeSteps(steps)}. Add a step, or find out why the model is asked again.`,
        { steps: steps.length, asked: asked() },
      );
    }
    this.#taken += 1;
    return step;
  }

  /** Throws `script_mismatch` when steps are left over. */
  assertFinished(): void {
    if (typeof this.#steps === "function") return;
    const left = this.#steps.length - this.#taken;
    if (left === 0) return;
    throw mismatch(
      `The script has ${counted(this.#steps.length, "step")} but was asked for ${this.#taken}; left over: ${describeSteps(this.#steps.slice(this.#taken))}.`,
      { steps: this.#steps.length, taken: this.#taken },
    );
  }
}

/** The error for requests that are not those a double was made for. */
export function mismatch(message: string, details: JsonObject = {}): NanoAgentError {
  return new NanoAgentError("script_mismatch", message, { details });
}

/** The first and last ones of a long script stand for all. */
function describeSteps(steps: readonly unknown[]): string {
  const shown = steps.map(describeStep);
  if (shown.length > 8) shown.splice(4, shown.length - 8, `${shown.length - 8} more`);
  return shown.join(", ") || "nothing";
}

function describeStep(step: unknown): string {
  if (typeof step === "function") return "a function";
  const pieces: readonly unknown[] = Array.isArray(step) ? step : [step];
  return pieces.map(describePiece).join(" + ");
}

function describePiece(piece: unknown): string {
  if (typeof piece !== "object" || piece === null || !("type" in piece)) return String(piece);
  const detail =
    "name" in piece ? piece.name : "text" in piece ? JSON.stringify(clipped(String(piece.text), 40)) : "";
  return `${String(piece.type)}(${String(detail)})`;
}

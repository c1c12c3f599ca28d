import { type JsonObject, NanoAgentError } from "../core/base/errors.ts";
import { pluralize, truncateEnd } from "../core/base/text.ts";
import type { ToolInput, Usage } from "../core/message/message.ts";
import type { FinishReason, ModelRequest } from "../core/model/model.ts";

/** A step of a scripted answer; plain data, made by {@link says}, {@link calls} and similar functions. */
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

/** An answer, or a function that creates it from the request. `index` counts requests from 0. */
export type ScriptStep =
  | ScriptAnswer
  | ((request: ModelRequest, index: number) => ScriptAnswer | Promise<ScriptAnswer>);

/** The model writes text. */
export function says(text: string): ScriptPiece {
  return { type: "says", text };
}

/** The model reasons; `signature` is the value the provider expects back with the block. */
export function thinks(text: string, signature?: string): ScriptPiece {
  return signature === undefined ? { type: "thinks", text } : { type: "thinks", text, signature };
}

/**
 * The model calls a tool. A string as `input` is sent unchanged as the arguments' JSON text, malformed or
 * not. Calls without an `id` are numbered: `call_1`, `call_2`…
 */
export function calls(name: string, input: ToolInput | string = {}, id?: string): ScriptPiece {
  return id === undefined ? { type: "calls", name, input } : { type: "calls", name, input, id };
}

/** The request fails here, after the parts already streamed. A string becomes a `provider_error`. */
export function fails(error: Error | string): ScriptPiece {
  return {
    type: "fails",
    error: typeof error === "string" ? new NanoAgentError("provider_error", error) : error,
  };
}

/** The answer continues once the promise settles (a rejection fails the request) or the signal is aborted. */
export function waits(until: Promise<unknown> | AbortSignal): ScriptPiece {
  return { type: "waits", until };
}

/** Why the answer ends and how many tokens it used. Default: `tool_use` after a call, else `stop`. */
export function finishes(reason: FinishReason["unified"] | FinishReason, usage?: Usage): ScriptPiece {
  return usage === undefined ? { type: "finishes", reason } : { type: "finishes", reason, usage };
}

/** Usage of a scripted answer unless {@link finishes} says otherwise. */
export const SCRIPTED_USAGE: Usage = Object.freeze({ inputTokens: 100, outputTokens: 20 });

export function piecesOf(answer: ScriptAnswer): readonly ScriptPiece[] {
  return Array.isArray(answer) ? (answer as readonly ScriptPiece[]) : [answer as ScriptPiece];
}

/** How an answer ends: as its last {@link finishes} says, else as its pieces suggest. */
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
 * The steps of a script and its progress. Used by every double that plays one, so that all fail alike on an
 * extra request and on a step left over. A single function instead of a list answers every request.
 */
export class Script<Step> {
  readonly #steps: readonly Step[] | ((...args: never) => unknown);
  #taken = 0;

  constructor(steps: readonly Step[] | (Step & ((...args: never) => unknown))) {
    this.#steps = steps;
  }

  /** Number of requests so far. */
  get taken(): number {
    return this.#taken;
  }

  /** Returns the next step. `describeRequest` is called if none is left (`script_mismatch`). */
  take(describeRequest: () => string): Step {
    const steps = this.#steps;
    if (typeof steps === "function") {
      this.#taken += 1;
      return steps as Step;
    }
    const step = steps[this.#taken];
    if (step === undefined) {
      throw mismatch(
        `The script has ${pluralize(steps.length, "step")} and was asked for one more: ${describeRequest()}. It played ${describeSteps(steps)}. Add a step, or find out why the model is asked again.`,
        { steps: steps.length, asked: describeRequest() },
      );
    }
    this.#taken += 1;
    return step;
  }

  /** Throws `script_mismatch` if steps are left over. */
  assertFinished(): void {
    if (typeof this.#steps === "function") return;
    const left = this.#steps.length - this.#taken;
    if (left === 0) return;
    throw mismatch(
      `The script has ${pluralize(this.#steps.length, "step")} but was asked for ${this.#taken}; left over: ${describeSteps(this.#steps.slice(this.#taken))}.`,
      { steps: this.#steps.length, taken: this.#taken },
    );
  }
}

export function mismatch(message: string, details: JsonObject = {}): NanoAgentError {
  return new NanoAgentError("script_mismatch", message, { details });
}

/** Lists steps; a long script is shortened to its first and last ones. */
function describeSteps(steps: readonly unknown[]): string {
  const texts = steps.map(describeStep);
  if (texts.length > 8) texts.splice(4, texts.length - 8, `${texts.length - 8} more`);
  return texts.join(", ") || "nothing";
}

function describeStep(step: unknown): string {
  if (typeof step === "function") return "a function";
  const pieces: readonly unknown[] = Array.isArray(step) ? step : [step];
  return pieces.map(describePiece).join(" + ");
}

function describePiece(piece: unknown): string {
  if (typeof piece !== "object" || piece === null || !("type" in piece)) return String(piece);
  const detail =
    "name" in piece ? piece.name : "text" in piece ? JSON.stringify(truncateEnd(String(piece.text), 40)) : "";
  return `${String(piece.type)}(${String(detail)})`;
}

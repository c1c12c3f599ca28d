import type { AgentEvent, ToolUpdateEvent } from "../core/agent/entries.ts";
import type { Redaction } from "../core/base/text.ts";

/**
 * Takes secrets out of the texts of a run that come in pieces, of which each alone holds none. A word is
 * passed on once it is whole; the last one comes with the entry that holds all of the text.
 */
export class PieceRedaction {
  readonly #redaction: Redaction | undefined;
  /** By what says them: an answer and its parts, a call. */
  readonly #texts = new Map<string, Map<number, TextInPieces>>();

  constructor(redaction: Redaction | undefined) {
    this.#redaction = redaction;
  }

  /** The event as it may be shown; `undefined` where no part of it is certain yet. */
  event(event: AgentEvent, owner = ""): AgentEvent | undefined {
    if (this.#redaction === undefined) return event;
    if (ENDS_OF_ANSWERS.has(event.type)) this.#texts.delete(owner);
    if (event.type === "tool_result") this.#texts.delete(`${owner}${event.callId}`);
    switch (event.type) {
      case "subagent": {
        const inner = this.event(event.event, `${owner}${event.callId} ${event.number ?? 1} `);
        return inner && { ...event, event: inner };
      }
      case "text_delta":
      case "thinking_delta": {
        const text = this.#push(owner, event.text, event.index);
        return text === "" ? undefined : { ...event, text };
      }
      case "tool_call_delta": {
        const json = this.#push(owner, event.json, event.index);
        return json === "" ? undefined : { ...event, json };
      }
      case "tool_update":
        return this.#update(event, owner);
      default:
        return event;
    }
  }

  #update({ text: piece, ...rest }: ToolUpdateEvent, owner: string): AgentEvent | undefined {
    const text = piece === undefined ? "" : this.#push(`${owner}${rest.callId}`, piece);
    if (text !== "") return { ...rest, text };
    return rest.metadata === undefined ? undefined : rest;
  }

  #push(owner: string, piece: string, index = 0): string {
    let texts = this.#texts.get(owner);
    if (texts === undefined) this.#texts.set(owner, (texts = new Map()));
    let text = texts.get(index);
    if (text === undefined) texts.set(index, (text = new TextInPieces(this.#redaction as Redaction)));
    return text.push(piece);
  }
}

/** Events that begin or end an answer; entries of others come in the middle of one too. */
const ENDS_OF_ANSWERS: ReadonlySet<string> = new Set(["turn_start", "retry", "assistant_message", "run_end"]);

/** A line is looked at again with each of its words, back to so many characters. */
const MAX_CONTEXT = 1_000;
/** Longer than any secret in one word. */
const MAX_WORD = 8_000;
/** Longer than any key in many lines. */
const MAX_KEY = 64_000;

class TextInPieces {
  readonly #redaction: Redaction;
  /** Words that were passed on, for what they make of those behind them. */
  #context = "";
  #held = "";

  constructor(redaction: Redaction) {
    this.#redaction = redaction;
  }

  push(piece: string): string {
    this.#held += piece;
    const end = this.#certainEnd();
    if (end === 0) return "";
    const before = this.#redaction.text(this.#context);
    const context = this.#context + this.#held.slice(0, end);
    const shown = this.#redaction.text(context);
    this.#held = this.#held.slice(end);
    this.#context = context.slice(Math.max(context.lastIndexOf("\n") + 1, context.length - MAX_CONTEXT));
    let same = 0;
    while (same < before.length && before[same] === shown[same]) same++;
    return shown.slice(same);
  }

  /** The end of the last word that is whole; of a key in several lines all is held. */
  #certainEnd(): number {
    const key = this.#held.lastIndexOf("-----BEGIN");
    const isOpen = key >= 0 && !this.#held.includes("-----END", key) && this.#held.length < MAX_KEY;
    const text = isOpen ? this.#held.slice(0, key) : this.#held;
    // Not all languages have blanks between words, and no secret has letters of theirs.
    const end = text.search(/[^\x21-\x7e][\x21-\x7e]*$/) + 1;
    return end === 0 && text.length > MAX_WORD ? text.length : end;
  }
}

import type { AgentEvent } from "../core/agent/event.ts";
import type { Redaction } from "../core/base/redaction.ts";

/**
 * Takes secrets out of the texts of a run that come in pieces, of which each alone holds none. A word is
 * passed on once it is whole; the last one comes with the entry that holds all of the text.
 */
export class PieceRedaction {
  readonly #redaction: Redaction | undefined;
  readonly #texts = new Map<string, TextInPieces>();

  constructor(redaction: Redaction | undefined) {
    this.#redaction = redaction;
  }

  /** The event as it may be shown; `undefined` where no part of it is certain yet. */
  event(event: AgentEvent, owner = ""): AgentEvent | undefined {
    if (this.#redaction === undefined) return event;
    if ("parent" in event || event.type === "turn_start") this.#forget(owner);
    switch (event.type) {
      case "subagent": {
        const inner = this.event(event.event, `${owner}${event.callId} ${event.number ?? 1} `);
        return inner && { ...event, event: inner };
      }
      case "text_delta":
      case "thinking_delta": {
        const text = this.#push(`${owner}${event.index}`, event.text);
        return text === "" ? undefined : { ...event, text };
      }
      case "tool_call_delta": {
        const json = this.#push(`${owner}${event.index}`, event.json);
        return json === "" ? undefined : { ...event, json };
      }
      default:
        return event;
    }
  }

  #push(key: string, piece: string): string {
    let text = this.#texts.get(key);
    if (text === undefined) this.#texts.set(key, (text = new TextInPieces(this.#redaction as Redaction)));
    return text.push(piece);
  }

  #forget(owner: string): void {
    for (const key of this.#texts.keys()) if (key.startsWith(owner)) this.#texts.delete(key);
  }
}

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

import type { AgentEvent, ToolUpdateEvent } from "../core/agent/entries.ts";
import type { Json } from "../core/base/errors.ts";
import { revealInvisible } from "../core/base/hidden-characters.ts";
import { omitUndefined } from "../core/base/json.ts";
import type { Redaction } from "../core/base/text.ts";
import { redactJson } from "../core/tool/tool-output.ts";
import type { Question } from "../view/question.ts";
import type { QuestionAnswer, SessionDetail, StreamItem } from "./server-api.ts";

/** Makes output safe to show: no secrets anywhere, no invisible characters in questions. */
export class Presenter {
  readonly #redaction: Redaction | undefined;
  readonly #known: Pick<Redaction, "text">;

  constructor(redaction: Redaction | undefined) {
    this.#redaction = redaction && withCache(redaction);
    this.#known = { text: (text) => redaction?.known?.(text) ?? text };
  }

  value<T>(value: T): T {
    if (this.#redaction === undefined) return value;
    return redactJson(this.#redaction, value as unknown as Json) as unknown as T;
  }

  /**
   * A question for a person to decide: invisible characters are shown, and only known secrets removed. Values
   * that serve as answers stay unchanged.
   */
  question<Q extends Question>(question: Q): Q {
    const { schema, options, ...rest } = redactJson(this.#known, question as unknown as Json) as unknown as Q;
    const labelled = options?.map(({ value, label }) => ({ value, label: revealInvisible(label) }));
    return { ...(revealHidden(rest) as Q), ...omitUndefined({ schema, options: labelled }) };
  }

  detail(detail: SessionDetail): SessionDetail {
    const { questions, ...rest } = detail;
    return { ...this.value(rest), questions: questions.map((question) => this.question(question)) };
  }

  item(item: StreamItem): StreamItem {
    if (item.type === "entry") return { type: "entry", entry: this.value(item.entry) };
    const { passing } = item;
    if (passing.type === "question")
      return { type: "passing", passing: { type: "question", question: this.question(passing.question) } };
    return { type: "passing", passing: this.value(passing) };
  }

  /** Converts an answer given in the displayed text back to the original text of the question. */
  originalAnswer(answer: QuestionAnswer, question: Question): QuestionAnswer {
    const { rule, value, ...rest } = answer;
    const rules = question.choices.map((choice) => choice.rule).filter((each) => each !== undefined);
    const own = rules.find((each) => revealHidden(this.#known.text(each)) === rule) ?? rule;
    return { ...rest, ...omitUndefined({ rule: own, value: value && this.#originalValue(value, question) }) };
  }

  #originalValue(value: Json, { schema, options }: Question): Json {
    const originals = new Map<string, string>();
    const text = (own: string): string => {
      const shown = this.#known.text(own);
      originals.set(shown, own);
      return shown;
    };
    redactJson({ text }, { schema, options });
    return redactJson({ text: (shown) => originals.get(shown) ?? shown }, value);
  }
}

/** Short text such as types, names and ids is repeated often. */
const SHORT = 64;
const MAX_KNOWN = 10_000;

/** A redaction that checks each short text only once. */
function withCache(redaction: Redaction): Redaction {
  const known = new Map<string, string>();
  return {
    stream: () => redaction.stream(),
    text: (text) => {
      if (text.length > SHORT) return redaction.text(text);
      let shown = known.get(text);
      if (shown !== undefined) return shown;
      shown = redaction.text(text);
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(text, shown);
      return shown;
    },
  };
}

function revealHidden(value: unknown): unknown {
  if (typeof value === "string") return revealInvisible(value);
  if (Array.isArray(value)) return value.map(revealHidden);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [revealInvisible(name), revealHidden(field)]),
  );
}

/**
 * Removes secrets from a run's streamed text, whose pieces may hold only parts of one. A word is passed on
 * once it is complete; the last one comes with the entry that holds the whole text.
 */
export class StreamRedactor {
  readonly #redaction: Redaction | undefined;
  /** By the source of the text: an answer and its parts, a call. */
  readonly #texts = new Map<string, Map<number, ChunkedText>>();

  constructor(redaction: Redaction | undefined) {
    this.#redaction = redaction;
  }

  /** The redacted event; `undefined` while no part of it is certain. */
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
    if (text === undefined) texts.set(index, (text = new ChunkedText(this.#redaction as Redaction)));
    return text.push(piece);
  }
}

/** Events that begin or end an answer; other entries also come in the middle of one. */
const ENDS_OF_ANSWERS: ReadonlySet<string> = new Set(["turn_start", "retry", "assistant_message", "run_end"]);

/** Characters of the line that are checked again with each new word. */
const MAX_CONTEXT = 1_000;
/** Longer than any secret in one word. */
const MAX_WORD = 8_000;
/** Longer than any key in many lines. */
const MAX_KEY = 64_000;

class ChunkedText {
  readonly #redaction: Redaction;
  /** Words already passed on, which may affect the redaction of later ones. */
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

  /** The end of the last complete word. Holds back an unfinished multi-line key entirely. */
  #certainEnd(): number {
    const key = this.#held.lastIndexOf("-----BEGIN");
    const isOpen = key >= 0 && !this.#held.includes("-----END", key) && this.#held.length < MAX_KEY;
    const text = isOpen ? this.#held.slice(0, key) : this.#held;
    // Not all languages put blanks between words, and secrets contain none of their letters.
    const end = text.search(/[^\x21-\x7e][\x21-\x7e]*$/) + 1;
    return end === 0 && text.length > MAX_WORD ? text.length : end;
  }
}

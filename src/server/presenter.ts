import type { Json } from "../core/base/errors.ts";
import { defined } from "../core/base/json.ts";
import type { Redaction } from "../core/base/text.ts";
import { redactJson } from "../core/tool/tool-output.ts";
import { withHiddenShown } from "../permission/hidden-characters.ts";
import type { Question } from "../view/question.ts";
import type { QuestionAnswer, SessionDetail, StreamItem } from "./server-api.ts";

/** Makes what is sent fit to be seen: no secret in anything, no sign in a question that cannot be seen. */
export class Presenter {
  readonly #redaction: Redaction | undefined;
  readonly #known: Pick<Redaction, "text">;

  constructor(redaction: Redaction | undefined) {
    this.#redaction = redaction && remembering(redaction);
    this.#known = { text: (text) => redaction?.known?.(text) ?? text };
  }

  /** The value without secrets. */
  value<T>(value: T): T {
    if (this.#redaction === undefined) return value;
    return redactJson(this.#redaction, value as unknown as Json) as unknown as T;
  }

  /**
   * A question as a person may decide on it: what does not show is visible, and nothing is taken out but
   * secrets that are known. Values that are answered with stay as they are.
   */
  question<Q extends Question>(question: Q): Q {
    const { schema, options, ...rest } = redactJson(this.#known, question as unknown as Json) as unknown as Q;
    const offered = options?.map(({ value, label }) => ({ value, label: withHiddenShown(label) }));
    return { ...(visible(rest) as Q), ...defined({ schema, options: offered }) };
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

  /** An answer in the words of the question itself, where it was given in those that were shown. */
  answerBehind(answer: QuestionAnswer, question: Question): QuestionAnswer {
    const { rule, value, ...rest } = answer;
    const offered = question.choices.map((choice) => choice.rule).filter((each) => each !== undefined);
    const own = offered.find((each) => visible(this.#known.text(each)) === rule) ?? rule;
    return { ...rest, ...defined({ rule: own, value: value && this.#valueBehind(value, question) }) };
  }

  #valueBehind(value: Json, { schema, options }: Question): Json {
    const behind = new Map<string, string>();
    const text = (own: string): string => {
      const shown = this.#known.text(own);
      behind.set(shown, own);
      return shown;
    };
    redactJson({ text }, { schema, options });
    return redactJson({ text: (shown) => behind.get(shown) ?? shown }, value);
  }
}

/** Texts as short as types, names and ids come again and again. */
const SHORT = 64;
const MAX_KNOWN = 10_000;

/** A redaction that looks at a short text once. */
function remembering(redaction: Redaction): Redaction {
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

function visible(value: unknown): unknown {
  if (typeof value === "string") return withHiddenShown(value);
  if (Array.isArray(value)) return value.map(visible);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [withHiddenShown(name), visible(field)]),
  );
}

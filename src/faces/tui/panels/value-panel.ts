import type { Question, QuestionReply } from "../../../app/coding-session/question.ts";
import type { Json } from "../../../core/base/errors.ts";
import { type Fields, isRecord } from "../../../core/base/json.ts";
import type { JsonSchema } from "../../../core/base/schema.ts";
import { withHiddenShown } from "../../../permission/hidden-characters.ts";
import { type Editor, EMPTY_EDITOR } from "../editor/editor.ts";
import { editorRows } from "../editor/editor-rows.ts";
import { editLine } from "../editor/keymap.ts";
import { line, span, wrapLine } from "../paint/line.ts";
import type { TerminalEvent } from "../terminal/key.ts";
import { keysLine } from "../views/list-lines.ts";
import type { ViewContext } from "../views/view-context.ts";
import type { Panel, PanelRows } from "./panel.ts";

interface Field {
  /** Undefined: the value itself, which is no object. */
  readonly name: string | undefined;
  readonly label: string;
  readonly type: string;
  readonly options: readonly string[];
  readonly isRequired: boolean;
}

/** Options of a {@link ValuePanel}. */
export interface ValuePanelOptions {
  readonly question: Question;
  readonly answer: (id: string, reply: QuestionReply) => void;
}

/** Asks for a value that fits a schema, one field after the other. Escape refuses. */
export class ValuePanel implements Panel {
  readonly question: Question;
  readonly #answer: ValuePanelOptions["answer"];
  readonly #fields: readonly Field[];
  readonly #values: { [name: string]: Json } = {};
  #at = 0;
  #editor: Editor = EMPTY_EDITOR;
  #fault = "";

  constructor({ question, answer }: ValuePanelOptions) {
    this.question = question;
    this.#answer = answer;
    this.#fields = fieldsOf(question.schema ?? {});
  }

  draw({ width, marks }: ViewContext, maxRows: number): PanelRows {
    const field = this.#fields[this.#at];
    const head = wrapLine([span(withHiddenShown(this.question.reason), { role: "warning", bold: true })], {
      width,
      first: line("? "),
    });
    const options =
      field === undefined || field.options.length === 0
        ? []
        : [line(`  one of: ${withHiddenShown(field.options.join(", "))}`, { role: "muted" })];
    const fault = this.#fault === "" ? [] : [line(`  ${this.#fault}`, { role: "bad" })];
    const prompt = span(`${withHiddenShown(field?.label ?? "")} ${marks.prompt} `, { role: "accent" });
    const { rows, caret } = editorRows(this.#editor, {
      width,
      maxRows: 4,
      prompt,
      placeholder: field?.isRequired === true ? "" : "empty: leave it out",
      marks,
    });
    // Who asks stays, however long the text of a server is.
    const [first = [], ...more] = [...head, ...options, ...fault];
    const room = Math.max(0, maxRows - rows.length - 2);
    const above = [first, ...more.slice(Math.max(0, more.length - room))];
    const place = `${this.#at + 1} of ${this.#fields.length}`;
    const keys = keysLine([place, "enter goes on", "esc refuses"], { marks, width });
    return {
      rows: [...above, ...rows, keys],
      caret: { row: above.length + caret.row, column: caret.column },
    };
  }

  /** Keys are typed into a field here; none of them lets anything run. */
  disturb(): void {
    this.#fault = "";
  }

  handle(event: TerminalEvent): void {
    const key = event.type === "key" ? event.key : "";
    if (key === "escape" || key === "ctrl+c") this.#answer(this.question.id, { choice: "no" });
    else if (key === "enter") this.#take();
    else this.#editor = editLine(this.#editor, event);
  }

  #take(): void {
    const field = this.#fields[this.#at];
    if (field === undefined) return;
    const read = valueOf(this.#editor.text.trim(), field);
    this.#fault = "fault" in read ? read.fault : "";
    if ("fault" in read) return;
    if (field.name === undefined) {
      this.#answer(this.question.id, { value: read.value ?? "" });
      return;
    }
    if (read.value !== undefined) this.#values[field.name] = read.value;
    this.#editor = EMPTY_EDITOR;
    this.#at++;
    if (this.#at === this.#fields.length) this.#answer(this.question.id, { value: this.#values });
  }
}

function fieldsOf(schema: JsonSchema): readonly Field[] {
  const { properties, required } = schema;
  if (!isRecord(properties) || Object.keys(properties).length === 0)
    return [fieldOf(undefined, schema, true)];
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(properties).map(([name, property]) =>
    fieldOf(name, isRecord(property) ? property : {}, needed.includes(name)),
  );
}

function fieldOf(name: string | undefined, property: Fields, isRequired: boolean): Field {
  const { type, title, description } = property;
  const values: readonly unknown[] = Array.isArray(property["enum"]) ? property["enum"] : [];
  const label = [title, description, name, "Value"].find((each) => typeof each === "string" && each !== "");
  return {
    name,
    label: withHiddenShown(String(label)).slice(0, 60),
    type: typeof type === "string" ? type : "string",
    options: values.map(String),
    isRequired,
  };
}

function valueOf(
  text: string,
  { type, options, isRequired }: Field,
): { readonly value: Json | undefined } | { readonly fault: string } {
  if (text === "") return isRequired ? { fault: "A value is needed here." } : { value: undefined };
  if (options.length > 0 && !options.includes(text)) return { fault: `Write one of: ${options.join(", ")}.` };
  if (type === "boolean")
    return /^(?:y|yes|true|n|no|false)$/i.test(text)
      ? { value: /^[yt]/i.test(text) }
      : { fault: "Write yes or no." };
  if (type !== "number" && type !== "integer") return { value: text };
  const number = Number(text);
  const fits = Number.isFinite(number) && (type === "number" || Number.isInteger(number));
  return fits
    ? { value: number }
    : { fault: type === "integer" ? "Write a whole number." : "Write a number." };
}

import type { CodingSession } from "../../coding/session/coding-session.ts";
import { revealInvisible } from "../../core/base/hidden-characters.ts";
import type { Question, QuestionReply } from "../../view/question.ts";
import { questionKind } from "../../view/question-kind.ts";
import { fieldHint, ValueForm } from "../../view/value-form.ts";
import { plainText } from "./line-drawer.ts";
import { type Line, line } from "./paint/line.ts";
import { type OpenedPanel, TYPE_AHEAD_MS } from "./panels/panel.ts";
import { SessionScreen } from "./screen.ts";
import type { TerminalEvent } from "./tty/key.ts";
import { numberedReply, wholeQuestion } from "./views/question-lines.ts";

/** The prompt appears after this long without other output. */
const PROMPT_MS = 50;

/** Lines that are never a value, even if one is asked for. */
const SCREEN_COMMANDS = /^\/(?:stop|quit|exit)\s*$/;

/**
 * The screen as lines: never redraws, never moves the cursor. Questions and lists are numbered, and the next
 * line typed answers them.
 */
export class PlainScreen extends SessionScreen {
  protected override readonly greeting: readonly Line[] = [line("Write a message, or /help.")];
  /** The question last written. */
  #asked: Question | undefined;
  /** The form for the value asked for, unless the question is a choice. */
  #form: ValueForm | undefined;
  /** When the question was written. */
  #askedAt = 0;
  /** The question that the person's line answered, or ended with its run. */
  #settledId: string | undefined;
  /** A question or list was closed by the program: the next line may have been meant for it. */
  #isStale = false;
  #panel: OpenedPanel | undefined;
  /** Takes the next line for the panel. */
  #takeLine: ((text: string) => void) | undefined;
  #typed = "";
  #isPrompting = false;
  #isWorking = false;
  #timer: NodeJS.Timeout | undefined;

  get hasPanel(): boolean {
    return this.#panel !== undefined || this.#asked !== undefined;
  }

  override attach(session: CodingSession, how: { readonly isResumed: boolean }): void {
    this.#asked = undefined;
    this.#form = undefined;
    this.#isStale = false;
    super.attach(session, how);
  }

  handle(event: TerminalEvent): void {
    if (event.type === "text") this.#typed += event.text;
    if (event.type !== "key") return;
    if (event.key === "ctrl+d") this.options.onAction("leave", "");
    else if (event.key === "enter") {
      this.#isPrompting = false;
      const text = this.#typed;
      this.#typed = "";
      this.#take(text);
    }
    this.draw();
  }

  hint(text: string): void {
    this.print([line(`(${text})`)]);
  }

  open(panel: OpenedPanel): void {
    this.#panel = panel;
    const { rows, take } = panel.plain(this.context);
    this.#takeLine = take;
    this.print(rows);
    if (take === undefined) panel.handle({ type: "key", key: "escape" });
  }

  close(): void {
    this.#panel = undefined;
    this.#takeLine = undefined;
    // A number too high for the list does not answer a question above it.
    this.#askedAt = this.options.clock.elapsed();
  }

  draw(): void {
    if (this.isPaused) return;
    const { question } = this;
    this.#write(this.advance().final);
    if (question?.id !== this.#asked?.id) {
      if (this.#asked !== undefined && this.#asked.id !== this.#settledId) this.#reportClosed("question");
      this.#form = undefined;
      if (question !== undefined) this.#ask(question);
      this.#asked = question;
    }
    const isWorking = this.session?.view.run !== undefined;
    if (isWorking && !this.#isWorking) this.#write([line("(working; /stop ends it)")]);
    this.#isWorking = isWorking;
    this.#promptSoon();
  }

  #reportClosed(what: "question" | "list"): void {
    this.#isStale = true;
    this.#write([line(`(the ${what} is closed)`)]);
  }

  #ask(question: Question): void {
    // The next number must not answer a list above, nor a number meant for the list answer the question.
    if (this.#panel !== undefined) {
      this.#panel.handle({ type: "key", key: "escape" });
      this.#reportClosed("list");
    }
    this.#askedAt = this.options.clock.elapsed();
    const { type, schema = {} } = question;
    this.#form = type === "elicitation" ? new ValueForm(schema) : undefined;
    if (this.#form === undefined)
      this.#write([
        ...wholeQuestion(question, this.context),
        line("Number (for a refusal with a reason: its number, a blank, the reason):"),
      ]);
    else if (questionKind(question) === "ask")
      this.#write([
        line("(/no gives no answer, /back goes back to the question before)"),
        ...this.#fieldRows,
      ]);
    else
      this.#write([
        ...wholeQuestion({ ...question, choices: [] }, this.context),
        line("(/no refuses, /back goes back to the field before)"),
        ...this.#fieldRows,
      ]);
  }

  get #fieldRows(): readonly Line[] {
    const field = this.#form?.field;
    if (field === undefined) return [line("An empty line says yes:")];
    const notes = [field.note, fieldHint(field)].filter((each) => each !== undefined);
    const text = `${field.label}${notes.length === 0 ? "" : ` (${notes.join("; ")})`}:`;
    const rows = field.isOpen
      ? field.options.map(
          (each, at) => `${at + 1}. ${each.label}${each.note === undefined ? "" : `: ${each.note}`}`,
        )
      : [];
    return [text, ...rows].map((row) => line(revealInvisible(row).replaceAll(/\s+/g, " ")));
  }

  /** Prompts once output has paused: the last line may have started something. */
  #promptSoon(): void {
    clearTimeout(this.#timer);
    if (this.#isPrompting) return;
    this.#timer = setTimeout(() => {
      const isWorking = this.session?.view.run !== undefined;
      if (this.isPaused || this.session === undefined || (isWorking && !this.hasPanel)) return;
      this.options.terminal.write("> ");
      this.#isPrompting = true;
    }, PROMPT_MS);
  }

  pause(): void {
    this.isPaused = true;
    clearTimeout(this.#timer);
  }

  finish(lines: readonly Line[]): void {
    if (this.isPaused) return;
    const { final, live } = this.advance(true);
    this.#write([...final, ...live(), ...lines]);
    if (this.#isPrompting) this.options.terminal.write("\n");
    this.pause();
  }

  #take(text: string): void {
    const question = this.#asked;
    const isStale = this.#isStale;
    this.#isStale = false;
    const isCommand = this.#form === undefined ? text.startsWith("/") : SCREEN_COMMANDS.test(text);
    if (this.#takeLine !== undefined) this.#takeLine(text);
    else if (isCommand || question === undefined) {
      if (!isCommand && this.#isTooSoon(isStale)) return;
      if (SCREEN_COMMANDS.test(text)) this.#settledId = question?.id;
      this.input.replace(text);
      this.options.onAction("send", "");
    } else if (this.#isTooSoon(isStale)) return;
    else if (this.#form !== undefined) this.#fill(question, this.#form, text);
    else {
      const reply = numberedReply(question, text);
      if (reply === undefined) this.#write([line("(write the number of one of the answers)")]);
      else this.#reply(question, reply);
    }
  }

  /** True if the line may have been begun for an earlier prompt. */
  #isTooSoon(isStale: boolean): boolean {
    const isTooSoon =
      this.#asked !== undefined && this.options.clock.elapsed() - this.#askedAt < TYPE_AHEAD_MS;
    if (isStale) this.#write([line("(That prompt has closed. Please enter it again.)")]);
    else if (isTooSoon) this.#write([line("(This came too soon to be an answer. Please enter it again.)")]);
    return isStale || isTooSoon;
  }

  #fill(question: Question, form: ValueForm, text: string): void {
    const word = text.trim();
    const taken = word === "/back" || word === "/no" ? undefined : form.take(text);
    if (word === "/back") form.back();
    if (word === "/no") this.#reply(question, form.leave(question));
    else if (taken !== undefined && "value" in taken) this.#reply(question, taken);
    else
      this.#write([...(taken === undefined ? [] : [line(revealInvisible(taken.fault))]), ...this.#fieldRows]);
  }

  #reply({ id }: Question, reply: QuestionReply): void {
    this.#settledId = id;
    this.session?.answer(id, reply);
  }

  #write(rows: readonly Line[]): void {
    if (rows.length === 0) return;
    const text = plainText(rows, this.appearance);
    this.options.terminal.write(`${this.#isPrompting ? "\n" : ""}${text}`);
    this.#isPrompting = false;
  }
}

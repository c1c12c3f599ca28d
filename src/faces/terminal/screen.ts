import type { CodingSession } from "../../coding/session/coding-session.ts";
import { errorMessage } from "../../core/base/errors.ts";
import { isFinal } from "../../view/blocks.ts";
import type { Question } from "../../view/question.ts";
import { terminalLine } from "../../view/safe-text.ts";
import type { SessionView } from "../../view/view.ts";
import { graphemes } from "../text/columns.ts";
import { isEditCommand } from "./editor/editor.ts";
import { InputLine, type InputLineOptions, placeholderOf, roleOf } from "./editor/input-line.ts";
import type { KeyAction, Keymap } from "./editor/keymap.ts";
import { type Line, line, span, type ViewContext, wrapLine } from "./paint/line.ts";
import { type Appearance, marksOf, type Reflow, type Role } from "./paint/theme.ts";
import type { OpenedPanel, Panel, PanelRows } from "./panels/panel.ts";
import { panelForQuestion, type QuestionPanel } from "./panels/question-panel.ts";
import type { Size, TerminalEvent } from "./tty/key.ts";
import { type Frame, Renderer } from "./tty/renderer.ts";
import type { ScreenTerminal } from "./tty/tty-terminal.ts";
import { type ScrollbackRows, ScrollbackWriter } from "./views/rows.ts";
import {
  inputRule,
  jobLines,
  queueLines,
  type RunningShell,
  shellLines,
  statusLine,
  todoLines,
} from "./views/status-line.ts";

export interface ScreenOptions extends InputLineOptions {
  readonly terminal: Pick<ScreenTerminal, "size" | "isBusy" | "write" | "checkSize">;
  readonly appearance: Appearance;
  readonly reflow: Reflow;
  readonly keymap: Keymap;
  /** Branch, else the folder's name. Called for each frame. */
  readonly location: () => string;
  /** Printed above a conversation. */
  readonly header?: (session: CodingSession, context: ViewContext, isResumed: boolean) => readonly Line[];
  /** Milliseconds since the epoch, and since an arbitrary moment. */
  readonly clock: { readonly now: () => number; readonly elapsed: () => number };
  /** Handles an action key that does not edit text. */
  readonly onAction: (action: KeyAction, key: string) => void;
  /** Shell commands of the person still running; the conversation shows them once they have ended. */
  readonly shells?: () => readonly RunningShell[];
}

/** The screen for commands and keys: drawn in place, or lines only. */
export abstract class SessionScreen {
  readonly input: InputLine;
  keymap: Keymap;
  reflow: Reflow;
  protected readonly options: ScreenOptions;
  protected isPaused = true;
  /** Printed below the header. */
  protected readonly greeting: readonly Line[] = [];
  #look: Appearance;
  #scroll = new ScrollbackWriter();
  #session: CodingSession | undefined;
  #unsubscribe: readonly (() => void)[] = [];

  constructor(options: ScreenOptions) {
    this.options = options;
    this.keymap = options.keymap;
    this.reflow = options.reflow;
    this.#look = options.appearance;
    this.input = new InputLine(options);
  }

  abstract get hasPanel(): boolean;
  abstract handle(event: TerminalEvent): void;
  /** Draws now, unless the terminal is still taking the previous frame. */
  abstract draw(): void;
  abstract hint(text: string, role?: Role): void;
  abstract open(panel: OpenedPanel): void;
  /** Closes a panel, by default the newest. */
  abstract close(panel?: OpenedPanel): void;
  /** Yields the terminal: erases whatever may still change and leaves the cursor where it began. */
  abstract pause(): void;
  /** Draws the last frame: the conversation without input and status. */
  abstract finish(lines: readonly Line[]): void;

  get session(): CodingSession | undefined {
    return this.#session;
  }

  /** The open question that is asked first. */
  get question(): Question | undefined {
    return this.#session?.questions[0];
  }

  get appearance(): Appearance {
    return this.#look;
  }

  setAppearance(look: Appearance): void {
    this.#look = look;
  }

  get context(): ViewContext {
    const { terminal, clock } = this.options;
    const width = Math.max(2, terminal.size.columns);
    return { width, marks: marksOf(this.#look), now: clock.now(), details: false };
  }

  attach(session: CodingSession, { isResumed }: { readonly isResumed: boolean }): void {
    for (const end of this.#unsubscribe) end();
    this.#session = session;
    this.#scroll = new ScrollbackWriter();
    this.#scroll.print(this.options.header?.(session, this.context, isResumed) ?? []);
    if (isResumed) this.#scroll.skipEarlier(session.view.items, this.context);
    this.#unsubscribe = [
      session.onChange(({ reset }) => {
        if (reset === true) this.#scroll.restart(session.view.items);
        this.drawSoon();
      }),
      session.onQuestion(() => this.draw()),
    ];
    this.print(this.greeting);
  }

  print(lines: readonly Line[]): void {
    this.#scroll.print(lines);
    this.draw();
  }

  drawSoon(): void {
    this.draw();
  }

  resume(): void {
    this.isPaused = false;
    this.draw();
  }

  // Written lines stay as they are: no key and no size affects them.
  clearHint(): void {}
  redraw(): void {}
  /** Redraws everything in place with the next frame. */
  repaint(): void {}
  resized(_size: Size): void {}

  /** The rows to show now; at the end all of them are final. */
  protected advance(isEnd = false): ScrollbackRows {
    const items = this.#session?.view.items ?? [];
    return this.#scroll.advance(items, this.context, isEnd ? () => true : isFinal);
  }
}

/** Minimum time between frames that no key caused. */
const FRAME_MS = 33;
/** Redraws this long after the last change of size. */
const RESIZE_SETTLE_MS = 60;

/** Draws a session's view and the input, and dispatches keys. The session owns the conversation. */
export class Screen extends SessionScreen {
  readonly #renderer: Renderer;
  readonly #panels: OpenedPanel[] = [];
  #question: QuestionPanel | undefined;
  readonly #hint = new Hint();
  /** The next frame, if one is due, and the frame for the next second. */
  #timer: NodeJS.Timeout | undefined;
  #ticker: NodeJS.Timeout | undefined;
  #resizing: NodeJS.Timeout | undefined;
  #drawnAt = Number.NEGATIVE_INFINITY;

  constructor(options: ScreenOptions) {
    super(options);
    const { terminal } = options;
    this.#renderer = new Renderer({
      write: (text) => terminal.write(text),
      appearance: () => this.appearance,
      reflow: () => this.reflow,
      rows: terminal.size.rows,
    });
  }

  override get context(): ViewContext {
    return { ...super.context, hasKeys: true };
  }

  get hasPanel(): boolean {
    return this.#panel !== undefined;
  }

  /** The part that has the keys; undefined: the input. */
  get #panel(): Panel | undefined {
    this.#syncQuestion();
    return this.#panels.at(-1) ?? this.#question;
  }

  pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    this.#stopTimers();
    this.#renderer.erase();
    this.#renderer.forget();
  }

  finish(lines: readonly Line[]): void {
    if (this.isPaused) return;
    const { final, live } = this.advance(true);
    this.#renderer.draw({ final: [...final, ...live(), ...lines], live: [], caret: { row: 0, column: 0 } });
    this.isPaused = true;
    this.#stopTimers();
  }

  hint(text: string, role: Role = "warning"): void {
    this.#hint.show(text, role);
    this.draw();
  }

  override clearHint(): void {
    this.#hint.clear();
  }

  open(panel: OpenedPanel): void {
    this.#panels.push(panel);
    this.draw();
  }

  close(panel?: OpenedPanel): void {
    const at = panel === undefined ? this.#panels.length - 1 : this.#panels.indexOf(panel);
    if (at >= 0) this.#panels.splice(at, 1);
    // Text typed for a list does not answer the question below it.
    this.#question?.restartGuard();
    this.draw();
  }

  override setAppearance(look: Appearance): void {
    super.setAppearance(look);
    if (this.isPaused) return;
    this.#renderer.repaint();
    this.draw();
  }

  override repaint(): void {
    this.#renderer.repaint();
  }

  override resized(size: Size): void {
    if (this.isPaused) return;
    // While a window is being dragged, rows move under every frame.
    clearTimeout(this.#resizing);
    this.#resizing = setTimeout(() => {
      this.#resizing = undefined;
      this.#renderer.resize(size);
      this.draw();
    }, RESIZE_SETTLE_MS);
  }

  /** Redraws everything on a cleared screen. */
  override redraw(): void {
    this.#renderer.clearScreen();
    this.draw();
  }

  handle(event: TerminalEvent): void {
    if (event.type === "reply") return;
    const panel = this.#panel;
    if (event.type === "key" && GLOBAL_ACTIONS.has(this.keymap.actionOf.get(event.key) ?? "send"))
      this.#act(event.key);
    else if (panel === undefined) this.#edit(event);
    // Letter by letter: a letter may close the panel. Several at once answer no question.
    else if (event.type === "text" && panel !== this.#question)
      for (const letter of graphemes(event.text)) this.#typeLetter(letter);
    else panel.handle(event);
  }

  #typeLetter(text: string): void {
    const panel = this.#panel;
    if (panel === undefined) this.input.type(text);
    else panel.handle({ type: "text", text });
  }

  override drawSoon(): void {
    if (this.#timer !== undefined || this.isPaused) return;
    const wait = Math.max(0, this.#drawnAt + FRAME_MS - this.options.clock.elapsed());
    this.#timer = setTimeout(() => this.draw(), wait);
  }

  draw(): void {
    if (this.isPaused || this.#resizing !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.options.terminal.isBusy) {
      this.#timer = setTimeout(() => this.draw(), FRAME_MS);
      return;
    }
    if (this.options.terminal.checkSize()) return;
    this.#drawnAt = this.options.clock.elapsed();
    this.input.refresh();
    this.#renderer.draw(this.#frame());
    this.#scheduleTick();
  }

  #frame(): Frame {
    const { live, final } = this.advance();
    try {
      return { final, ...this.#lowerPart(live) };
    } catch (error) {
      const text = `This part of the screen failed and is left out: ${errorMessage(error)}`;
      return { final, live: [line(text, { role: "bad" })], caret: { row: 0, column: 0 } };
    }
  }

  /**
   * The rows that fit: always the input, then the status, a hint, current activity, waiting messages, and as
   * many last rows of the unfinished items as there is room for.
   */
  #lowerPart(live: () => readonly Line[]): Pick<Frame, "live" | "caret"> {
    const { context } = this;
    const view = this.session?.view;
    const { terminal, clock } = this.options;
    const { rows, columns } = terminal.size;
    const panel = this.#panel;
    const bottom = panel === undefined ? this.#input(view, context) : this.#panelRows(panel, context);
    const input = bottom.rows.slice(0, Math.max(1, rows));
    let room = Math.max(1, rows) - input.length;
    const take = (lines: readonly Line[], most = room): readonly Line[] => {
      const taken = lines.slice(0, Math.max(0, Math.min(room, most)));
      room -= taken.length;
      return taken;
    };
    const status = room > 1 ? take(this.#status(context)) : [];
    const hint = take(this.#hint.rowsAt(clock.elapsed(), context.width), room - 1);
    const popup =
      panel === undefined ? take(this.input.popup(context, rows - input.length - 2), room - 1) : [];
    const isRuled = panel === undefined || view?.state === "running";
    const rule = room > 2 && isRuled ? take([inputRule(view, context)]) : [];
    // Lists get half of what is left: the answer needs room too.
    const half = Math.ceil(room / 2);
    const queue = view === undefined ? [] : take(queueLines(view, context), half);
    const side = take(this.#activity(context), half - queue.length);
    // An empty row separates the conversation from what is below it.
    const gap = room > 3 ? take([[]]) : [];
    const shown = room <= 0 ? [] : live().slice(-room);
    const top = side.length > 0 && shown.length + 1 < room ? [...side, []] : side;
    const above = [...shown, ...gap, ...top, ...rule, ...queue];
    return {
      live: [...above, ...input, ...popup, ...hint, ...status],
      caret: {
        row: above.length + Math.min(bottom.caret.row, input.length - 1),
        column: Math.min(bottom.caret.column, Math.max(0, columns - 1)),
      },
    };
  }

  /** Before there is a session a list says it all. */
  #status(context: ViewContext): readonly Line[] {
    const { session } = this;
    if (session === undefined && this.hasPanel) return [];
    const extra = (session?.status() ?? []).map((text) => terminalLine(text, 60));
    return [statusLine({ view: session?.view, location: this.options.location(), extra }, context)];
  }

  /** Shell commands, steps and jobs. */
  #activity(context: ViewContext): readonly Line[] {
    const view = this.session?.view;
    if (view === undefined) return [];
    return [...shellLines(this.#shells, context), ...todoLines(view, context), ...jobLines(view, context)];
  }

  #input(view: SessionView | undefined, context: ViewContext): ReturnType<InputLine["draw"]> {
    const { rows } = this.options.terminal.size;
    const maxRows = Math.max(1, Math.min(12, Math.floor(rows / 2)));
    return this.input.draw(context, {
      role: roleOf(view),
      placeholder: placeholderOf(view, context),
      maxRows,
    });
  }

  #panelRows(panel: Panel, context: ViewContext): Required<PanelRows> {
    const { rows: all } = this.options.terminal.size;
    const isQuestion = panel === this.#question;
    const draft = isQuestion ? this.input.draft(context, all - 1) : [];
    const most = isQuestion ? all - 2 - draft.length : Math.min(all - 1, Math.ceil(all * 0.75));
    const { rows, caret = { row: rows.length - 1, column: 0 } } = panel.draw(context, Math.max(1, most));
    return { rows: [...rows, ...draft], caret };
  }

  /** Schedules a frame for each second while something runs, else only one for the hint's end. */
  #scheduleTick(): void {
    clearTimeout(this.#ticker);
    const { clock } = this.options;
    const hintLeft = this.#hint.remainingAt(clock.elapsed());
    const isRunning = this.session?.view.run !== undefined || this.#shells.length > 0;
    const wait = isRunning ? 1_000 - (clock.now() % 1_000) : hintLeft > 0 ? hintLeft + 1 : undefined;
    if (wait !== undefined) this.#ticker = setTimeout(() => this.draw(), wait);
  }

  get #shells(): readonly RunningShell[] {
    return this.options.shells?.() ?? [];
  }

  #stopTimers(): void {
    clearTimeout(this.#resizing);
    this.#resizing = undefined;
    clearTimeout(this.#timer);
    clearTimeout(this.#ticker);
    this.#timer = undefined;
  }

  #syncQuestion(): void {
    const { session, question } = this;
    if (this.#question?.question.id === question?.id) return;
    this.#question =
      session &&
      question &&
      panelForQuestion(question, {
        session,
        act: (action) => this.options.onAction(action, ""),
        type: (event) => this.#edit(event),
        elapsed: this.options.clock.elapsed,
      });
  }

  #edit(event: TerminalEvent): void {
    if (event.type === "text") this.input.type(event.text);
    else if (event.type === "paste") this.input.paste(event.text);
    else if (event.type === "key") this.#act(event.key);
  }

  #act(key: string): void {
    const action = this.keymap.actionOf.get(key);
    if (action === undefined) {
      if (key.startsWith("alt+") && /^[1-9]$/.test(key.slice(4))) this.options.onAction("take-back", key);
      return;
    }
    if (isEditCommand(action)) this.input.edit(action);
    else this.options.onAction(action, key);
  }
}

/** Work whichever panel has the keys. */
const GLOBAL_ACTIONS: ReadonlySet<string> = new Set(["suspend", "redraw"]);

const HINT_MS = 4_000;
const MAX_ROWS = 3;

/** A line above the status for a moment that begins when it is drawn: busy machines draw late. */
export class Hint {
  #line: Line | undefined;
  #until: number | undefined;

  show(text: string, role: Role): void {
    const isAlarm = role === "warning" || role === "bad";
    this.#line = isAlarm ? [span("! ", { role }), span(text)] : line(text, { role });
    this.#until = undefined;
  }

  clear(): void {
    this.#line = undefined;
  }

  /** The rows to draw now; none if there is no hint or its time is over. */
  rowsAt(ms: number, width: number): readonly Line[] {
    if (this.#line === undefined) return [];
    this.#until ??= ms + HINT_MS;
    return ms < this.#until ? wrapLine(this.#line, { width, first: line("  ") }).slice(0, MAX_ROWS) : [];
  }

  /** Milliseconds until the hint disappears; 0 without a hint. */
  remainingAt(ms: number): number {
    return this.#line === undefined ? 0 : Math.max(0, (this.#until ?? ms) - ms);
  }
}

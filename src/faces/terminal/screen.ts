import type { CodingSession } from "../../coding/session/coding-session.ts";
import { errorMessage } from "../../core/base/errors.ts";
import type { QuestionReply } from "../../view/question.ts";
import { terminalLine } from "../../view/safe-text.ts";
import type { SessionView } from "../../view/view.ts";
import { graphemes } from "../text/columns.ts";
import { isEditCommand } from "./editor/editor.ts";
import { InputLine, type InputLineOptions, placeholderOf, roleOf } from "./editor/input-line.ts";
import type { KeyAction, Keymap } from "./editor/keymap.ts";
import { type Line, line, span, type ViewContext, wrapLine } from "./paint/line.ts";
import { type Look, marksOf, type Reflow, type Role } from "./paint/theme.ts";
import type { OpenedPanel, Panel, PanelRows } from "./panels/panel.ts";
import { panelForQuestion } from "./panels/question-panel.ts";
import type { Size, TerminalEvent } from "./tty/key.ts";
import { type Frame, Renderer } from "./tty/renderer.ts";
import type { ScreenTerminal } from "./tty/tty-terminal.ts";
import { Scroll, type ScrollRows } from "./views/rows.ts";
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
  readonly look: Look;
  readonly reflow: Reflow;
  readonly keymap: Keymap;
  /** Branch, else the folder's name. Called for each frame. */
  readonly place: () => string;
  /** Printed above a conversation. */
  readonly header?: (session: CodingSession, context: ViewContext, isResumed: boolean) => readonly Line[];
  /** Milliseconds since the epoch, and since an arbitrary moment. */
  readonly clock: { readonly now: () => number; readonly elapsed: () => number };
  /** Handles an action key that does not edit text. */
  readonly onAction: (action: KeyAction, key: string) => void;
  /** Shell commands of the person still running; the conversation shows them once they have ended. */
  readonly shells?: () => readonly RunningShell[];
}

/** Minimum time between frames that no key caused. */
const FRAME_MS = 33;
/** Redraws this long after the last change of size. */
const RESIZE_SETTLE_MS = 60;

/** Draws a session's view and the input, and dispatches keys. The session owns the conversation. */
export class Screen {
  readonly input: InputLine;
  readonly #options: ScreenOptions;
  readonly #renderer: Renderer;
  readonly #panels: OpenedPanel[] = [];
  #reflow: Reflow;
  #look: Look;
  #scroll = new Scroll();
  #session: CodingSession | undefined;
  #unsubscribe: readonly (() => void)[] = [];
  #question: ReturnType<typeof panelForQuestion> | undefined;
  readonly #hint = new Hint();
  /** The next frame, if one is due, and the frame for the next second. */
  #timer: NodeJS.Timeout | undefined;
  #ticker: NodeJS.Timeout | undefined;
  #resizing: NodeJS.Timeout | undefined;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #isPaused = true;
  #keymap: Keymap;

  constructor(options: ScreenOptions) {
    this.#options = options;
    this.#look = options.look;
    this.#keymap = options.keymap;
    this.input = new InputLine(options);
    const { terminal } = options;
    this.#reflow = options.reflow;
    this.#renderer = new Renderer({
      write: (text) => terminal.write(text),
      look: () => this.#look,
      reflow: () => this.#reflow,
      rows: terminal.size.rows,
    });
  }

  get session(): CodingSession | undefined {
    return this.#session;
  }

  get look(): Look {
    return this.#look;
  }

  get context(): ViewContext {
    const { terminal, clock } = this.#options;
    return {
      width: Math.max(2, terminal.size.columns),
      marks: marksOf(this.#look),
      now: clock.now(),
      details: false,
      hasKeys: true,
    };
  }

  get hasPanel(): boolean {
    return this.#panels.length > 0 || this.#question !== undefined;
  }

  attach(session: CodingSession, { isResumed }: { readonly isResumed: boolean }): void {
    this.detach();
    this.#session = session;
    this.#scroll = new Scroll();
    this.#scroll.print(this.#options.header?.(session, this.context, isResumed) ?? []);
    if (isResumed) this.#scroll.open(session.view.items, this.context);
    this.#unsubscribe = [
      session.onChange(({ reset }) => {
        if (reset === true) this.#scroll.restart(session.view.items);
        this.#syncQuestion();
        this.later();
      }),
      session.onQuestion(() => {
        this.#syncQuestion();
        this.draw();
      }),
    ];
    this.#syncQuestion();
    this.draw();
  }

  detach(): void {
    for (const end of this.#unsubscribe) end();
    this.#unsubscribe = [];
    this.#session = undefined;
    this.#question = undefined;
  }

  resume(): void {
    this.#isPaused = false;
    this.draw();
  }

  /** Yields the terminal: erases whatever may still change and leaves the cursor where it began. */
  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#stopTimers();
    this.#renderer.erase();
    this.#renderer.forget();
  }

  /** Draws the last frame: the conversation without input and status. */
  finish(lines: readonly Line[]): void {
    if (this.#isPaused) return;
    const items = this.#session?.view.items ?? [];
    const { final, live } = this.#scroll.advance(items, this.context, () => true);
    this.#renderer.draw({ final: [...final, ...live(), ...lines], live: [], caret: { row: 0, column: 0 } });
    this.#isPaused = true;
    this.#stopTimers();
  }

  print(lines: readonly Line[]): void {
    this.#scroll.print(lines);
    this.draw();
  }

  hint(text: string, role: Role = "warning"): void {
    this.#hint.say(text, role);
    this.draw();
  }

  clearHint(): void {
    this.#hint.clear();
  }

  open(panel: OpenedPanel): void {
    this.#panels.push(panel);
    this.draw();
  }

  /** Closes a panel, by default the newest. */
  close(panel?: OpenedPanel): void {
    const at = panel === undefined ? this.#panels.length - 1 : this.#panels.indexOf(panel);
    if (at >= 0) this.#panels.splice(at, 1);
    // Text typed for a list does not answer the question below it.
    this.#question?.disturb();
    this.draw();
  }

  setLook(look: Look): void {
    this.#look = look;
    if (this.#isPaused) return;
    this.#renderer.repaint();
    this.draw();
  }

  /** Redraws everything in place with the next frame. */
  repaint(): void {
    this.#renderer.repaint();
  }

  setReflow(reflow: Reflow): void {
    this.#reflow = reflow;
  }

  setKeymap(keymap: Keymap): void {
    this.#keymap = keymap;
  }

  resized(size: Size): void {
    if (this.#isPaused) return;
    // While a window is being dragged, rows move under every frame.
    clearTimeout(this.#resizing);
    this.#resizing = setTimeout(() => {
      this.#resizing = undefined;
      this.#renderer.resize(size);
      this.draw();
    }, RESIZE_SETTLE_MS);
  }

  /** Redraws everything on a cleared screen. */
  redraw(): void {
    this.#renderer.clearScreen();
    this.draw();
  }

  get question(): ReturnType<typeof panelForQuestion> | undefined {
    return this.#question;
  }

  handle(event: TerminalEvent): void {
    if (event.type === "reply") return;
    const panel = this.#panels.at(-1) ?? this.#question;
    if (event.type === "key" && GLOBAL_ACTIONS.has(this.#keymap.actionOf.get(event.key) ?? "send"))
      this.#act(event.key);
    else if (panel === undefined) this.#edit(event);
    // Letter by letter: a letter may close the panel. Several at once answer no question.
    else if (event.type === "text" && panel !== this.#question)
      for (const letter of graphemes(event.text)) this.#typeLetter(letter);
    else panel.handle(event);
  }

  #typeLetter(text: string): void {
    const panel = this.#panels.at(-1) ?? this.#question;
    if (panel === undefined) this.input.type(text);
    else panel.handle({ type: "text", text });
  }

  later(): void {
    if (this.#timer !== undefined || this.#isPaused) return;
    const wait = Math.max(0, this.#drawnAt + FRAME_MS - this.#options.clock.elapsed());
    this.#timer = setTimeout(() => this.draw(), wait);
  }

  /** Draws now, unless the terminal is still taking the previous frame. */
  draw(): void {
    if (this.#isPaused || this.#resizing !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#options.terminal.isBusy) {
      this.#timer = setTimeout(() => this.draw(), FRAME_MS);
      return;
    }
    if (this.#options.terminal.checkSize()) return;
    this.#drawnAt = this.#options.clock.elapsed();
    this.input.refresh();
    this.#renderer.draw(this.#frame());
    this.#scheduleTick();
  }

  #frame(): Parameters<Renderer["draw"]>[0] {
    const { context, session } = this;
    const rows = this.#scroll.advance(session?.view.items ?? [], context);
    try {
      const lower = this.#lower(rows, session?.view, context);
      return { final: rows.final, ...lower };
    } catch (error) {
      const text = `This part of the screen failed and is left out: ${errorMessage(error)}`;
      return { final: rows.final, live: [line(text, { role: "bad" })], caret: { row: 0, column: 0 } };
    }
  }

  #lower(
    { live }: ScrollRows,
    view: SessionView | undefined,
    context: ViewContext,
  ): ReturnType<typeof composeFrame> {
    const { terminal, clock } = this.#options;
    const { size } = terminal;
    const panel = this.#panels.at(-1) ?? this.#question;
    const bottom = panel === undefined ? this.#input(view, context) : this.#panelRows(panel, context);
    const popup = panel === undefined ? this.input.popup(context, size.rows - bottom.rows.length - 2) : [];
    const isPanel = panel !== undefined;
    const extra = (this.#session?.status() ?? []).map((text) => terminalLine(text, 60));
    const [{ marks, width }, place] = [context, this.#options.place()];
    const notice = this.#hint.rowsAt(clock.elapsed(), width);
    const status = view === undefined && isPanel ? [] : [statusLine({ view, place, marks, width, extra })];
    const parts = { live: live(), view, shells: this.#shells, bottom, isPanel, popup, notice, status, size };
    return composeFrame(parts, context);
  }

  #input(view: SessionView | undefined, context: ViewContext): ReturnType<InputLine["draw"]> {
    const { rows } = this.#options.terminal.size;
    const maxRows = Math.max(1, Math.min(12, Math.floor(rows / 2)));
    return this.input.draw(context, {
      role: roleOf(view),
      placeholder: placeholderOf(view, context),
      maxRows,
    });
  }

  #panelRows(panel: Panel, context: ViewContext): Required<PanelRows> {
    const { rows: all } = this.#options.terminal.size;
    const isQuestion = panel === this.#question;
    const draft = isQuestion ? this.input.draft(context, all - 1) : [];
    const most = isQuestion ? all - 2 - draft.length : Math.min(all - 1, Math.ceil(all * 0.75));
    const { rows, caret = { row: rows.length - 1, column: 0 } } = panel.draw(context, Math.max(1, most));
    return { rows: [...rows, ...draft], caret };
  }

  /** Schedules a frame for each second while something runs, else only one for the hint's end. */
  #scheduleTick(): void {
    clearTimeout(this.#ticker);
    const { clock } = this.#options;
    const hintLeft = this.#hint.leftAt(clock.elapsed());
    const isRunning = this.#session?.view.run !== undefined || this.#shells.length > 0;
    const wait = isRunning ? 1_000 - (clock.now() % 1_000) : hintLeft > 0 ? hintLeft + 1 : undefined;
    if (wait !== undefined) this.#ticker = setTimeout(() => this.draw(), wait);
  }

  get #shells(): readonly RunningShell[] {
    return this.#options.shells?.() ?? [];
  }

  #stopTimers(): void {
    clearTimeout(this.#resizing);
    this.#resizing = undefined;
    clearTimeout(this.#timer);
    clearTimeout(this.#ticker);
    this.#timer = undefined;
  }

  #syncQuestion(): void {
    const session = this.#session;
    const [first] = session?.questions ?? [];
    if (session === undefined || first === undefined) {
      this.#question = undefined;
      return;
    }
    if (this.#question?.question.id === first.id) return;
    const { clock, onAction } = this.#options;
    const answer = (id: string, reply: QuestionReply): void => {
      session.answer(id, reply);
      this.#syncQuestion();
    };
    this.#question = panelForQuestion({
      question: first,
      answer,
      onWhole: () => onAction("details", ""),
      onTyped: (event) => this.#edit(event),
      onStop: () => onAction("escape", ""),
      onMode: () => onAction("mode", ""),
      more: () => Math.max(0, session.questions.length - 1),
      now: () => clock.elapsed(),
    });
  }

  #edit(event: TerminalEvent): void {
    if (event.type === "text") this.input.type(event.text);
    else if (event.type === "paste") this.input.paste(event.text);
    else if (event.type === "key") this.#act(event.key);
  }

  #act(key: string): void {
    const action = this.#keymap.actionOf.get(key);
    if (action === undefined) {
      if (key.startsWith("alt+") && /^[1-9]$/.test(key.slice(4))) this.#options.onAction("take-back", key);
      return;
    }
    if (isEditCommand(action)) this.input.edit(action);
    else this.#options.onAction(action, key);
  }
}

export type ScreenFace = Pick<Screen, keyof Screen>;

/** Work whichever panel has the keys. */
const GLOBAL_ACTIONS: ReadonlySet<string> = new Set(["suspend", "redraw"]);

/** The parts of the lower screen, each already laid out. */
export interface FrameParts {
  readonly live: readonly Line[];
  readonly view: SessionView | undefined;
  readonly shells: readonly RunningShell[];
  /** Input, question or list, at most `size.rows - 1` rows. */
  readonly bottom: {
    readonly rows: readonly Line[];
    readonly caret: { readonly row: number; readonly column: number };
  };
  /** True if it stands below its own title. */
  readonly isPanel: boolean;
  readonly popup: readonly Line[];
  /** The effect a key would have now, or an error. */
  readonly notice: readonly Line[];
  readonly status: readonly Line[];
  readonly size: Size;
}

/**
 * Composes the lower screen so that it fits: always the input, then the status, a notice, current activity,
 * waiting messages, and as many last rows of the unfinished items as there is room for.
 */
export function composeFrame(parts: FrameParts, context: ViewContext): Pick<Frame, "live" | "caret"> {
  const { size, view, shells, bottom, isPanel } = parts;
  const rows = Math.max(1, size.rows);
  const input = bottom.rows.slice(0, rows);
  let room = rows - input.length;
  const take = (lines: readonly Line[], most = room): readonly Line[] => {
    const taken = lines.slice(0, Math.max(0, Math.min(room, most)));
    room -= taken.length;
    return taken;
  };
  const status = room > 1 ? take(parts.status) : [];
  const notice = take(parts.notice, room - 1);
  const popup = take(parts.popup, room - 1);
  const isRuled = !isPanel || view?.state === "running";
  const rule = room > 2 && isRuled ? take([inputRule(view, context)]) : [];
  // Lists get half of what is left: the answer needs room too.
  const half = Math.ceil(room / 2);
  const queue = view === undefined ? [] : take(queueLines(view, context), half);
  const lists =
    view === undefined
      ? []
      : [...shellLines(shells, context), ...todoLines(view, context), ...jobLines(view, context)];
  const side = take(lists, half - queue.length);
  // An empty row separates the conversation from what is below it.
  const gap = room > 3 ? take([[]]) : [];
  const live = room <= 0 ? [] : parts.live.slice(-room);
  const top = side.length > 0 && live.length + 1 < room ? [...side, []] : side;
  const aboveInput = [...gap, ...top, ...rule, ...queue];
  const belowInput = [...popup, ...notice, ...status];
  const above = [...live, ...aboveInput];
  return {
    live: [...above, ...input, ...belowInput],
    caret: {
      row: above.length + Math.min(bottom.caret.row, input.length - 1),
      column: Math.min(bottom.caret.column, Math.max(0, size.columns - 1)),
    },
  };
}

const HINT_MS = 4_000;
const MAX_ROWS = 3;

/** A line above the status for a moment that begins when it is drawn: busy machines draw late. */
export class Hint {
  #line: Line | undefined;
  #until: number | undefined;

  say(text: string, role: Role): void {
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

  /** Milliseconds until the hint disappears; 0 if there is none. */
  leftAt(ms: number): number {
    return this.#line === undefined ? 0 : Math.max(0, (this.#until ?? ms) - ms);
  }
}

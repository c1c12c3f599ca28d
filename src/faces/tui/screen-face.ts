import type { CodingSession } from "../../app/coding-session/coding-session.ts";
import type { Keymap } from "./editor/keymap.ts";
import type { InputLine } from "./input-line.ts";
import type { Line, Role } from "./paint/line.ts";
import type { Look } from "./paint/theme.ts";
import type { Panel } from "./panels/panel.ts";
import type { QuestionPanel } from "./panels/question-panel.ts";
import type { ValuePanel } from "./panels/value-panel.ts";
import type { Size, TerminalEvent, TerminalListener } from "./terminal/key.ts";
import type { Reflow } from "./terminal/renderer.ts";
import type { ViewContext } from "./views/view-context.ts";

/** What a screen is to the commands and keys that work on it: one that is drawn in place, or one of lines only. */
export interface ScreenFace {
  readonly input: InputLine;
  readonly session: CodingSession | undefined;
  readonly look: Look;
  readonly context: ViewContext;
  /** Whether something stands in the place of the input. */
  readonly hasPanel: boolean;
  /** The question that is open. */
  readonly question: QuestionPanel | ValuePanel | undefined;
  /** Shows a session; the one before is no longer listened to. */
  attach(session: CodingSession, how: { readonly isResumed: boolean }): void;
  detach(): void;
  handle(event: TerminalEvent): void;
  /** Prints lines above the input, for good. */
  print(lines: readonly Line[]): void;
  /** Says something in the place of the status for a moment. */
  hint(text: string, role?: Role): void;
  clearHint(): void;
  open(panel: Panel): void;
  /** Takes a panel away; without one the newest. */
  close(panel?: Panel): void;
  /** Draws now; {@link later}: soon. */
  draw(): void;
  later(): void;
  /** Draws everything anew on a cleared screen. */
  redraw(): void;
  /** What was drawn is drawn again from where it began, with the next frame. */
  repaint(): void;
  setLook(look: Look): void;
  setKeymap(keymap: Keymap): void;
  /** The terminal has said what it does with its lines when it becomes narrower. */
  setReflow(reflow: Reflow): void;
  resized(size: Size): void;
  /** Draws from now on. */
  resume(): void;
  /** Leaves the terminal to somebody else: what may still change is taken away. */
  pause(): void;
  /** The last frame: everything of the conversation as it stands, then these lines, without input and status. */
  finish(lines: readonly Line[]): void;
}

/** What a {@link ScreenFace} draws on and hears. */
export interface ScreenTerminal {
  readonly size: Size;
  /** Whether output still waits to be taken: another frame would only make it later. */
  readonly isBusy: boolean;
  write(text: string): void;
  /** Whether the window has another size than at the last look; the listener was told then. */
  checkSize(): boolean;
  /** Says in the title of the window what goes on. */
  setTitle(title: string): void;
  /** Takes the terminal. */
  enter(listener: TerminalListener): void;
  /** Puts everything back as it was; {@link leaveNow}: at once, for the moment before the process ends. */
  leave(): Promise<void>;
  leaveNow(): void;
}

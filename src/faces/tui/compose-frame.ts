import type { SessionView } from "../../app/coding-session/view.ts";
import type { Line } from "./paint/line.ts";
import type { Size } from "./terminal/key.ts";
import type { Frame } from "./terminal/renderer.ts";
import { jobLines, queueLines, type RunningShell, shellLines, todoLines } from "./views/side-lines.ts";
import { activityLine } from "./views/status-line.ts";
import type { ViewContext } from "./views/view-context.ts";

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
  readonly popup: readonly Line[];
  readonly status: Line;
  readonly size: Size;
}

/**
 * Puts the lower screen together so that it fits: the input always, then the status, what goes on, what
 * waits, and of the items that may still change as many of their last rows as there is room for.
 */
export function composeFrame(parts: FrameParts, context: ViewContext): Pick<Frame, "live" | "caret"> {
  const { size, view, shells, bottom, popup, status } = parts;
  const rows = Math.max(1, size.rows);
  const input = bottom.rows.slice(0, rows);
  const withStatus = rows > input.length + 1 ? [status] : [];
  let room = rows - input.length - withStatus.length;
  const offered = popup.slice(0, Math.max(0, room - 1));
  room -= offered.length;
  const activity = view === undefined ? undefined : activityLine(view, context);
  const gap: readonly Line[] = room >= 4 ? [[]] : [];
  room -= gap.length;
  const head = activity === undefined || room < 1 ? [] : [activity];
  room -= head.length;
  const side: Line[] = [];
  if (view !== undefined) {
    // Half of what is left for lists: the answer needs a place too.
    for (const list of [
      shellLines(shells, context),
      queueLines(view, context),
      todoLines(view, context),
      jobLines(view, context),
    ])
      side.push(...list.slice(0, Math.max(0, Math.ceil(room / 2) - side.length)));
  }
  room -= side.length;
  const live = room <= 0 ? [] : parts.live.slice(-room);
  // A row stands free above the input, and one more between the conversation and what goes on.
  const top = head.length + side.length > 0 && live.length < room ? [...live, []] : live;
  const above = [...top, ...head, ...side, ...gap];
  return {
    live: [...above, ...input, ...offered, ...withStatus],
    caret: {
      row: above.length + Math.min(bottom.caret.row, input.length - 1),
      column: Math.min(bottom.caret.column, Math.max(0, size.columns - 1)),
    },
  };
}

import type { SessionView } from "../../view/view.ts";
import type { Line } from "./paint/line.ts";
import type { Size } from "./tty/key.ts";
import type { Frame } from "./tty/renderer.ts";
import { jobLines, queueLines, type RunningShell, shellLines, todoLines } from "./views/side-lines.ts";
import { inputRule } from "./views/status-line.ts";
import type { ViewContext } from "./views/view-context.ts";

/** The parts of the lower screen, each already laid out. */
export interface FrameParts {
  readonly live: readonly Line[];
  /** Rows to fill at least. */
  readonly least: number;
  readonly view: SessionView | undefined;
  readonly shells: readonly RunningShell[];
  /** Input, question or list, at most `size.rows - 1` rows. */
  readonly bottom: {
    readonly rows: readonly Line[];
    readonly caret: { readonly row: number; readonly column: number };
  };
  /** True when it stands below its own title. */
  readonly isPanel: boolean;
  readonly popup: readonly Line[];
  /** The effect a key would have now, or what went wrong. */
  readonly notice: readonly Line[];
  readonly status: readonly Line[];
  readonly size: Size;
}

/**
 * Puts the lower screen together so that it fits: the input always, then the status, a notice, what goes on,
 * what waits, and of the items that may still change as many of their last rows as there is room for.
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
  // Half of what is left for lists: the answer needs a place too.
  const half = Math.ceil(room / 2);
  const queue = view === undefined ? [] : take(queueLines(view, context), half);
  const lists =
    view === undefined
      ? []
      : [...shellLines(shells, context), ...todoLines(view, context), ...jobLines(view, context)];
  const side = take(lists, half - queue.length);
  // A free row stands between the conversation and what is below it.
  const gap = room > 3 ? take([[]]) : [];
  const live = room <= 0 ? [] : parts.live.slice(-room);
  const top = side.length > 0 && live.length + 1 < room ? [...side, []] : side;
  const below = [...gap, ...top, ...rule, ...queue];
  const behind = [...popup, ...notice, ...status];
  const used = live.length + below.length + input.length + behind.length;
  const fill = Array.from(
    { length: isPanel ? 0 : Math.max(0, Math.min(parts.least, rows) - used) },
    (): Line => [],
  );
  const above = [...live, ...fill, ...below];
  return {
    live: [...above, ...input, ...behind],
    caret: {
      row: above.length + Math.min(bottom.caret.row, input.length - 1),
      column: Math.min(bottom.caret.column, Math.max(0, size.columns - 1)),
    },
  };
}

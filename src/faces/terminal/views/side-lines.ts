import type { SessionView } from "../../../view/view.ts";
import { fitLine, type Line, line, lineColumns, oneLine, span } from "../paint/line.ts";
import type { Style } from "../paint/theme.ts";
import { secondsText } from "./amounts.ts";
import type { ViewContext } from "./view-context.ts";

/** Most rows of each list that stands above the input. */
const MOST = 6;

/** The model's own list of steps, as long as something of it is left to do. */
export function todoLines({ todo }: SessionView, { marks, width }: ViewContext): readonly Line[] {
  if (todo.every(({ status }) => status === "completed")) return [];
  const done = todo.filter(({ status }) => status === "completed").length;
  // Of a long list, what is being done and what comes next matters.
  const from = Math.max(
    0,
    Math.min(todo.findIndex(({ status }) => status !== "completed") - 1, todo.length - MOST),
  );
  const rows = todo.slice(from, from + MOST).map(({ status, content }): Line => {
    const mark = status === "completed" ? marks.ok : status === "in_progress" ? marks.doing : marks.todo;
    const style: Style =
      status === "completed"
        ? { role: "muted", strike: true }
        : status === "in_progress"
          ? { bold: true }
          : {};
    return fitLine(
      [span(`  ${mark} `, { role: status === "completed" ? "good" : "accent" }), span(content, style)],
      width,
    );
  });
  return [line(`  ${done} of ${todo.length} steps done`, { role: "muted" }), ...rows];
}

/** A command that the person typed and that is at work. */
export interface RunningShell {
  readonly command: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

/** Commands that the person typed, as long as they are at work. */
export function shellLines(
  shells: readonly RunningShell[],
  { marks, width, now }: ViewContext,
): readonly Line[] {
  return shells.map(({ command, startedAt }) => {
    const end = line(`  ${secondsText(now - startedAt)}  esc stops`, { role: "muted" });
    const text = span(oneLine(command), { bold: true });
    const head = fitLine(
      [span(`${marks.tool} ! `, { role: "accent" }), text],
      Math.max(10, width - lineColumns(end)),
    );
    return fitLine([...head, ...end], width);
  });
}

/** Commands that run in the background. */
export function jobLines({ jobs }: SessionView, { marks, width }: ViewContext): readonly Line[] {
  const running = jobs.filter(({ state }) => state === "running");
  return running
    .slice(0, MOST)
    .map(({ id, command }) =>
      fitLine(
        [
          span(`  ${marks.running} background `, { role: "accent" }),
          span(`${id}  `, { role: "muted" }),
          span(oneLine(command)),
        ],
        width,
      ),
    );
}

/** Messages that wait: `next` for the next request, numbered ones for after the run. */
export function queueLines(view: SessionView, { marks, width }: ViewContext): readonly Line[] {
  const row = (label: string, text: string): Line =>
    fitLine([span(`  ${label.padEnd(7)} `, { role: "muted" }), span(oneLine(text))], width);
  const { steering, queue, queueHeld } = view;
  const left = queue.length - MOST;
  return [
    ...steering.map(({ text }) => row("next", text)),
    ...(queueHeld && queue.length > 0
      ? [fitLine(line(`  queue on hold ${marks.dot} alt+q sends or edits it`, { role: "warning" }), width)]
      : []),
    ...queue.slice(0, MOST).map(({ text }, index) => row(`after ${index + 1}`, text)),
    ...(left > 0 ? [line(`  ${marks.more} ${left} more ${marks.dot} alt+q`, { role: "muted" })] : []),
  ];
}

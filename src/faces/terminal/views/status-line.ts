import { homedir } from "node:os";
import { join, relative } from "node:path";
import type { CodingSession, SessionInfo } from "../../../coding/session/coding-session.ts";
import { pluralize } from "../../../core/base/text.ts";
import { MODE_EFFECTS, modeName } from "../../../view/mode-names.ts";
import type { SessionView } from "../../../view/view.ts";
import { retryText } from "../../../view/words.ts";
import { costText, secondsText, tokensText } from "../../text/amounts.ts";
import { columnsOf } from "../../text/columns.ts";
import {
  fitLine,
  type Line,
  line,
  lineColumns,
  oneLine,
  type Span,
  span,
  textLines,
  type ViewContext,
  wrapLine,
} from "../paint/line.ts";
import type { Marks, Style } from "../paint/theme.ts";
import { titleRule } from "./question-lines.ts";

export interface StatusFacts {
  readonly view: Pick<SessionView, "model" | "effort" | "mode" | "context" | "costUsd"> | undefined;
  /** Branch, else the folder's name. */
  readonly location: string;
  readonly extra?: readonly string[];
}

/** Mode, model, context, cost and place in one row; the least important go first if room is short. */
export function statusLine(
  { view, location, extra = [] }: StatusFacts,
  { marks, width }: Pick<ViewContext, "marks" | "width">,
): Line {
  if (view === undefined) return fitLine([span(`  starting ${marks.more}`, { role: "muted" })], width);
  const { usedTokens, windowTokens } = view.context;
  const share =
    windowTokens === undefined
      ? `${tokensText(usedTokens)} tokens`
      : `${Math.round((100 * usedTokens) / windowTokens)}% of ${tokensText(windowTokens)}`;
  const effort = view.effort === undefined ? "" : ` ${view.effort}`;
  const model = modelShort(view.model) + effort;
  const cost = view.costUsd === 0 ? [] : [costText(view.costUsd)];
  const separator = ` ${marks.dot} `;
  const mode = modeName(view.mode);
  const isFitting = (parts: readonly string[]): boolean => columnsOf(parts.join(separator)) + 2 <= width;
  const choices: readonly (readonly string[])[] = [
    [mode, model, share, ...cost, location, ...extra],
    [mode, model, share, ...cost, location],
    [mode, model, share, ...cost],
    [mode, model, share],
    [mode, model],
  ];
  const parts = choices.find(isFitting) ?? [mode];
  const spans = parts.flatMap((text, index) => [
    span(index === 0 ? "  " : separator, { role: "muted" }),
    span(
      text,
      index === 0
        ? MODES[view.mode]
        : { role: text === share && isNearlyFull(view.context) ? "warning" : "muted" },
    ),
  ]);
  return fitLine(spans, width);
}

function modelShort(name: string): string {
  return name.slice(name.indexOf("/") + 1);
}

const MODES: { readonly [mode in SessionView["mode"]]: Style } = {
  default: { bold: true },
  acceptEdits: { role: "good" },
  auto: { role: "accent" },
  plan: { role: "plan" },
  dontAsk: { role: "warning" },
  bypassPermissions: { role: "alert", bold: true },
};

function isNearlyFull({ usedTokens, windowTokens }: SessionView["context"]): boolean {
  return windowTokens !== undefined && usedTokens > windowTokens * 0.8;
}

/**
 * The rule above the input, one row: during a run it shows the time, the tokens, or a retry with the seconds
 * left.
 */
export function inputRule(view: SessionView | undefined, { now, marks, width }: ViewContext): Line {
  const facts = view === undefined ? undefined : activityOf(view, now, marks);
  const role = view?.mode === "plan" ? "plan" : view?.mode === "bypassPermissions" ? "bad" : "rule";
  const rule = (columns: number): Span => span(marks.rule.repeat(Math.max(0, columns)), { role });
  const warning = view?.mode === "bypassPermissions" && width >= MIN_WARNING_WIDTH ? BYPASS : "";
  const tail: Line = warning === "" ? [] : [span(warning, { role, bold: true }), rule(2)];
  const room = width - lineColumns(tail);
  if (facts === undefined) return [rule(room), ...tail];
  const head: Line = [rule(2), span(" "), ...fitLine(facts, Math.max(1, room - 6)), span(" ")];
  return fitLine([...head, rule(room - lineColumns(head)), ...tail], width);
}

const BYPASS = " bypass asks nothing ";
const MIN_WARNING_WIDTH = 50;

/** The words for a run that is not waiting for an answer: a question announces itself. */
function activityOf(view: SessionView, now: number, marks: Marks): Line | undefined {
  const { run, state } = view;
  if (run === undefined || state === "waiting") return undefined;
  const pulse = span(`${Math.floor(now / 1_000) % 2 === 0 ? marks.tool : marks.todo} `, { role: "accent" });
  const stops = state === "running" ? ["esc stops"] : [];
  if (run.retry !== undefined) {
    return [
      pulse,
      span(retryText(run.retry, now), { role: "warning" }),
      span(stops.map((each) => ` ${marks.dot} ${each}`).join(""), { role: "muted" }),
    ];
  }
  const word = state === "stopping" ? "stopping" : run.phase === "compacting" ? "compacting" : "";
  const facts = [
    ...(word === "" ? [] : [word]),
    secondsText(now - run.startedAt),
    ...(run.outputTokens > 0 ? [`${marks.down} ${tokensText(run.outputTokens)} tokens`] : []),
    ...stops,
  ];
  return [pulse, span(facts.join(` ${marks.dot} `), { role: "muted" })];
}

/** Of each list above the input. */
const MAX_LIST_ROWS = 6;

/** Empty once all steps are done. */
export function todoLines({ todo }: SessionView, { marks, width }: ViewContext): readonly Line[] {
  if (todo.every(({ status }) => status === "completed")) return [];
  const done = todo.filter(({ status }) => status === "completed").length;
  const from = Math.max(
    0,
    Math.min(todo.findIndex(({ status }) => status !== "completed") - 1, todo.length - MAX_LIST_ROWS),
  );
  const rows = todo.slice(from, from + MAX_LIST_ROWS).map(({ status, content }): Line => {
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

export interface RunningShell {
  readonly command: string;
  readonly startedAt: number;
}

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

export function jobLines({ jobs }: SessionView, { marks, width }: ViewContext): readonly Line[] {
  const running = jobs.filter(({ state }) => state === "running");
  return running
    .slice(0, MAX_LIST_ROWS)
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

/** Waiting messages: `next` for the next request, numbered ones for after the run. */
export function queueLines(view: SessionView, { marks, width }: ViewContext): readonly Line[] {
  const row = (label: string, text: string): Line =>
    fitLine([span(`  ${label.padEnd(7)} `, { role: "muted" }), span(oneLine(text))], width);
  const { steering, queue, queueHeld } = view;
  const left = queue.length - MAX_LIST_ROWS;
  return [
    ...steering.map(({ text }) => row("next", text)),
    ...(queueHeld && queue.length > 0
      ? [fitLine(line(`  queue on hold ${marks.dot} alt+q sends or edits it`, { role: "warning" }), width)]
      : []),
    ...queue.slice(0, MAX_LIST_ROWS).map(({ text }, index) => row(`after ${index + 1}`, text)),
    ...(left > 0 ? [line(`  ${marks.more} ${left} more ${marks.dot} alt+q`, { role: "muted" })] : []),
  ];
}

/** Printed once at the start: program, folder, model and why, instructions, and the mode if it is news. */
export function headerLines(
  info: SessionInfo,
  version: string,
  isModeNews: boolean,
  { width, marks }: ViewContext,
): readonly Line[] {
  const isPlain = marks.full === "#";
  const first = isPlain ? [] : [span("█▀"), span("▄  ", { role: "accent" })];
  const second = isPlain ? [] : [span("▀ ▀  ")];
  const indent = isPlain ? "" : "     ";
  const { model, instructions, skills, mode } = info;
  const window = model.windowTokens === undefined ? "" : `, ${tokensText(model.windowTokens)} context`;
  const facts = [
    `${modelShort(model.name)}${window}${model.source === undefined ? "" : `, from ${model.source}`}`,
    ...(instructions.length === 0
      ? []
      : [`reads ${joinNames(instructions.map((path) => shownPath(path, info.cwd)))}`]),
    ...(skills.length === 0 ? [] : [pluralize(skills.length, "skill")]),
    ...(info.sandbox === "off" ? ["no sandbox"] : []),
  ].join(` ${marks.dot} `);
  const about = wrapLine(line(facts, { role: "muted" }), { width, first: line(indent), rest: line(indent) });
  const sentence = `${MODE_EFFECTS[mode]} Shift+Tab switches.`;
  return [
    fitLine([...first, span(`nano-agent ${version}`, { bold: true })], width),
    fitLine([...second, span(shownPath(info.cwd))], width),
    ...(width < MIN_FACTS_WIDTH ? [] : about),
    ...(isModeNews
      ? [
          [],
          ...wrapLine([span(`${modeName(mode)}  `, { role: "accent" }), span(sentence)], {
            width,
            first: line("  "),
          }),
        ]
      : []),
  ];
}

const MIN_FACTS_WIDTH = 60;

/** Divides two conversations. */
export function dividerLines(title: string, context: ViewContext): readonly Line[] {
  return [[], ...titleRule({ title: line(title, { role: "muted" }), role: "rule" }, context)];
}

/** The shortest form of a path: relative to the working directory, else to home. */
function shownPath(path: string, cwd?: string): string {
  const near = cwd === undefined ? path : relative(cwd, path);
  if (cwd !== undefined && !near.startsWith("..")) return near;
  const fromHome = relative(homedir(), path);
  return fromHome === "" ? "~" : fromHome.startsWith("..") ? path : join("~", fromHome);
}

function joinNames(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}

/** How to resume a session with content, and what still waits; `isStored`: the waiting messages are saved. */
export function resumeHintLines(
  session: CodingSession | undefined,
  { isStored, width }: { readonly isStored: boolean; readonly width: number },
): readonly Line[] {
  const goOn = session?.info.goOn;
  if (session === undefined || !session.view.items.some(({ type }) => type === "user")) return [];
  const waiting = session.view.queue.flatMap(({ text }) => textLines(text));
  const unsent = waiting.flatMap((text) => wrapLine([span(`  ${text}`)], { width }));
  const title = isStored ? "Still queued when you resume:" : "Not sent and not saved:";
  const head = unsent.length === 0 ? [] : [[], line(title, { role: "warning" }), ...unsent];
  return goOn === undefined ? head : [...head, [], line(`To resume: nano-agent ${goOn}`, { role: "muted" })];
}

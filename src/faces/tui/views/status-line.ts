import { modeName } from "../../../app/coding-session/mode-names.ts";
import type { SessionView } from "../../../app/coding-session/view.ts";
import { columnsOf } from "../../terminal/columns.ts";
import { fitLine, type Line, lineColumns, oneLine, span } from "../paint/line.ts";
import type { Marks, Role } from "../paint/theme.ts";
import { costText, secondsText, tokensText } from "./amounts.ts";

/** The facts in the last row of the screen. */
export interface StatusFacts {
  readonly view: Pick<SessionView, "model" | "effort" | "mode" | "context" | "costUsd"> | undefined;
  /** Branch, else the name of the folder. */
  readonly place: string;
  /** In place of everything else: what a key would do now, or what went wrong. */
  readonly hint: Line | undefined;
  readonly marks: Marks;
  readonly width: number;
  readonly extra?: readonly string[];
}

/** Model, mode, context, cost and place in one row; what matters least goes first where there is no room. */
export function statusLine({ view, place, hint, marks, width, extra = [] }: StatusFacts): Line {
  if (hint !== undefined) return fitLine([span("  "), ...hint], width);
  if (view === undefined) return fitLine([span("  starting", { role: "muted" })], width);
  const { usedTokens, windowTokens } = view.context;
  const share =
    windowTokens === undefined
      ? `${tokensText(usedTokens)} tokens`
      : `${Math.round((100 * usedTokens) / windowTokens)}% of ${tokensText(windowTokens)}`;
  const model = view.effort === undefined ? view.model : `${view.model}:${view.effort}`;
  const short = model.slice(model.indexOf("/") + 1);
  const cost = costText(view.costUsd);
  const separator = `  ${marks.dot}  `;
  const mode = modeName(view.mode);
  const fits = (parts: readonly string[]): boolean => columnsOf(parts.join(separator)) + 2 <= width;
  const choices: readonly (readonly string[])[] = [
    [model, mode, share, cost, place, ...extra],
    [short, mode, share, cost, place, ...extra],
    [model, mode, share, cost, place],
    [short, mode, share, cost, place],
    [short, mode, share, cost],
    [short, mode, share],
    [short, mode],
  ];
  const parts = choices.find(fits) ?? [mode];
  const spans = parts.flatMap((text, index) => [
    span(index === 0 ? "  " : separator, { role: "muted" }),
    span(text, {
      role:
        text === mode ? MODES[view.mode] : text === share && isNearEnd(view.context) ? "warning" : "muted",
    }),
  ]);
  return fitLine(spans, width);
}

const MODES: { readonly [mode in SessionView["mode"]]: Role } = {
  default: "muted",
  acceptEdits: "good",
  auto: "good",
  plan: "plan",
  dontAsk: "warning",
  bypassPermissions: "bad",
};

function isNearEnd({ usedTokens, windowTokens }: SessionView["context"]): boolean {
  return windowTokens !== undefined && usedTokens > windowTokens * 0.8;
}

/**
 * The activity of a run that waits for no answer, in one row: phase, time, tokens, a retry with the seconds
 * left.
 */
export function activityLine(
  view: SessionView,
  { now, marks, width }: { readonly now: number; readonly marks: Marks; readonly width: number },
): Line | undefined {
  const { run } = view;
  // A question announces itself.
  if (run === undefined || view.state === "waiting") return undefined;
  const beat = Math.floor(now / 1_000) % 2 === 0 ? marks.tool : marks.todo;
  if (run.retry !== undefined) {
    const left = Math.max(0, Math.ceil((run.retry.until - now) / 1_000));
    const reason = oneLine(run.retry.reason);
    return fitLine(
      [
        span(`${beat} attempt ${run.retry.attempt} in ${left} s`, { role: "warning" }),
        span(`  ${reason}`, { role: "muted" }),
      ],
      width,
    );
  }
  const word = view.state === "stopping" ? "stopping" : PHASES[run.phase];
  const facts = [
    secondsText(now - run.startedAt),
    ...(run.outputTokens > 0 ? [`${marks.down} ${tokensText(run.outputTokens)} tokens`] : []),
    ...(view.state === "running" ? ["esc stops"] : []),
  ];
  const head: Line = [span(`${beat} ${word}`, { role: "accent" })];
  const tail: Line = [span(facts.map((each) => `  ${marks.dot}  ${each}`).join(""), { role: "muted" })];
  return lineColumns([...head, ...tail]) <= width
    ? [...head, ...tail]
    : fitLine([...head, span(`  ${facts[0] ?? ""}`, { role: "muted" })], width);
}

const PHASES: { readonly [phase in NonNullable<SessionView["run"]>["phase"]]: string } = {
  waiting: "waiting for the model",
  thinking: "thinking",
  answering: "answering",
  tools: "working",
  compacting: "making room in the conversation",
};

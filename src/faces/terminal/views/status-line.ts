import { modeName } from "../../../view/mode-names.ts";
import type { SessionView } from "../../../view/view.ts";
import { retryText } from "../../../view/words.ts";
import { columnsOf } from "../../text/columns.ts";
import { fitLine, type Line, lineColumns, type Span, span } from "../paint/line.ts";
import type { Marks, Style } from "../paint/theme.ts";
import { costText, secondsText, tokensText } from "./amounts.ts";

/** The facts in the last row of the screen. */
export interface StatusFacts {
  readonly view: Pick<SessionView, "model" | "effort" | "mode" | "context" | "costUsd"> | undefined;
  /** Branch, else the name of the folder. */
  readonly place: string;
  readonly marks: Marks;
  readonly width: number;
  readonly extra?: readonly string[];
}

/** Mode, model, context, cost and place in one row; what matters least goes first where there is no room. */
export function statusLine({ view, place, marks, width, extra = [] }: StatusFacts): Line {
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
  const fits = (parts: readonly string[]): boolean => columnsOf(parts.join(separator)) + 2 <= width;
  const choices: readonly (readonly string[])[] = [
    [mode, model, share, ...cost, place, ...extra],
    [mode, model, share, ...cost, place],
    [mode, model, share, ...cost],
    [mode, model, share],
    [mode, model],
  ];
  const parts = choices.find(fits) ?? [mode];
  const spans = parts.flatMap((text, index) => [
    span(index === 0 ? "  " : separator, { role: "muted" }),
    span(
      text,
      index === 0
        ? MODES[view.mode]
        : { role: text === share && isNearEnd(view.context) ? "warning" : "muted" },
    ),
  ]);
  return fitLine(spans, width);
}

/** The name of a model without its provider. */
export function modelShort(name: string): string {
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

function isNearEnd({ usedTokens, windowTokens }: SessionView["context"]): boolean {
  return windowTokens !== undefined && usedTokens > windowTokens * 0.8;
}

/**
 * The rule above the input, one row: while a run is at work it tells the time, the tokens, or a retry with
 * the seconds left.
 */
export function inputRule(view: SessionView | undefined, { now, marks, width }: RuleLook): Line {
  const facts = view === undefined ? undefined : activityOf(view, now, marks);
  const role = view?.mode === "plan" ? "plan" : view?.mode === "bypassPermissions" ? "bad" : "rule";
  const rule = (columns: number): Span => span(marks.rule.repeat(Math.max(0, columns)), { role });
  const warning = view?.mode === "bypassPermissions" && width >= WARNING_FROM ? BYPASS : "";
  const tail: Line = warning === "" ? [] : [span(warning, { role, bold: true }), rule(2)];
  const room = width - lineColumns(tail);
  if (facts === undefined) return [rule(room), ...tail];
  const head: Line = [rule(2), span(" "), ...fitLine(facts, Math.max(1, room - 6)), span(" ")];
  return fitLine([...head, rule(room - lineColumns(head)), ...tail], width);
}

const BYPASS = " bypass asks nothing ";
const WARNING_FROM = 50;

type RuleLook = { readonly now: number; readonly marks: Marks; readonly width: number };

/** The words for a run that waits for no answer: a question announces itself. */
function activityOf(view: SessionView, now: number, marks: Marks): Line | undefined {
  const { run, state } = view;
  if (run === undefined || state === "waiting") return undefined;
  const beat = span(`${Math.floor(now / 1_000) % 2 === 0 ? marks.tool : marks.todo} `, { role: "accent" });
  const stops = state === "running" ? ["esc stops"] : [];
  if (run.retry !== undefined) {
    return [
      beat,
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
  return [beat, span(facts.join(` ${marks.dot} `), { role: "muted" })];
}

import { ownValue } from "../../../core/base/json.ts";
import { pluralize } from "../../../core/base/text.ts";
import type { FileDiff } from "../../../view/file-diff.ts";
import { MODE_EFFECTS, modeName } from "../../../view/mode-names.ts";
import { diffsIn } from "../../../view/view-fold.ts";
import { costText, tokensText } from "../../text/amounts.ts";
import { columnsOf } from "../../text/columns.ts";
import { ACTIONS, type KeyAction } from "../editor/keymap.ts";
import { markdownRows } from "../markdown/markdown-stream.ts";
import {
  fitLine,
  type Line,
  line,
  lineColumns,
  span,
  textLines,
  type ViewContext,
  wrapLine,
} from "../paint/line.ts";
import type { Style } from "../paint/theme.ts";
import { diffLines } from "../views/diff-lines.ts";
import { wholeQuestion } from "../views/question-lines.ts";
import { detailRows } from "../views/rows.ts";
import { type Control, ownCommand, recordsIn, type SlashCommand } from "./control.ts";

/** Shows the current keys; below them `commands`, if given, and the keys for writing. */
export function openHelp(control: Control, commands: readonly SlashCommand[] = []): void {
  control.page({
    title: commands.length === 0 ? "Keys" : "Help",
    right: commands.length === 0 ? "/help commands" : "",
    rows: (context) => helpLines(control, commands, context),
  });
}

/** The keys a person needs from the first day, briefly, in two columns. */
const FIRST_KEYS: readonly (readonly [KeyAction | "escape escape", string])[] = [
  ["send", "send, or steer the run"],
  ["queue", "queue for after it"],
  ["escape", "stop the run"],
  ["escape escape", "rewind to a message"],
  ["mode", "auto, ask, plan"],
  ["details", "expand calls and thinking"],
  ["take-back", "edit what is queued"],
  ["queue-list", "show the queue"],
  ["newline", "new line"],
  ["editor", "write in $EDITOR"],
  ["up", "previous input"],
  ["search-history", "search it"],
  ["image", "paste an image"],
  ["interrupt", "clear, stop, leave"],
];

const INPUTS = [
  ["@file", "mention a file"],
  ["!command", "run it and show the model"],
  ["#text", "remember it in AGENTS.md"],
  ["!!command", "run it for yourself alone"],
] as const;

const PAIRS_FROM = 80;

function helpLines(
  control: Control,
  commands: readonly SlashCommand[],
  { width }: ViewContext,
): readonly Line[] {
  const { keysOf } = control.screen.keymap;
  const keyLabel = (action: KeyAction | "escape escape"): string =>
    action === "escape escape" ? "esc esc" : (keysOf.get(action)?.[0] ?? "").replace("escape", "esc");
  const keys = FIRST_KEYS.map(([action, does]) => [keyLabel(action), does] as const).filter(
    ([key]) => key !== "",
  );
  const pairs = (rows: readonly (readonly [string, string])[]): readonly Line[] => {
    const isPaired = width >= PAIRS_FROM;
    const cells = rows.map(([key, does], index): Line => {
      const isSecond = isPaired && index % 2 === 1;
      return [span(isSecond ? key.padEnd(11) : `  ${key.padEnd(13)}`, { bold: true }), span(does)];
    });
    if (!isPaired) return cells.map((cell) => fitLine(cell, width));
    return cells.flatMap((cell, index): readonly Line[] => {
      const gap = span(" ".repeat(Math.max(1, 43 - lineColumns(cell))));
      return index % 2 === 0 ? [[...cell, gap, ...(cells[index + 1] ?? [])]] : [];
    });
  };
  const row = (left: string, right: string): readonly Line[] =>
    wrapLine([span(right, { role: "muted" })], {
      width,
      first: line(`  ${left.padEnd(24)}  `),
      rest: line(" ".repeat(Math.min(28, Math.floor(width / 2)))),
    });
  const first = [[], ...pairs(keys), [], ...pairs(INPUTS)];
  if (commands.length === 0) return [...first, []];
  const actions = Object.keys(ACTIONS) as KeyAction[];
  const title = (text: string): Line => line(text, { role: "heading", bold: true });
  return [
    ...first,
    [],
    title("Commands"),
    ...commands.flatMap(({ name, note, hint }) =>
      row(`/${name}${hint === undefined ? "" : ` ${hint}`}`, note),
    ),
    [],
    title("All keys"),
    ...actions.flatMap((action) => {
      const names = keysOf.get(action) ?? [];
      return names.length === 0 ? [] : row(names.slice(0, 3).join(", "), ACTIONS[action].does);
    }),
  ];
}

/** Shows the open question in full, else calls and thinking unfolded. */
export function openDetails(control: Control): void {
  const { session, question } = control.screen;
  if (session === undefined) return;
  control.page({
    title: question === undefined ? "Calls and thinking" : "What is asked",
    rows: (context) =>
      question === undefined ? detailRows(session.view.items, context) : wholeQuestion(question, context),
    fromEnd: question === undefined,
  });
}

export function showDiff(control: Control): void {
  const { session } = control.screen;
  const changes = diffsIn(session?.view.items ?? []);
  if (changes.length === 0) {
    control.say("No call of this session has changed a file.", "muted");
    return;
  }
  control.page({
    title: "Changes",
    rows: (context) =>
      changes.flatMap((diff): readonly Line[] => [diffHeading(diff), ...diffLines(diff, context), []]),
  });
}

export function showPlan(control: Control): void {
  const plan = control.screen.session?.view.plan;
  if (plan === undefined) {
    control.say("No plan was approved in this session. /mode plan begins one.", "muted");
    return;
  }
  control.page({
    title: "Plan",
    rows: ({ width, marks }) => markdownRows(plan, width - 2, marks).map((row): Line => [span("  "), ...row]),
  });
}

function diffHeading({ path, added, removed, isNew }: FileDiff): Line {
  return [
    span(path, { bold: true }),
    span(`  ${isNew ? "new, " : ""}`, { role: "muted" }),
    span(`+${added}`, { role: "added" }),
    span(` -${removed}`, { role: "removed" }),
  ];
}

export async function showPermissions(control: Control): Promise<void> {
  const [settings, builtIn] = await Promise.all([
    ownCommand(["config", "--json"], control.ports),
    ownCommand(["permissions", "defaults"], control.ports),
  ]);
  const mode = control.screen.session?.view.mode ?? "default";
  const rules = rulesIn(settings);
  control.page({
    title: "Permissions",
    rows: (context) => [
      ...factRows(
        { label: "mode", text: `${modeName(mode)}: ${MODE_EFFECTS[mode]}`, note: "/mode changes it" },
        context,
      ),
      ...rules.flatMap((rule) => factRows(rule, context)),
      ...(rules.length === 0
        ? factRows({ label: "rules", text: "none of your own", note: "Always allow adds one" }, context)
        : []),
      ...factRows(
        { label: "", text: "", note: "Those of the command line and of this session hold too." },
        context,
      ),
      [],
      line("Built in", { role: "heading", bold: true }),
      ...textLines(builtIn.trimEnd()).flatMap((row) =>
        wrapLine(line(row), { width: context.width, first: line("  ") }),
      ),
    ],
  });
}

interface Fact {
  readonly label: string;
  readonly text: string;
  readonly note: string;
}

function factRows({ label, text, note }: Fact, { width }: ViewContext): readonly Line[] {
  const role = label === "deny" ? "bad" : label === "ask" ? "warning" : label === "allow" ? "good" : "muted";
  const gap = text === "" ? "" : "  ";
  return wrapLine([span(text), span(`${gap}${note}`, { role: "muted" })], {
    width,
    first: line(`  ${label.padEnd(6)}`, { role }),
  });
}

function rulesIn(json: string): readonly Fact[] {
  return recordsIn(json).flatMap((row) => {
    if (typeof row["key"] !== "string" || !Array.isArray(row["value"])) return [];
    const label = ownValue(RULE_LABELS, row["key"]);
    const rules: readonly unknown[] = row["value"];
    return label === undefined
      ? []
      : rules.map((rule) => ({ label, text: String(rule), note: String(row["source"]) }));
  });
}

const RULE_LABELS: { readonly [key: string]: string | undefined } = {
  "permissions.allow": "allow",
  "permissions.ask": "ask",
  "permissions.deny": "deny",
  allowedTools: "allow",
  disallowedTools: "deny",
};

const MOST_COLUMNS = 100;

interface Part {
  readonly label: string;
  readonly tokens: number;
  readonly style: Style;
}

/** The provider counts the total; the shares of the parts are estimates scaled to it. */
export function showContext(control: Control): void {
  const { session } = control.screen;
  if (session === undefined) return;
  const { usedTokens: used, windowTokens, parts } = session.stats().context;
  const { marks, width } = control.screen.context;
  const { system, tools, messages, results, answers } = parts;
  const sum = Math.max(1, system + tools + messages);
  const shares: readonly Part[] = [
    { label: "instructions and tools", tokens: system + tools, style: { role: "muted" } as const },
    { label: "tool results", tokens: results, style: { role: "trace-ran" } as const },
    { label: "your messages", tokens: Math.max(0, messages - results - answers), style: { bold: true } },
    { label: "answers", tokens: answers, style: { role: "trace-edit" } as const },
  ].map((part) => ({ ...part, tokens: (part.tokens / sum) * used }));
  const columns = Math.min(MOST_COLUMNS, width);
  const window = Math.max(windowTokens ?? used, used, 1);
  let left = columns;
  const bar = shares.map(({ tokens, style }) => {
    const cells = Math.min(left, tokens < 0.5 ? 0 : Math.max(1, Math.round((tokens / window) * columns)));
    left -= cells;
    return span(marks.full.repeat(cells), style);
  });
  const of =
    windowTokens === undefined
      ? "; the window of this model is unknown: contextWindow in the settings of its provider sets it"
      : ` of ${tokensText(windowTokens)} tokens, ${Math.round((100 * used) / windowTokens)}%`;
  const entries = shares.map(({ label, tokens, style }): Line => {
    const amount = span(tokensText(tokens).padStart(30 - columnsOf(label)), { role: "muted" });
    return [span(marks.full, style), span(` ${label}`), amount];
  });
  const [first = [], second = [], third = [], fourth = []] = entries;
  const legend =
    width < PAIRS_FROM
      ? entries
      : [
          [...first, span("     "), ...second],
          [...third, span("     "), ...fourth],
        ];
  control.print([
    [span("Context", { bold: true }), span(`  ${tokensText(used)}${of}`)],
    ...(windowTokens === undefined ? [] : [[...bar, span(marks.empty.repeat(left), { role: "rule" })]]),
    ...legend,
    line("/compact frees space; it runs by itself near the end.", { role: "muted" }),
  ]);
}

export function showCost(control: Control): void {
  const { session } = control.screen;
  if (session === undefined) return;
  const { dot } = control.screen.context.marks;
  const { cost, models, runs, turns, toolCalls } = session.stats();
  const counts = [pluralize(runs, "run"), pluralize(turns, "request"), pluralize(toolCalls, "call")];
  control.print([
    [
      span("Cost", { bold: true }),
      span(`  ${[costText(cost).replace(/^cost /, ""), ...counts].join(` ${dot} `)}`),
    ],
    ...models.map(({ model, usage: { inputTokens, cacheReadTokens = 0, outputTokens }, costUsd }) => {
      const cached = cacheReadTokens === 0 ? "" : `, ${tokensText(cacheReadTokens)} of it cached`;
      const tokens = `${tokensText(inputTokens)} in${cached}, ${tokensText(outputTokens)} out`;
      return [span(model), span(`  ${costText(costUsd)}  ${tokens}`, { role: "muted" })];
    }),
  ]);
}

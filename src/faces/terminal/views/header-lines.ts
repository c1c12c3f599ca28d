import { homedir } from "node:os";
import { join, relative } from "node:path";
import type { CodingSession, SessionInfo } from "../../../coding/session/coding-session.ts";
import { counted } from "../../../core/base/text.ts";
import { MODE_EFFECTS, modeName } from "../../../view/mode-names.ts";
import { fitLine, type Line, line, span, textLines, wrapLine } from "../paint/line.ts";
import { tokensText } from "./amounts.ts";
import { titleRule } from "./question-lines.ts";
import { modelShort } from "./status-line.ts";
import type { ViewContext } from "./view-context.ts";

/** The facts of the header. */
export interface HeaderFacts {
  readonly info: SessionInfo;
  readonly version: string;
  /** True where the mode is news: in a new folder, or one that a flag chose. */
  readonly tellsMode: boolean;
}

/** Printed once at the start: program, folder, model and why, instructions, and the mode if it is news. */
export function headerLines(
  { info, version, tellsMode }: HeaderFacts,
  { width, marks }: ViewContext,
): readonly Line[] {
  const isPlain = marks.full === "#";
  const logo = isPlain ? [[], []] : [[span("█▀"), span("▄", { role: "accent" })], [span("▀ ▀")]];
  const indent = isPlain ? "" : "     ";
  const [first = [], second = []] = logo.map((part) => (isPlain ? part : [...part, span("  ")]));
  const { model, instructions, skills, mode } = info;
  const window = model.windowTokens === undefined ? "" : `, ${tokensText(model.windowTokens)} context`;
  const facts = [
    `${modelShort(model.name)}${window}${model.source === undefined ? "" : `, from ${model.source}`}`,
    ...(instructions.length === 0
      ? []
      : [`reads ${listed(instructions.map((path) => shownPath(path, info.cwd)))}`]),
    ...(skills.length === 0 ? [] : [counted(skills.length, "skill")]),
    ...(info.sandbox === "off" ? ["no sandbox"] : []),
  ].join(` ${marks.dot} `);
  const about = wrapLine(line(facts, { role: "muted" }), { width, first: line(indent), rest: line(indent) });
  const sentence = `${MODE_EFFECTS[mode]} Shift+Tab switches.`;
  return [
    fitLine([...first, span(`nano-agent ${version}`, { bold: true })], width),
    fitLine([...second, span(shownPath(info.cwd))], width),
    ...(width < NARROW ? [] : about),
    ...(tellsMode
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

const NARROW = 60;

/** Stands where a conversation ends and another one begins. */
export function markLines(title: string, context: ViewContext): readonly Line[] {
  return [[], ...titleRule({ title: line(title, { role: "muted" }), role: "rule" }, context)];
}

/** A path as short as it can be told: from the folder at work, else from home. */
function shownPath(path: string, cwd?: string): string {
  const near = cwd === undefined ? path : relative(cwd, path);
  if (cwd !== undefined && !near.startsWith("..")) return near;
  const fromHome = relative(homedir(), path);
  return fromHome === "" ? "~" : fromHome.startsWith("..") ? path : join("~", fromHome);
}

function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}

/** How to go on with a session that said something, and what still waits; `isStored`: it is kept. */
export function goOnLines(
  session: CodingSession | undefined,
  { isStored, width }: { readonly isStored: boolean; readonly width: number },
): readonly Line[] {
  const goOn = session?.info.goOn;
  if (session === undefined || !session.view.items.some(({ type }) => type === "user")) return [];
  const waiting = session.view.queue.flatMap(({ text }) => textLines(text));
  const unsent = waiting.flatMap((text) => wrapLine([span(`  ${text}`)], { width }));
  const title = isStored ? "Still queued when you go on:" : "Was not sent, and is not kept:";
  const head = unsent.length === 0 ? [] : [[], line(title, { role: "warning" }), ...unsent];
  return goOn === undefined ? head : [...head, [], line(`To go on: nano-agent ${goOn}`, { role: "muted" })];
}

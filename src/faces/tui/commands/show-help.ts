import { ACTIONS, type KeyAction } from "../editor/keymap.ts";
import { type Line, line, span, wrapLine } from "../paint/line.ts";
import { Pager } from "../panels/pager.ts";
import type { ViewContext } from "../views/view-context.ts";
import type { Control } from "./control.ts";

/** A command as the help shows it. */
export interface HelpCommand {
  readonly name: string;
  readonly note: string;
  readonly hint?: string;
}

/** Shows keys and commands. */
export function openHelp(control: Control, commands: readonly HelpCommand[]): void {
  const panel: Pager = new Pager({
    title: "Help",
    rows: (context) => helpLines(control, commands, context),
    onClose: () => control.screen.close(panel),
  });
  control.screen.open(panel);
}

function helpLines(
  control: Control,
  commands: readonly HelpCommand[],
  { width }: ViewContext,
): readonly Line[] {
  const row = (left: string, right: string, column: number): readonly Line[] =>
    wrapLine([span(right, { role: "muted" })], {
      width,
      first: line(`  ${left.padEnd(column)}  `),
      rest: line(" ".repeat(Math.min(column + 4, Math.floor(width / 2)))),
    });
  const actions = Object.keys(ACTIONS) as KeyAction[];
  const keys = actions.flatMap((action) => {
    const names = control.keymap.keysOf.get(action) ?? [];
    return names.length === 0 ? [] : row(names.slice(0, 3).join(", "), ACTIONS[action].does, 24);
  });
  const named = commands.flatMap(({ name, note, hint }) =>
    row(`/${name}${hint === undefined ? "" : ` ${hint}`}`, note, 24),
  );
  const title = (text: string): Line => line(text, { role: "heading", bold: true });
  return [
    title("Input"),
    ...row("@file", "names a file of the project", 24),
    ...row("!command", "runs it; the model sees it with your next message (!!: it does not)", 24),
    ...row("#text", "remembers it in AGENTS.md", 24),
    [],
    title("Commands"),
    ...named,
    [],
    title("Keys"),
    ...keys,
  ];
}

import type { FileDiff } from "../../../app/coding-session/file-diff.ts";
import type { ViewItem } from "../../../app/coding-session/view.ts";
import { type Line, span } from "../paint/line.ts";
import { Pager } from "../panels/pager.ts";
import { diffLines } from "../views/diff-lines.ts";
import type { Control } from "./control.ts";

/** Shows every change that calls of this session made, subagents' included, in the order they were made. */
export function showDiff(control: Control): void {
  const { session } = control.screen;
  const changes = changesIn(session?.view.items ?? []);
  if (changes.length === 0) {
    control.say("No call of this session has changed a file.", "muted");
    return;
  }
  const panel: Pager = new Pager({
    title: "Changes",
    rows: (context) =>
      changes.flatMap((diff): readonly Line[] => [headOf(diff), ...diffLines(diff, context), []]),
    onClose: () => control.screen.close(panel),
  });
  control.screen.open(panel);
}

function headOf({ path, added, removed, isNew }: FileDiff): Line {
  return [
    span(path, { bold: true }),
    span(`  ${isNew ? "new, " : ""}`, { role: "muted" }),
    span(`+${added}`, { role: "added" }),
    span(` -${removed}`, { role: "removed" }),
  ];
}

function changesIn(items: readonly ViewItem[]): readonly FileDiff[] {
  return items.flatMap((item) => {
    if (item.type !== "tool") return [];
    const own = item.diff !== undefined && item.state === "ok" ? [item.diff] : [];
    return [...own, ...changesIn(item.agent?.items ?? [])];
  });
}

import type { FileChange } from "../../core/agent/file-change.ts";
import { shownPath } from "./path-key.ts";

const MAX_NAMED = 30;

/** What the model is told after files were put back or forth. */
export function rollbackNote(direction: "undo" | "redo", changes: readonly FileChange[]): string {
  const files = changes.filter(({ before, after }) => after?.type !== "folder" && before?.type !== "folder");
  const lines = files.slice(0, MAX_NAMED).map((change) => `- ${describeChange(change)}`);
  if (files.length > MAX_NAMED) lines.push(`- and ${files.length - MAX_NAMED} more`);
  const what =
    direction === "undo"
      ? "[The user took back changes to files with undo. On disk now:"
      : "[The user brought changes to files back with redo. On disk now:";
  return `${what}\n${lines.join("\n")}\nRead a file again before you change it, and do not repeat what was taken back unless you are asked to.]`;
}

/** What happened to a path, in a few words. */
export function describeChange({ path, before, after }: FileChange): string {
  const shown = shownPath(path);
  const kind = (after ?? before)?.type === "folder" ? `${shown}/` : shown;
  if (after === null) return `${kind}: removed`;
  if (before === null) return `${kind}: back again`;
  if (before.type === "file" && after.type === "file" && before.hash === after.hash)
    return `${kind}: mode ${after.mode.toString(8)} again`;
  return `${kind}: put back`;
}

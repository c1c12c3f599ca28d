import { rollbackText } from "../../terminal/rollback-text.ts";
import { textLines } from "../paint/line.ts";
import type { Control } from "./control.ts";

/** Puts files back to how they were before the last run that changed any; `force` also what somebody else changed since. */
export async function undo(control: Control, args: string): Promise<void> {
  const { session } = control.screen;
  if (session === undefined) return;
  const report = await session.undo(args === "force" ? { force: true } : {});
  control.print(textLines(rollbackText(report, { isDry: false, on: "screen" }).trimEnd()));
}

/** Takes the newest undo back. */
export async function redo(control: Control, args: string): Promise<void> {
  const { session } = control.screen;
  if (session === undefined) return;
  const report = await session.redo(args === "force" ? { force: true } : {});
  control.print(textLines(rollbackText(report, { isDry: false, on: "screen" }).trimEnd()));
}

import type { FileChange, Omission, OmissionReason } from "../../core/agent/entries.ts";
import type { FailedPath } from "../../session/undo/file-changes.ts";
import { displayPath } from "../../session/undo/path-state.ts";
import {
  describeChange,
  type Obstacle,
  type RollbackReport,
  type SkippedPath,
} from "../../session/undo/rollback.ts";
import { terminalLine } from "../../view/safe-text.ts";

const MAX_LINES = 200;

export interface RollbackTextOptions {
  readonly isDry: boolean;
  /** Where the reader types commands. */
  readonly on: "shell" | "screen";
}

export function rollbackText(report: RollbackReport, options: RollbackTextOptions): string {
  const { isDry, on } = options;
  const { changes, left, failed, omitted } = report;
  const sections = [headline(report, options)];
  if (report.status !== "refused") sections.push(...listLines(files(changes).map(describeChange)));
  const lost = left.filter(({ reason }) => report.status !== "refused" || !isOthersChange(reason));
  const others = left.filter(({ reason }) => report.status === "refused" && isOthersChange(reason));
  sections.push(...listLines(others.map((each) => leftLine(each, report, on))));
  if (others.length > 0) sections.push(advice(report, on));
  if (lost.length > 0)
    sections.push("Left as it is:", ...listLines(lost.map((each) => leftLine(each, report, on))));
  const kept = failed.filter(({ isKeptFolder }) => isKeptFolder === true);
  const broken = failed.filter(({ isKeptFolder }) => isKeptFolder !== true);
  if (kept.length > 0) sections.push("Left as it is:", ...listLines(kept.map(failedLine)));
  if (broken.length > 0) sections.push("Failed:", ...listLines(broken.map(failedLine)));
  if (omitted.length > 0)
    sections.push(
      "Not covered, so changes there were not put back:",
      ...listLines(omitted.map(omissionLine)),
    );
  if (report.status === "done" && report.direction === "undo" && !isDry)
    sections.push(
      `${on === "screen" ? "/redo" : "nano-agent redo"} reverts this. Git commits stay as they are.`,
    );
  return `${sections.join("\n")}\n`;
}

export function rollbackJson(report: RollbackReport, isDry: boolean): object {
  const { status, direction, to, root, changes, left, failed, omitted } = report;
  return {
    status,
    direction,
    ...(isDry ? { dry_run: true } : {}),
    ...(to === undefined ? {} : { to: `${to.run}${to.turn === 0 ? "" : `.${to.turn}`}` }),
    root,
    changes: changes.map(({ path, before, after }) => ({
      path: displayPath(path),
      before: before?.type ?? null,
      after: after?.type ?? null,
    })),
    left: left.map(({ path, reason }) => ({ path: displayPath(path), reason })),
    failed: failed.map(({ path, reason }) => ({ path: displayPath(path), reason })),
    omitted: omitted.map(({ path, reason }) => ({ path: displayPath(path), reason })),
  };
}

function headline(
  { status, direction, to, left }: RollbackReport,
  { isDry, on }: RollbackTextOptions,
): string {
  const where =
    to === undefined ? "" : `, back to before turn ${to.run}${to.turn === 0 ? "" : `.${to.turn}`}`;
  switch (status) {
    case "done":
      if (isDry) return direction === "undo" ? `Would be undone${where}:` : "Would be redone:";
      return direction === "undo" ? `Undone${where}:` : "Redone:";
    case "finished":
      return `The last ${direction} was cut in the middle and is finished now; nothing else was done:`;
    case "nothing":
      return left.length > 0
        ? `Nothing was put back.`
        : `There is nothing to ${direction} in this session${on === "screen" ? "." : "; --session ID names another one (nano-agent sessions list)."}`;
    case "refused":
      return "Nothing was put back: these were changed by somebody else, which would be lost.";
  }
}

function turnOf({ to }: RollbackReport): string {
  return to === undefined ? "" : ` ${to.run}${to.turn === 0 ? "" : `.${to.turn}`}`;
}

function advice(report: RollbackReport, on: RollbackTextOptions["on"]): string {
  const { direction } = report;
  if (on === "screen")
    return `/${direction} force puts all of them back; what stands there now is kept, and can be had back.`;
  const turn = turnOf(report);
  const some =
    direction === "undo" ? `Name the paths to put back (nano-agent undo${turn} -- PATH…), or put` : "Put";
  return `${some} back all of them with --force; what stands there now is kept, and can be had back.`;
}

const OBSTACLES: { readonly [reason in Obstacle]: string } = {
  changed: "changed since",
  changed_between: "changed by somebody else between two calls, or it cannot be told",
  not_kept: "not removed, because it is not kept and could not come back",
  lost: "what stood there is not kept",
};

const OMISSIONS: { readonly [reason in OmissionReason]: string } = {
  too_large: "too large",
  no_room: "the space for undo is used up",
  unreadable: "not readable",
  special: "not a regular file",
  too_many_files: "too many files",
  no_time: "not read for the first time yet",
  mount: "another file system",
  outside: "outside of the workspace",
  failed: "could not be looked at",
};

function isOthersChange(reason: Obstacle): boolean {
  return reason === "changed" || reason === "changed_between";
}

function leftLine(
  { path, reason }: SkippedPath,
  report: RollbackReport,
  on: RollbackTextOptions["on"],
): string {
  // A redo has no turn to name, and what it leaves stays.
  const forced = reason === "not_kept" && report.direction === "undo" && report.to !== undefined;
  const force = on === "screen" ? "/undo force" : `nano-agent undo${turnOf(report)} --force`;
  const more = forced ? `; ${force} removes it` : "";
  return `${displayPath(path)}: ${OBSTACLES[reason]}${more}`;
}

function failedLine({ path, reason }: FailedPath): string {
  return `${displayPath(path)}: ${reason}`;
}

function omissionLine({ path, reason }: Omission): string {
  return `${path === "" ? "the workspace" : displayPath(path)}: ${OMISSIONS[reason]}`;
}

/** Omits folders, unless only folders changed. */
function files(changes: readonly FileChange[]): readonly FileChange[] {
  const found = changes.filter(({ before, after }) => before?.type !== "folder" && after?.type !== "folder");
  return found.length === 0 ? changes : found;
}

function listLines(lines: readonly string[]): string[] {
  const shown = lines.slice(0, MAX_LINES).map((line) => `  ${terminalLine(line, 500)}`);
  return lines.length > MAX_LINES ? [...shown, `  and ${lines.length - MAX_LINES} more`] : shown;
}

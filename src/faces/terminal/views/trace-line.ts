import { type Line, span } from "../paint/line.ts";
import type { Marks, Role } from "../paint/theme.ts";

/** Bars by height. */
const BARS = "▁▂▅█";
const ROLES: { readonly [kind: string]: Role } = {
  l: "muted",
  b: "trace-ran",
  e: "trace-edit",
  w: "warning",
  f: "bad",
};

/**
 * The trace of a session: a bar for each step, its height the time, its colour what was done. Of `trace`, two
 * letters a step. Nothing where there are no such characters.
 */
export function traceLine(trace: string, marks: Marks): Line {
  if (marks.full !== "█") return [];
  return [...trace.matchAll(/([a-z])(\d)/g)].map(([, kind = "l", height = "1"]) =>
    span(BARS[Number(height) - 1] ?? "▁", { role: ROLES[kind] ?? "muted" }),
  );
}

import type { BarKind, TimelineRow } from "./timeline-bar.ts";

/** The parts that the time of a session is divided into. */
export type TimeShare = "streaming" | "waiting" | "compaction" | "retry" | "asking" | "tool" | "other";

/** Milliseconds by part. Every moment of every run counts once, so they add up to the time of all runs. */
export type TimeShares = { readonly [share in TimeShare]: number };

/** The parts, the one first that counts where several things happen at once. */
export const TIME_SHARES: readonly TimeShare[] = [
  "streaming",
  "waiting",
  "compaction",
  "retry",
  "asking",
  "tool",
  "other",
];

const SHARE_OF: { readonly [kind in BarKind]: TimeShare } = {
  streaming: "streaming",
  waiting: "waiting",
  compaction: "compaction",
  failed: "retry",
  backoff: "retry",
  asking: "asking",
  tool: "tool",
  agent: "other",
};

interface Edge {
  readonly time: number;
  readonly share: number;
  readonly step: 1 | -1;
}

/** Divides the time of runs among the things that were going on. */
export function timeShares(
  rows: readonly TimelineRow[],
  runs: readonly { readonly from: number; readonly to: number }[],
): TimeShares {
  const edges: Edge[] = [];
  const add = (from: number, to: number, share: TimeShare): void => {
    if (to <= from) return;
    const place = TIME_SHARES.indexOf(share);
    edges.push({ time: from, share: place, step: 1 }, { time: to, share: place, step: -1 });
  };
  for (const { from, to } of runs) add(from, to, "other");
  for (const { bars } of rows)
    for (const { kind, from, to } of bars) if (kind !== "agent") add(from, to, SHARE_OF[kind]);
  edges.sort((left, right) => left.time - right.time);
  const sums = TIME_SHARES.map(() => 0);
  const active = TIME_SHARES.map(() => 0);
  let before = edges[0]?.time ?? 0;
  for (const { time, share, step } of edges) {
    const counts = active.findIndex((count) => count > 0);
    if (counts !== -1) sums[counts] = (sums[counts] ?? 0) + time - before;
    before = time;
    active[share] = (active[share] ?? 0) + step;
  }
  return Object.fromEntries(TIME_SHARES.map((share, at) => [share, sums[at] ?? 0])) as TimeShares;
}

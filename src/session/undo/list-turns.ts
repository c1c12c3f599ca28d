import { textOf } from "../../core/message/message.ts";
import type { CheckpointHistory } from "./checkpoint-history.ts";
import type { PathKey } from "./path-key.ts";

/** Changes of one turn. */
export interface ChangedTurn {
  /** Number of the model's answer in its run, from 1. */
  readonly turn: number;
  /** Tools whose calls changed something, each once. */
  readonly tools: readonly string[];
  /** Changed paths, each once. */
  readonly paths: readonly PathKey[];
}

/** Changes of one run. */
export interface ChangedRun {
  /** Counts from 1. */
  readonly run: number;
  /** The input that started it; empty when it went on without one. */
  readonly input: string;
  /** When it changed something first, in milliseconds since the epoch. */
  readonly time: number;
  /** True when it was taken back as a whole. */
  readonly isUndone: boolean;
  readonly turns: readonly ChangedTurn[];
}

/** The runs of a session that changed files, oldest first. */
export function listTurns({ steps, messages, inEffect }: CheckpointHistory): readonly ChangedRun[] {
  const runs = new Map<
    number,
    { time: number; turns: Map<number, { tools: Set<string>; paths: Set<PathKey> }> }
  >();
  for (const { run, turn, time, entry } of steps) {
    if (entry.type !== "checkpoint") continue;
    const known = runs.get(run) ?? { time, turns: new Map() };
    runs.set(run, known);
    const made = known.turns.get(turn) ?? { tools: new Set(), paths: new Set() };
    known.turns.set(turn, made);
    made.tools.add(entry.name);
    for (const { path } of entry.changes) made.paths.add(path);
  }
  return [...runs].map(([run, { time, turns }]) => ({
    run,
    input: textOf(
      messages.find((each) => each.run === run && each.entry.source === "input")?.entry.message.content ?? "",
    ),
    time,
    isUndone: !inEffect.includes(run),
    turns: [...turns].map(([turn, { tools, paths }]) => ({ turn, tools: [...tools], paths: [...paths] })),
  }));
}

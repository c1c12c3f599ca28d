import type { CheckpointEntry, JournalEntry, RollbackEntry, UserEntry } from "../../core/agent/entries.ts";
import { textOf } from "../../core/message/message.ts";
import { Scopes } from "../../journal/scopes.ts";
import type { PathKey } from "./path-state.ts";

/** A point in a session: the run, from 1, and its turn, the number of the answer; 0: before the first. */
export interface TurnPlace {
  readonly run: number;
  readonly turn: number;
}

export interface HistoryStep extends TurnPlace {
  readonly time: number;
  readonly entry: CheckpointEntry | RollbackEntry;
  /** Paths that a rollback could not restore. */
  readonly failed: ReadonlySet<string>;
  readonly isEnded: boolean;
}

interface HistoryMessage extends TurnPlace {
  readonly entry: UserEntry;
}

/** Everything a session did to files. */
export interface CheckpointHistory {
  readonly steps: readonly HistoryStep[];
  /** User messages, oldest first. */
  readonly messages: readonly HistoryMessage[];
  /** Runs that changed files and are not undone, oldest first. */
  readonly inEffect: readonly number[];
  /** The undo that a redo would reverse. */
  readonly redoable: RollbackEntry | undefined;
  /** A call without a result: it was interrupted while it ran, and nothing followed in the session. */
  readonly interrupted: { readonly callId: string; readonly name: string } | undefined;
}

/** Folds the entries of a journal. */
export function checkpointHistory(entries: Iterable<JournalEntry>): CheckpointHistory {
  const fold = new HistoryFold();
  for (const entry of entries) fold.apply(entry);
  return fold.history;
}

export function stepsFrom({ steps }: CheckpointHistory, { run, turn }: TurnPlace): readonly HistoryStep[] {
  const first = steps.findIndex((step) => step.run > run || (step.run === run && step.turn >= turn));
  return first === -1 ? [] : steps.slice(first);
}

/** From a subagent, these neither begin nor end a turn of the conversation. */
const NOT_FROM_SUBAGENTS: ReadonlySet<string> = new Set(["run_start", "run_end", "assistant_message"]);

class HistoryFold {
  readonly #steps: HistoryStep[] = [];
  readonly #messages: HistoryMessage[] = [];
  readonly #open = new Map<string, string>();
  readonly #scopes = new Scopes();
  #inEffect: number[] = [];
  #undone: { readonly entry: RollbackEntry; readonly inEffect: readonly number[] }[] = [];
  #run = 0;
  #turn = 0;

  get history(): CheckpointHistory {
    const last = [...this.#open].at(-1);
    return {
      steps: this.#steps,
      messages: this.#messages,
      inEffect: this.#inEffect,
      redoable: this.#undone.at(-1)?.entry,
      interrupted: last === undefined ? undefined : { callId: last[0], name: last[1] },
    };
  }

  apply(entry: JournalEntry): void {
    if (this.#scopes.of(entry) !== undefined && NOT_FROM_SUBAGENTS.has(entry.type)) return;
    switch (entry.type) {
      case "run_start":
        this.#run++;
        this.#turn = 0;
        this.#open.clear();
        return;
      case "user_message":
        if (entry.scope === undefined && (entry.source === "input" || entry.source === "steering"))
          this.#messages.push({ run: this.#run, turn: this.#turn + 1, entry });
        return;
      case "assistant_message":
        this.#turn++;
        return;
      case "tool_intent":
        this.#open.set(entry.callId, entry.name);
        return;
      case "tool_result":
        this.#open.delete(entry.callId);
        return;
      case "run_end":
        this.#open.clear();
        return;
      case "checkpoint":
        this.#checkpoint(entry);
        return;
      case "rollback":
        this.#rollback(entry);
        return;
      case "rollback_end":
        this.#end(entry.rollback, entry.failed);
        return;
      default:
        return;
    }
  }

  #checkpoint(entry: CheckpointEntry): void {
    this.#add(entry, true);
    if (entry.interrupted === true) this.#open.delete(entry.callId);
    this.#undone = [];
    if (this.#inEffect.at(-1) !== this.#run) this.#inEffect.push(this.#run);
  }

  #rollback(entry: RollbackEntry): void {
    this.#add(entry, false);
    if (entry.direction === "redo") {
      const undone = this.#undone.pop();
      if (undone !== undefined) this.#inEffect = [...undone.inEffect];
      return;
    }
    this.#undone.push({ entry, inEffect: this.#inEffect });
    const { to, partial } = entry;
    if (to === undefined || partial === true) return;
    this.#inEffect = this.#inEffect.filter((run) => run < to.run || (run === to.run && to.turn > 1));
  }

  #add(entry: CheckpointEntry | RollbackEntry, isEnded: boolean): void {
    this.#steps.push({
      run: this.#run,
      turn: this.#turn,
      time: entry.time,
      entry,
      failed: new Set(),
      isEnded,
    });
  }

  #end(rollback: string, failed: readonly string[]): void {
    const at = this.#steps.findLastIndex(({ entry }) => entry.id === rollback);
    const step = this.#steps[at];
    if (step !== undefined) this.#steps[at] = { ...step, failed: new Set(failed), isEnded: true };
  }
}

/** Changes of one turn. */
export interface ChangedTurn {
  /** Number of the model's answer in its run, from 1. */
  readonly turn: number;
  /** Tools whose calls changed something, without duplicates. */
  readonly tools: readonly string[];
  /** Changed paths, without duplicates. */
  readonly paths: readonly PathKey[];
}

/** Changes of one run. */
export interface ChangedRun {
  /** From 1. */
  readonly run: number;
  /** The input that started it; empty if it continued without one. */
  readonly input: string;
  /** Time of its first change, in milliseconds since the epoch. */
  readonly time: number;
  /** True if it was undone as a whole. */
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

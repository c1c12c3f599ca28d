import type { Difference } from "../../core/base/json.ts";

/** The aspects that are compared when a run is run again. */
export type ReplayAspect =
  | "request"
  | "answer"
  | "tool_input"
  | "tool_result"
  | "missing_call"
  | "added_call"
  | "stop_reason";

/** A place where a replay differs from its record. */
export interface ReplayDifference {
  /** Of the session, from 1. */
  readonly run: number;
  /** Number of the step it belongs to; `null` where it belongs to no step. */
  readonly step: number | null;
  readonly aspect: ReplayAspect;
  /** The call it is about. */
  readonly call?: { readonly id: string; readonly name: string };
  /** Where in the value: like `messages[2].content[0].text`. */
  readonly path: string;
  readonly recorded: string;
  readonly replayed: string;
}

/** Outcome of a replay. */
export interface ReplayReport {
  readonly same: boolean;
  readonly differences: readonly ReplayDifference[];
  readonly runs: number;
  /** Model requests that were made again and compared. */
  readonly requests: number;
  /** Tool calls that were made again and compared. */
  readonly calls: number;
  /** Those of them that ran, instead of being answered from the record. */
  readonly callsRun: number;
  /** The parts taken from the record as they are because nothing could be run again for them, by kind. */
  readonly notReplayed: { readonly [kind: string]: number };
}

/** Collects what a replay finds. */
export class ReplayFindings {
  readonly differences: ReplayDifference[] = [];
  requests = 0;
  calls = 0;
  callsRun = 0;
  runs = 0;
  readonly #notReplayed = new Map<string, number>();

  leaveOut(kind: string, count = 1): void {
    if (count > 0) this.#notReplayed.set(kind, (this.#notReplayed.get(kind) ?? 0) + count);
  }

  note(
    place: Omit<ReplayDifference, "path" | "recorded" | "replayed">,
    difference: Difference | undefined,
  ): void {
    if (difference === undefined) return;
    const { path, left, right } = difference;
    this.differences.push({ ...place, path, recorded: left, replayed: right });
  }

  report(): ReplayReport {
    const { differences, runs, requests, calls, callsRun } = this;
    return {
      same: differences.length === 0,
      differences,
      runs,
      requests,
      calls,
      callsRun,
      notReplayed: Object.fromEntries(this.#notReplayed),
    };
  }
}

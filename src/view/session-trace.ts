import type { AgentEvent } from "../core/agent/entries.ts";

/** Kinds of a step, weakest first: looked, ran a command, changed a file, waited for a person, failed. */
const KINDS = "lbewf";
/** Maximum steps of a trace, the newest. */
const MAX_STEPS = 24;
/** The minimum times of heights 1 to 4. */
const HEIGHTS_MS = [0, 2_000, 10_000, 60_000];

interface Step {
  kind: string;
  ms: number;
}

/** Folds entries into a session's trace: a kind and a time for each model request and its calls. */
export class SessionTrace {
  readonly #steps: Step[] = [];

  /** A letter for the kind of each step (`l`, `b`, `e`, `w`, `f`) and a digit for its time, oldest first. */
  get text(): string {
    return this.#steps
      .map(({ kind, ms }) => `${kind}${HEIGHTS_MS.filter((least) => ms >= least).length}`)
      .join("");
  }

  apply(entry: AgentEvent): void {
    if ("scope" in entry && entry.scope !== undefined) return;
    if (entry.type === "assistant_message") {
      this.#steps.push({ kind: "l", ms: Math.max(0, entry.durationMs) });
      if (this.#steps.length > MAX_STEPS) this.#steps.shift();
    } else if (entry.type === "tool_intent") {
      if (entry.name === "bash") this.#raiseKind("b");
    } else if (entry.type === "checkpoint") this.#raiseKind("e");
    else if (entry.type === "approval_request") this.#raiseKind("w");
    else if (entry.type === "tool_result") {
      if (entry.status === "error") this.#raiseKind("f");
      const step = this.#steps.at(-1);
      if (step !== undefined) step.ms += Math.max(0, entry.durationMs);
    }
  }

  /** Raises the kind of the newest step if the given one is stronger. */
  #raiseKind(kind: string): void {
    const step = this.#steps.at(-1);
    if (step !== undefined && KINDS.indexOf(kind) > KINDS.indexOf(step.kind)) step.kind = kind;
  }
}

import type { GateRequest } from "../core/agent/gate.ts";

/** Calls that are kept until they run; the oldest go first. */
const MAX_CALLS = 50_000;

/** Which calls of commands rules alone allow: these run in an environment of their own. */
export class CoveredCalls {
  readonly #calls = new Map<string, boolean>();

  /** Notes what was decided about a call. The first decision counts: what a person was asked about runs as it was shown. */
  note({ sessionId, callId }: GateRequest, isCovered: boolean): void {
    const key = `${sessionId}\0${callId}`;
    if (this.#calls.has(key)) return;
    this.#calls.set(key, isCovered);
    for (const oldest of this.#calls.keys()) {
      if (this.#calls.size <= MAX_CALLS) return;
      this.#calls.delete(oldest);
    }
  }

  /** Whether a call is one of them, once. */
  readonly takes = ({ sessionId, callId }: Pick<GateRequest, "sessionId" | "callId">): boolean => {
    const key = `${sessionId}\0${callId}`;
    const isCovered = this.#calls.get(key) === true;
    this.#calls.delete(key);
    return isCovered;
  };
}

import type { AgentEvent } from "../../core/agent/entries.ts";
import { misuse, NanoAgentError } from "../../core/base/errors.ts";
import { EventStream } from "../../core/base/event-stream.ts";
import { type EndingSignal, SIGNAL_EXITS } from "../../view/exit-code.ts";
import { failedOutcome, type Outcome, type OutcomeFacts, RunTally } from "../../view/outcome.ts";
import type { SessionRun } from "./coding-session.ts";

/** The session that a run belongs to. */
interface LiveRunHost {
  /** Facts of the run beside its events, asked when it is over. */
  readonly facts: () => Pick<OutcomeFacts, "goOn" | "wantsOutput" | "hasSandbox" | "evidence">;
  /** Told of the outcome before whoever awaits it, or reads the events. */
  readonly onOutcome: (outcome: Outcome) => void;
}

/** A run at work: what comes of it, and how it is ended. */
export class LiveRun {
  readonly #outcome = Promise.withResolvers<Outcome>();
  readonly #abort = new AbortController();
  readonly #tally = new RunTally();
  readonly #startedAt = performance.now();
  readonly #given: AbortSignal | undefined;
  readonly #host: LiveRunHost;
  readonly #onAbort = (): void => this.abort(this.#given?.reason);
  #stream: EventStream<AgentEvent> | undefined;
  isOver = false;
  hasEnd = false;
  readonly handle: SessionRun;

  constructor(signal: AbortSignal | undefined, host: LiveRunHost) {
    this.#host = host;
    this.#given = signal;
    if (signal?.aborted === true) this.#onAbort();
    else signal?.addEventListener("abort", this.#onAbort, { once: true });
    // One word awaits the outcome, another iterates over the events.
    this.handle = Object.assign(this.#outcome.promise, { [Symbol.asyncIterator]: () => this.#iterate() });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get outcome(): Promise<Outcome> {
    return this.#outcome.promise;
  }

  get facts(): OutcomeFacts {
    return {
      ...this.#tally.facts,
      ...this.#host.facts(),
      durationMs: performance.now() - this.#startedAt,
      signal: endingSignal(this.signal),
    };
  }

  abort(reason: unknown): void {
    this.#abort.abort(reason);
  }

  add(event: AgentEvent): void {
    if (this.isOver) return;
    if (event.type === "run_end" && event.scope === undefined) this.hasEnd = true;
    this.#tally.add(event);
    this.#stream?.push(event);
  }

  /** Gives it its outcome; a second one is dropped. */
  settle(outcome: Outcome): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#given?.removeEventListener("abort", this.#onAbort);
    this.#host.onOutcome(outcome);
    this.#stream?.end();
    this.#outcome.resolve(outcome);
  }

  fail(error: NanoAgentError): void {
    this.settle(failedOutcome(error, this.facts, this.#tally.partialText));
  }

  #iterate(): AsyncIterator<AgentEvent> {
    if (this.#stream !== undefined)
      throw misuse("The events of this run have been read already. Use onEvent to listen twice.");
    const stream = new EventStream<AgentEvent>({
      onCancel: async () => {
        this.abort(new NanoAgentError("aborted", "The reader of the run left."));
        await this.#outcome.promise;
      },
    });
    this.#stream = stream;
    if (this.isOver) stream.end();
    return stream;
  }
}

/** The signal of the system that a run was ended by, where its abort says so. */
function endingSignal({ aborted, reason }: AbortSignal): EndingSignal | undefined {
  if (!aborted || !(reason instanceof NanoAgentError)) return undefined;
  const { signal } = reason.details;
  return typeof signal === "string" && Object.hasOwn(SIGNAL_EXITS, signal)
    ? (signal as EndingSignal)
    : undefined;
}

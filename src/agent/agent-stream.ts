import type { AgentEvent } from "../core/agent/event.ts";
import type { RunResult } from "../core/agent/result.ts";
import { LinkedAbort } from "../core/base/abort.ts";
import { NanoAgentError } from "../core/base/errors.ts";
import { EventStream } from "../core/base/event-stream.ts";

/** The events of one run. Iterate it once; leaving early stops the run and waits until it has stopped. */
export type AgentStream<Output = unknown> = AsyncIterableIterator<AgentEvent> & {
  /**
   * The result. Asking for it begins a run of which no event was asked for; the events wait for a reader.
   * Rejects when the run threw, or the stream was left before it began.
   */
  readonly result: Promise<RunResult<Output>>;
};

/** A run that begins when its first event or its result is asked for; a reader that leaves aborts it. */
export class RunStream<Output> extends EventStream<AgentEvent> implements AgentStream<Output> {
  readonly #settled: PromiseWithResolvers<RunResult<Output>> = Promise.withResolvers();

  constructor(
    signal: AbortSignal | undefined,
    perform: (linked: LinkedAbort, push: (event: AgentEvent) => void) => Promise<RunResult>,
  ) {
    let linked: LinkedAbort | undefined;
    let finished: Promise<void> | undefined;
    super({
      onStart: () => {
        const own = new LinkedAbort(signal);
        linked = own;
        finished = this.#follow(async () => perform(own, (event) => this.push(event)));
      },
      onCancel: () => {
        linked?.abort(readerLeft());
        return finished;
      },
    });
    // Whoever only iterates never looks at it.
    this.#settled.promise.catch(() => undefined);
  }

  get result(): Promise<RunResult<Output>> {
    this.begin();
    return this.#settled.promise;
  }

  override async return(): Promise<IteratorResult<AgentEvent>> {
    const end = await super.return();
    // A run that had begun has settled it by now.
    this.#settled.reject(readerLeft());
    return end;
  }

  async #follow(work: () => Promise<RunResult>): Promise<void> {
    try {
      this.#settled.resolve((await work()) as RunResult<Output>);
      this.end();
    } catch (error) {
      this.#settled.reject(error);
      this.fail(error);
    }
  }
}

function readerLeft(): NanoAgentError {
  return new NanoAgentError("aborted", "The reader of the run left.");
}

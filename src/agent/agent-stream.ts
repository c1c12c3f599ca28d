import type { AgentEvent } from "../core/agent/event.ts";
import type { RunResult } from "../core/agent/result.ts";
import { type LinkedController, linkController } from "../core/base/abort.ts";
import { NanoAgentError } from "../core/base/errors.ts";
import { EventStream } from "../core/base/event-stream.ts";

/** The events of one run. Iterate it once; leaving early stops the run and waits until it has stopped. */
export type AgentStream<Output = unknown> = AsyncIterableIterator<AgentEvent> & {
  /**
   * The result, for code that needs it after the iteration, or instead of it: asking for it starts the run.
   * Rejects when the run threw.
   */
  readonly result: Promise<RunResult<Output>>;
};

/** The events of a run that begins when the first of them, or its result, is asked for; a reader that leaves aborts it. */
export function streamRun<Output>(
  signal: AbortSignal | undefined,
  perform: (linked: LinkedController, push: (event: AgentEvent) => void) => Promise<RunResult>,
): AgentStream<Output> {
  let linked: LinkedController | undefined;
  const settled = Promise.withResolvers<RunResult<Output>>();
  // Whoever only iterates never looks at it.
  settled.promise.catch(() => undefined);
  const work = async (): Promise<void> => {
    linked = linkController(signal);
    try {
      const result = await perform(linked, (event) => stream.push(event));
      settled.resolve(result as RunResult<Output>);
      stream.end();
    } catch (error) {
      settled.reject(error);
      stream.fail(error);
    }
  };
  let finished: Promise<void> = Promise.resolve();
  const stream = new EventStream<AgentEvent>({
    onStart: () => {
      finished = work();
    },
    onCancel: () => {
      linked?.controller.abort(new NanoAgentError("aborted", "The reader of the run left."));
      return finished;
    },
  });
  return Object.defineProperty(stream, "result", {
    get: () => {
      stream.begin();
      return settled.promise;
    },
  }) as unknown as AgentStream<Output>;
}

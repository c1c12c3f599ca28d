import type { AgentEvent, ToolStatus } from "../core/agent/entries.ts";
import type { RunResult } from "../core/agent/result.ts";
import { LinkedAbort } from "../core/base/async.ts";
import { errorMessage, NanoAgentError } from "../core/base/errors.ts";
import { EventStream } from "../core/base/event-stream.ts";
import { omitUndefined } from "../core/base/json.ts";
import { type ToolInput, textOf, toolCallsOf } from "../core/message/message.ts";
import { CallOrder } from "../journal/call-order.ts";
import type { RunOptions } from "./options.ts";

/** The five events of {@link import("./agent.ts").Agent.sendMessage}: a simple view of a run. */
export type CallbackEvent =
  | { readonly type: "text"; readonly content: string }
  | { readonly type: "tool_use"; readonly toolName: string; readonly toolInput: ToolInput }
  | {
      readonly type: "tool_result";
      readonly toolName: string;
      readonly toolResult: string;
      readonly status: ToolStatus;
    }
  | { readonly type: "error"; readonly error: string }
  | { readonly type: "done" };

/** Callbacks of `sendMessage`. `onToolCall` answers a gate that asks: true lets the call run. */
export interface Callbacks {
  readonly onEvent?: (event: CallbackEvent) => void;
  readonly onToken?: (token: string) => void;
  readonly onToolCall?: (name: string, input: ToolInput) => boolean | Promise<boolean>;
}

export function callbackOptions({
  onEvent,
  onToken,
  onToolCall,
}: Callbacks): Pick<RunOptions, "onEvent" | "onToken" | "approve"> {
  return {
    ...omitUndefined({ onToken, onEvent: onEvent && inCallOrder(onEvent) }),
    ...(onToolCall && { approve: ({ name, input }) => onToolCall(name, input) }),
  };
}

/**
 * Translates run events into the five: per turn one `text`, a `tool_use` per call, then a `tool_result` per
 * call (also denied and failed ones, see `status`); finally one `done`, after an `error` if the run failed. A
 * result does not name its call, so the results of one answer come in call order.
 */
function inCallOrder(tell: (event: CallbackEvent) => void): (event: AgentEvent) => void {
  const order = new CallOrder<CallbackEvent>();
  return (event) => {
    switch (event.type) {
      case "assistant_message": {
        order.takeRest().forEach(tell);
        const content = textOf(event.message.content);
        if (content !== "") tell({ type: "text", content });
        const calls = toolCallsOf(event.message);
        order.begin(calls.map(({ id }) => id));
        for (const { name, input } of calls) tell({ type: "tool_use", toolName: name, toolInput: input });
        break;
      }
      case "tool_result": {
        if (event.parentCallId !== undefined) break;
        const { callId, name: toolName, status, result } = event;
        const toolResult = textOf(result.content, "\n");
        const told = { type: "tool_result", toolName, toolResult, status } as const;
        // A call of the run that this one resumes waits for no other.
        (order.has(callId) ? order.add(callId, told) : [told]).forEach(tell);
        break;
      }
      case "done": {
        // A waiting call has no result, but calls after it may have one.
        order.takeRest().forEach(tell);
        const { error } = event.result;
        if (error !== undefined) tell({ type: "error", error: errorMessage(error) });
        tell({ type: "done" });
        break;
      }
      default:
    }
  };
}

/** The events of one run. Iterate once; leaving early stops the run and waits until it has stopped. */
export type AgentStream<Output = unknown> = AsyncIterableIterator<AgentEvent> & {
  /**
   * The result. Reading it starts the run if no event was requested; the events are kept for a reader.
   * Rejects if the run threw, or if the stream was left before the run started.
   */
  readonly result: Promise<RunResult<Output>>;
};

/** A run that starts when its first event or its result is requested; a reader that leaves aborts it. */
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
        linked?.abort(readerLeftError());
        return finished;
      },
    });
    // A caller that only iterates never looks at it.
    this.#settled.promise.catch(() => undefined);
  }

  get result(): Promise<RunResult<Output>> {
    this.begin();
    return this.#settled.promise;
  }

  override async return(): Promise<IteratorResult<AgentEvent>> {
    const end = await super.return();
    // A run that had started has settled it by now.
    this.#settled.reject(readerLeftError());
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

function readerLeftError(): NanoAgentError {
  return new NanoAgentError("aborted", "The reader of the stream stopped reading.");
}

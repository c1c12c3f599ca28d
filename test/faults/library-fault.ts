import type { AgentOptions } from "../../src/agent/options.ts";
import type { StopReason } from "../../src/core/base/stop-reason.ts";
import { defineTool, type Tool, type ToolContext } from "../../src/core/tool/tool.ts";
import type { ScriptStep } from "../../src/testing/script.ts";

/** What code that is plugged into an agent does wrong, and what the run has to make of it. */
export interface LibraryFault {
  readonly scenario: string;
  readonly outcome: string;
  /** What is plugged in. `begun` is to be called when the code at fault has begun. */
  readonly agent: (begun: () => void) => Partial<AgentOptions>;
  /** Default: one call of the tool `odd`, then an answer. */
  readonly steps?: readonly ScriptStep[];
  /** How the run ends; `process` where the code ends the process itself. */
  readonly stopReason: StopReason | "process";
  /** The run is stopped when the code at fault has begun. */
  readonly stopped?: true;
  /** What the model, or whoever goes on with the session, is told in the results of the calls. */
  readonly told?: string | RegExp;
  /** Message of the error of the run. */
  readonly error?: string | RegExp;
  /** Text of a `warning` event. */
  readonly warns?: string | RegExp;
  /** Takes more than a moment: it runs with the full sweep only. */
  readonly slow?: true;
}

/** The tool `odd`, which does what it is given. */
export function odd(execute: (context: ToolContext) => unknown, more: Partial<Tool> = {}): Tool {
  return {
    ...defineTool({
      name: "odd",
      description: "Gives what it gives.",
      execute: (_input, context) => execute(context) as string,
    }),
    ...more,
  };
}

/** Begins and never ends. */
export function hangs(begun: () => void): () => Promise<never> {
  return () => {
    begun();
    return new Promise(() => undefined);
  };
}

/** Throws a text, where everybody else throws an error. */
export function throwsText(): never {
  AbortSignal.abort("a text").throwIfAborted();
  throw new Error("unreachable");
}

/** Throws an error that says so. */
export function throws(): never {
  throw new Error("odd code threw");
}

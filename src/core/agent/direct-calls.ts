import { linkController } from "../base/abort.ts";
import { newId } from "../base/ids.ts";
import type { ToolInput } from "../message/block.ts";
import type { ToolResult } from "../tool/tool.ts";
import { runCall } from "./act.ts";
import { ActiveRun } from "./active-run.ts";
import type { AgentEvent } from "./event.ts";
import type { CallToolOptions, RunOptions } from "./options.ts";
import { publisher } from "./publish.ts";
import type { RunContext } from "./run-context.ts";
import { Scheduler } from "./schedule.ts";

/** Makes the context that a call runs in. */
type MakeContext = (
  options: RunOptions,
  active: ActiveRun,
  publish: (event: AgentEvent) => void,
) => RunContext;

/** Calls at work at the same time. */
const MAX_CALLS = 64;

/** Calls of tools that no model has made. Those that conflict run one after the other. */
export class DirectCalls {
  readonly #scheduler = new Scheduler(MAX_CALLS);
  readonly #makeContext: MakeContext;

  constructor(makeContext: MakeContext) {
    this.#makeContext = makeContext;
  }

  /** Makes one call. Throws only for the journal, and for options that do not fit. */
  async call(name: string, input: ToolInput, options: CallToolOptions): Promise<ToolResult> {
    const active = new ActiveRun(linkController(options.signal));
    try {
      const { approve } = options;
      const publish = publisher(options, () => undefined);
      const run = this.#makeContext(approve === undefined ? {} : { approve }, active, publish);
      // Calls inside another one are no part of the conversation, and these are inside none.
      const parentCallId = newId("call");
      const call = { type: "tool_use", id: `${parentCallId}/1`, name, input } as const;
      return await runCall(run, call, { parentCallId, scheduler: this.#scheduler });
    } finally {
      active.end();
    }
  }
}

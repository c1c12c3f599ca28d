import type { ToolStatus } from "../core/agent/entry.ts";
import type { AgentEvent } from "../core/agent/event.ts";
import { defined } from "../core/base/defined.ts";
import { errorMessage } from "../core/base/errors.ts";
import type { ToolInput } from "../core/message/block.ts";
import { textOf, toolCallsOf } from "../core/message/message.ts";
import type { RunOptions } from "./options.ts";

/** The five events of {@link import("./agent.ts").Agent.sendMessage}: a simple view of a run for a screen. */
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

/** The options of a run that tells callbacks what happens. */
export function callbackOptions({
  onEvent,
  onToken,
  onToolCall,
}: Callbacks): Pick<RunOptions, "onEvent" | "onToken" | "approve"> {
  return {
    ...defined({ onToken }),
    ...(onEvent && {
      onEvent: (event) => {
        for (const said of toCallbackEvents(event)) onEvent(said);
      },
    }),
    ...(onToolCall && { approve: ({ name, input }) => onToolCall(name, input) }),
  };
}

/**
 * Translates run events into the five: per turn one `text`, then a `tool_use` for each call, then a
 * `tool_result` for each (denied and failed ones too, see `status`); at the end one `done`, with an `error`
 * before it when the run failed.
 */
export function toCallbackEvents(event: AgentEvent): readonly CallbackEvent[] {
  switch (event.type) {
    case "assistant_message": {
      const content = textOf(event.message.content);
      const calls = toolCallsOf(event.message).map(
        ({ name, input }) => ({ type: "tool_use", toolName: name, toolInput: input }) as const,
      );
      return content === "" ? calls : [{ type: "text", content }, ...calls];
    }
    case "tool_result": {
      if (event.parentCallId !== undefined) return [];
      const { name: toolName, status, result } = event;
      return [{ type: "tool_result", toolName, toolResult: textOf(result.content, "\n"), status }];
    }
    case "done": {
      const { error } = event.result;
      const said = error === undefined ? [] : [{ type: "error", error: errorMessage(error) } as const];
      return [...said, { type: "done" }];
    }
    default:
      return [];
  }
}

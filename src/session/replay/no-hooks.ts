import { HookRegistry } from "../../core/agent/hook-registry.ts";
import { Hooks } from "../../core/agent/hooks.ts";
import { ToolRegistry } from "../../core/tool/registry.ts";
import type { Tool } from "../../core/tool/tool.ts";

/** The hooks of a run that has none: what hooks did to a recorded run stands in its record. */
export function noHooks(sessionId: string, tools: readonly Tool[], signal: AbortSignal): Hooks {
  return new Hooks({
    agent: {
      sessionId,
      tools: new ToolRegistry(tools),
      steer: () => undefined,
      stop: () => undefined,
    },
    classes: [],
    own: new HookRegistry(),
    signal,
    warn: () => undefined,
  });
}

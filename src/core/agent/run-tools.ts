import { NanoAgentError } from "../base/errors.ts";
import { nearest } from "../base/text.ts";
import type { ToolChoice } from "../model/model.ts";
import type { ToolRegistry } from "../tool/registry.ts";
import type { Tool } from "../tool/tool.ts";

/**
 * The tools of a run: those of the agent, with the one that is to end it. Throws `invalid_argument` when a tool has the name of that one,
 * and when the model is to call a tool that is not there, which no provider takes.
 */
export function runTools(
  tools: ToolRegistry,
  { finish, choice }: { readonly finish: Tool | undefined; readonly choice: ToolChoice | undefined },
): ToolRegistry {
  const all = finish === undefined ? tools : withFinish(tools, finish);
  if (typeof choice === "object" && all.get(choice.name) === undefined)
    throw noSuchTool(choice.name, all.names());
  return all;
}

function withFinish(tools: ToolRegistry, finish: Tool): ToolRegistry {
  if (tools.get(finish.name) === undefined) return tools.with(finish);
  throw new NanoAgentError(
    "invalid_argument",
    `A run that ends by tool needs the name "${finish.name}", which one of the tools has: rename it.`,
  );
}

function noSuchTool(name: string, known: readonly string[]): NanoAgentError {
  const guess = nearest(name, known);
  const hint = guess === undefined ? "" : ` Did you mean ${guess}?`;
  return new NanoAgentError(
    "invalid_argument",
    `toolChoice names the tool "${name}", which the agent does not have.${hint} Tools: ${known.join(", ") || "none"}.`,
  );
}

import type { RunResult } from "../core/agent/result.ts";
import { invalidArgument } from "../core/base/errors.ts";
import { isRecord } from "../core/base/json.ts";
import { defineTool, type Tool } from "../core/tool/tool.ts";

/** Options of a {@link HandoffTool}. */
export interface HandoffOptions<Name extends string> {
  /** The possible recipients and what each is for: the model chooses by this. */
  readonly to: { readonly [name in Name]: string };
  /** Name of the tool. Default `transfer`. */
  readonly name?: string;
}

/** A tool that ends the run (`finish_tool`) because somebody else takes over the conversation. */
export interface HandoffTool<Name extends string> extends Tool {
  /** Who takes over; `undefined` if the run did not end with this tool. */
  readonly targetOf: (result: RunResult) => Name | undefined;
}

/** A tool with which a model hands the conversation over. Throws `invalid_argument` without a target. */
export function createHandoffTool<const Name extends string>({
  to,
  name = "transfer",
}: HandoffOptions<Name>): HandoffTool<Name> {
  const names = Object.keys(to) as Name[];
  if (names.length === 0)
    throw invalidArgument(
      "createHandoffTool needs an agent to hand over to: pass to: { name: what it is for }.",
    );
  const lines = names.map((each) => `- ${each}: ${to[each]}`);
  const tool = defineTool({
    name,
    description: `Hands the conversation to a colleague, who answers in your place:\n${lines.join("\n")}`,
    parameters: {
      type: "object",
      properties: { to: { type: "string", enum: names } },
      required: ["to"],
      additionalProperties: false,
    },
    readOnly: true,
    execute: (input) => ({
      content: `The conversation continues with ${input["to"]}.`,
      finish: { text: "", output: { handoff: name, to: input["to"] } },
    }),
  });
  const targetOf = ({ stopReason, output }: RunResult): Name | undefined => {
    if (stopReason !== "finish_tool" || !isRecord(output) || output["handoff"] !== name) return undefined;
    return names.find((each) => each === output["to"]);
  };
  return { ...tool, targetOf };
}

import { counted } from "../core/base/text.ts";
import { defineTool, type Tool } from "../core/tool/tool.ts";
import { errorResult } from "../core/tool/tool-output.ts";
import { cleanSteps } from "./parse-plan.ts";
import { formatPlan } from "./plan-prompts.ts";

/** By this tool the planner gives its steps: its run's output, unless there are too many. */
export function planTool(maxSteps: number, onTooMany: (count: number) => void): Tool {
  return defineTool({
    name: "generate_plan",
    description: "Gives the plan that solves the task, step by step.",
    parameters: {
      type: "object",
      properties: {
        steps: {
          type: "array",
          items: { type: "string" },
          description: `The steps in the order in which they are done, at most ${maxSteps}.`,
        },
      },
      required: ["steps"],
    },
    readOnly: true,
    execute: ({ steps }) => {
      const clean = cleanSteps(steps);
      if (clean.length > maxSteps) {
        onTooMany(clean.length);
        return errorResult(
          `The plan has ${counted(clean.length, "step")}, which is more than ${maxSteps}. Join steps, and give the whole plan again.`,
        );
      }
      const text = formatPlan(clean);
      return { content: text, title: counted(clean.length, "step"), finish: { text, output: clean } };
    },
  });
}

/** The tool through which the executor gives a step up. */
export function stepFailedTool(onFailure: (reason: string) => void): Tool {
  return defineTool({
    name: "step_failed",
    description: "Gives the current step up when it cannot be done; a new plan will be made.",
    parameters: {
      type: "object",
      properties: { reason: { type: "string", description: "What was tried and why it cannot work." } },
      required: ["reason"],
    },
    readOnly: true,
    execute: ({ reason }) => {
      onFailure(reason);
      return { content: reason, finish: { text: reason } };
    },
  });
}

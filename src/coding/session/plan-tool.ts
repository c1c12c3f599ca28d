import { defineTool, type Tool, type ToolResult } from "../../core/tool/tool.ts";
import { errorResult } from "../../core/tool/tool-output.ts";
import type { PermissionMode } from "../../permission/permission-mode.ts";
import { modeName } from "../../view/mode-names.ts";
import { PLAN_TOOL } from "../../view/question-kind.ts";

/** People do not read longer plans, and every compaction keeps a plan whole. */
const MAX_PLAN_CHARS = 20_000;

/** The person's decision, added to the input of the call. `keep`: keep planning. */
export interface PlanDecision {
  readonly decision?: "auto" | "default" | "keep";
  readonly changes?: string;
}

/** The `present_plan` tool. Without anyone to answer, the plan is the run's answer. */
export function createPlanTool(
  mode: () => PermissionMode,
  isAttended: () => boolean,
  setMode: (mode: PermissionMode) => Promise<void>,
): Tool {
  return defineTool({
    name: PLAN_TOOL,
    description: "Ends plan mode: the whole plan in Markdown, for the user to approve.",
    parameters: { type: "object", properties: { plan: { type: "string" } }, required: ["plan"] },
    readOnly: true,
    needsApproval: ({ plan }) => mode() === "plan" && isAttended() && planProblem(plan) === undefined,
    execute: async (input): Promise<ToolResult> => {
      const { plan } = input;
      const { decision, changes } = input as PlanDecision;
      const problem = planProblem(plan);
      if (problem !== undefined) return errorResult(problem);
      if (decision === "auto" || decision === "default") {
        await setMode(decision);
        const how = decision === "auto" ? "" : " The user is asked before each change.";
        const title = `approved, ${modeName(decision)}`;
        return { content: `Approved: carry out the plan now.${how}`, title, metadata: { plan } };
      }
      if (changes !== undefined) {
        const feedback =
          changes.trim() === "" ? "The user did not say why: ask them." : `The user says: ${changes}`;
        return {
          content: `Not yet. ${feedback}\nChange the plan and present it again.`,
          title: "to be changed",
        };
      }
      if (decision === undefined && mode() !== "plan")
        return errorResult(
          `The mode is ${modeName(mode())} and not plan: no plan needs approval, do the work.`,
        );
      const title = decision === undefined ? "presented" : "still planning";
      return { content: "Not approved yet: wait for what the user says.", title, finish: { text: plan } };
    },
  });
}

function planProblem(plan: string): string | undefined {
  if (plan.trim() === "") return "The plan is empty.";
  if (plan.length <= MAX_PLAN_CHARS) return undefined;
  return `The plan has ${plan.length} characters, and a person reads ${MAX_PLAN_CHARS}: write it shorter and present it again.`;
}

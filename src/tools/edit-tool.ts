import { pluralize } from "../core/base/text.ts";
import { defineTool, type Tool, type ToolResult } from "../core/tool/tool.ts";
import { type Edit, editedSnippet, planEdits, type Replacement, splice } from "./edits/plan-edits.ts";
import {
  type ChangeTarget,
  changeFile,
  commitChange,
  diffFile,
  type FileBeforeChange,
  openForChange,
} from "./files/change-file.ts";
import { describeNearestNames, FileRefusal, redactedInputProblem } from "./files/file-error.ts";
import { FileState, type FileToolOptions } from "./files/file-state.ts";
import { resolvePath } from "./resolve-path.ts";

/**
 * The `edit` tool: replaces text in a file that the session has read and that is unchanged since, all edits
 * or none, as {@link applyEdits} does. It writes like the `write` tool: atomically, through links, keeping
 * encoding and mode. The model sees the changed lines with numbers; the unified diff is in the metadata.
 */
export function createEditTool(options: FileToolOptions = {}): Tool {
  const state = options.state ?? new FileState();
  return defineTool({
    name: "edit",
    description:
      "Replaces text in a file that was read. old_string must occur exactly once, or set replace_all. Edits refer to the file as it was; all apply or none.",
    parameters: PARAMETERS,
    access: ({ path }, { cwd }) => ({ write: [resolvePath(path, { ...options, cwd: options.cwd ?? cwd })] }),
    execute: ({ path, edits }, context) =>
      changeFile(path, { ...options, state }, context, (target) => edit(target, edits)),
  });
}

const PARAMETERS = {
  type: "object",
  properties: {
    path: { type: "string" },
    edits: {
      type: "array",
      items: {
        type: "object",
        properties: {
          old_string: { type: "string" },
          new_string: { type: "string" },
          replace_all: { type: "boolean" },
        },
        required: ["old_string", "new_string"],
      },
    },
  },
  required: ["path", "edits"],
} as const;

interface EditPlan {
  readonly before: FileBeforeChange;
  readonly text: string;
  readonly after: string;
  readonly replacements: readonly Replacement[];
}

/** Throws a {@link FileRefusal} if the edits do not apply. */
export async function planEdit(target: ChangeTarget, edits: readonly Edit[]): Promise<EditPlan> {
  const { path, givenPath } = target;
  for (const { old_string, new_string } of edits) {
    const redacted =
      redactedInputProblem("old_string", old_string) ?? redactedInputProblem("new_string", new_string);
    if (redacted !== undefined) throw new FileRefusal(redacted);
  }
  const before = await openForChange(target);
  if (before === undefined) {
    const names = await describeNearestNames(path);
    throw new FileRefusal(`${givenPath}: there is no such file.${names} To create it, use write.`);
  }
  const { text } = before.content;
  const plan = planEdits(text, edits);
  if ("error" in plan) {
    throw new FileRefusal(`${givenPath} was not changed (${plan.error.kind}). ${plan.error.message}`);
  }
  const after = splice(text, plan.replacements);
  if (!after.isWellFormed()) {
    throw new FileRefusal(
      `${givenPath} was not changed: an edit leaves half a surrogate pair. Replace the whole character.`,
    );
  }
  return { before, text, after, replacements: plan.replacements };
}

async function edit(target: ChangeTarget, edits: readonly Edit[]): Promise<ToolResult> {
  const { path, givenPath } = target;
  const { before, text, after, replacements } = await planEdit(target, edits);
  await commitChange(target, { before, text: after });
  const count = replacements.length;
  const title = pluralize(count, "replacement");
  return {
    content: `Edited ${givenPath} (${title}):\n${editedSnippet(after, replacements)}`,
    title,
    metadata: { path, replacements: count, ...(await diffFile(givenPath, text, after)) },
  };
}

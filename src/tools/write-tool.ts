import { pluralize } from "../core/base/text.ts";
import { defineTool, type Tool, type ToolResult } from "../core/tool/tool.ts";
import {
  type ChangeTarget,
  changeFile,
  commitChange,
  diffFile,
  type FileBeforeChange,
  openForChange,
} from "./files/change-file.ts";
import { FileRefusal, redactedInputProblem } from "./files/file-error.ts";
import { FileState, type FileToolOptions } from "./files/file-state.ts";
import { describeForm, formOf, withFormOf } from "./files/file-text.ts";
import { resolvePath } from "./resolve-path.ts";

/**
 * The `write` tool: creates a file with its parent folders, or replaces one that the session has read and
 * that is unchanged since. Links are followed: the target is written. Replacing is atomic and keeps encoding,
 * byte order mark, line ends, mode and, if permitted, the owner. Files without a write bit and anything but
 * regular text files are refused. The unified diff is in the result's metadata.
 */
export function createWriteTool(options: FileToolOptions = {}): Tool {
  const state = options.state ?? new FileState();
  return defineTool({
    name: "write",
    description: "Creates a file with its folders, or replaces all content of one that was read.",
    parameters: PARAMETERS,
    access: ({ path }, { cwd }) => ({ write: [resolvePath(path, { ...options, cwd: options.cwd ?? cwd })] }),
    execute: ({ path, content }, context) =>
      changeFile(path, { ...options, state }, context, (target) => write(target, content)),
  });
}

const PARAMETERS = {
  type: "object",
  properties: { path: { type: "string" }, content: { type: "string" } },
  required: ["path", "content"],
} as const;

interface WritePlan {
  readonly before: FileBeforeChange | undefined;
  readonly after: string;
}

/** Throws a {@link FileRefusal} if the change is impossible. */
export async function planWrite(target: ChangeTarget, content: string): Promise<WritePlan> {
  const redacted = redactedInputProblem("content", content);
  if (redacted !== undefined) throw new FileRefusal(redacted);
  if (!content.isWellFormed()) {
    throw new FileRefusal(
      "content holds half a surrogate pair, which no file in UTF-8 can hold. Write the whole character.",
    );
  }
  const before = await openForChange(target);
  return { before, after: before === undefined ? content : await withFormOf(before.content.text, content) };
}

async function write(target: ChangeTarget, content: string): Promise<ToolResult> {
  const { givenPath, path } = target;
  const { before, after: text } = await planWrite(target, content);
  await commitChange(target, { before, text });
  const lines = countLines(text);
  const metadata = { path, created: before === undefined, lines };
  const diff = await diffFile(givenPath, before?.content.text ?? "", text);
  if (before === undefined) {
    return {
      content: `Created ${givenPath} (${pluralize(lines, "line")}).`,
      title: pluralize(lines, "line"),
      metadata: { ...metadata, ...diff },
    };
  }
  const old = before.content.text;
  const changes = diff.additions === undefined ? "" : `, +${diff.additions} -${diff.deletions}`;
  const form = describeForm({ encoding: before.content.encoding, ...formOf(text) });
  // Only what differs from what the model wrote: usually nothing.
  const formNote = text === content && before.content.encoding === "utf-8" ? "" : ` Kept unchanged: ${form}.`;
  return {
    content: `Updated ${givenPath} (${pluralize(lines, "line")}, was ${countLines(old)}${changes}).${formNote}`,
    title: `${pluralize(lines, "line")}${changes}`,
    metadata: { ...metadata, ...diff },
  };
}

function countLines(text: string): number {
  const last = text === "" || text.endsWith("\n") ? 0 : 1;
  return (text.match(/\n/g)?.length ?? 0) + last;
}

import type { ToolUseBlock } from "../../core/message/message.ts";

/** Effect of a tool on a file. */
export type FileAction = "read" | "written" | "edited";

/** Changes to files, by path, in the order in which they were last touched. */
export type TouchedFiles = ReadonlyMap<string, ReadonlySet<FileAction>>;

const FILE_TOOLS: ReadonlyMap<string, FileAction> = new Map([
  ["read", "read"],
  ["write", "written"],
  ["edit", "edited"],
]);

/** One thing done to one file. */
export interface FileTouch {
  readonly path: string;
  readonly action: FileAction;
}

/** The files a call of a file tool touched, also inside a `batch`; none for other tools. */
export function touchedBy({ name, input }: Pick<ToolUseBlock, "name" | "input">): readonly FileTouch[] {
  const action = FILE_TOOLS.get(name);
  const path = input["path"];
  if (action !== undefined) return typeof path === "string" && path !== "" ? [{ path, action }] : [];
  const calls: unknown = input["calls"];
  if (name !== "batch" || !Array.isArray(calls)) return [];
  return calls.flatMap((call: unknown) => {
    const { tool, input: inner } = (call ?? {}) as { readonly tool?: unknown; readonly input?: unknown };
    if (typeof tool !== "string" || tool === "batch" || typeof inner !== "object" || inner === null)
      return [];
    return touchedBy({ name: tool, input: inner as { readonly [key: string]: unknown } });
  });
}

/** Notes it. The file moves to the end: what was touched last matters most. */
export function touch(files: Map<string, Set<FileAction>>, path: string, action: FileAction): void {
  const actions = files.get(path) ?? new Set<FileAction>();
  files.delete(path);
  files.set(path, actions.add(action));
}

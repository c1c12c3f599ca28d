import { resolve } from "node:path";
import { defined } from "../../core/base/defined.ts";
import type { Json, JsonObject } from "../../core/base/errors.ts";
import type { ToolInput } from "../../core/message/block.ts";
import { textOf } from "../../core/message/message.ts";
import type { ToolResult } from "../../core/tool/tool.ts";
import type { HookVerdict } from "../../extensions/command-hooks/hook-event.ts";

/** A call, and the folder its paths refer to. */
export interface HookedCall {
  readonly name: string;
  readonly input: ToolInput;
  readonly cwd: string;
}

const FILE_TOOLS: ReadonlySet<string> = new Set(["read", "write", "edit"]);

/**
 * The arguments of a call with what published scripts look for beside them: the path of a file from the root
 * as `file_path`, and the texts of all its edits as `old_string` and `new_string`.
 */
export function peerInput({ name, input, cwd }: HookedCall): JsonObject {
  const path = filePath({ name, input, cwd });
  return { ...(input as JsonObject), ...defined({ file_path: path }), ...editTexts(name, input) };
}

/** The response to a call, as hooks are told. */
export function peerResponse(call: HookedCall, { content, isError = false }: ToolResult): Json {
  const text = textOf(content);
  const path = filePath(call);
  return {
    content: text,
    is_error: isError,
    success: !isError,
    ...defined({ filePath: path }),
    ...(call.name === "bash" && { stdout: text }),
  };
}

/**
 * The arguments a hook wants in the place of those it was told, as the tool takes them. What the tool does
 * not know stays, so that its schema refuses it.
 */
export function ownInput(call: HookedCall, wanted: NonNullable<HookVerdict["updatedInput"]>): ToolInput {
  const { name, input } = call;
  if (!FILE_TOOLS.has(name)) return wanted;
  const told = peerInput(call);
  const { file_path: newPath, ...rest } = withOwnEdits(told, wanted);
  const isOwn = rest["path"] !== undefined && rest["path"] !== input["path"];
  if (newPath === undefined || isOwn) return rest;
  return { ...rest, path: newPath === told["file_path"] ? input["path"] : newPath };
}

/** Texts of a single edit are put where the tool looks for them; of several they cannot be told apart. */
function withOwnEdits(told: JsonObject, wanted: JsonObject): JsonObject {
  const { old_string: before, new_string: after, ...rest } = wanted;
  if (told["new_string"] === undefined) return wanted;
  const isSame = ({ old_string, new_string }: JsonObject): boolean =>
    (before === undefined || before === old_string) && (after === undefined || after === new_string);
  if (isSame(told)) return rest;
  const [edit, ...others] = rest["edits"] as readonly JsonObject[];
  if (edit === undefined || others.length > 0) return wanted;
  return { ...rest, edits: [{ ...edit, old_string: before, new_string: after }] };
}

function editTexts(name: string, { edits }: ToolInput): JsonObject {
  if (name !== "edit" || !Array.isArray(edits)) return {};
  const textsOf = (key: string): string =>
    (edits as readonly (JsonObject | null)[])
      .flatMap((edit) => (typeof edit?.[key] === "string" ? [edit[key]] : []))
      .join("\n");
  return { old_string: textsOf("old_string"), new_string: textsOf("new_string") };
}

function filePath({ name, input: { path }, cwd }: HookedCall): string | undefined {
  if (!FILE_TOOLS.has(name) || typeof path !== "string") return undefined;
  return path.startsWith("~") ? path : resolve(cwd, path);
}

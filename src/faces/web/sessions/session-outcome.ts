import type { ListedSession } from "../../../server/server-api.ts";
import type { EndReason } from "../../../view/words.ts";
import type { Words } from "../language/language.ts";
import type { Mark } from "../text/icons.tsx";

/** The mark of a run that ended so. */
export function markOf(reason: EndReason): Mark {
  switch (reason) {
    case "completed":
    case "finish_tool":
    case "structured_output":
      return "done";
    case "error":
      return "fail";
    case "aborted":
      return "stop";
    case "denied":
    case "refusal":
      return "refused";
    case "awaiting_approval":
    case "awaiting_external":
      return "wait";
    default:
      return "limit";
  }
}

/** How a session stands: its mark, and the cause in words unless it is running or done. */
export function outcomeOf(
  { state, end, runAt }: Pick<ListedSession, "state" | "end" | "runAt">,
  words: Words,
): { readonly mark: Mark; readonly cause: string } {
  if (state === "running") return { mark: "run", cause: "" };
  if (state === "waiting") return { mark: "wait", cause: words.marks.wait };
  if (end === undefined)
    return runAt === undefined ? { mark: "todo", cause: "" } : { mark: "cut", cause: words.marks.cut };
  const mark = markOf(end.reason);
  if (mark === "done") return { mark, cause: "" };
  return { mark, cause: mark === "fail" && end.detail !== undefined ? end.detail : words.ended[end.reason] };
}

/** The last part of the path of a folder. */
export function folderName(path: string): string {
  return /[^/\\]+(?=[/\\]?$)/.exec(path)?.[0] ?? path;
}

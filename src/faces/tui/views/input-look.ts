import type { SessionView } from "../../../app/coding-session/view.ts";
import type { Role } from "../paint/line.ts";

/** Colour of the input's mark: it says the permission mode. */
export function roleOf(view: SessionView | undefined): Role {
  switch (view?.mode) {
    case "plan":
      return "plan";
    case "acceptEdits":
      return "good";
    case "bypassPermissions":
      return "bad";
    default:
      return "accent";
  }
}

/** What an empty input says. */
export function placeholderOf(view: SessionView | undefined): string {
  if (view === undefined) return "";
  if (view.run !== undefined) return "enter adds to what is being done, alt+enter queues";
  return view.items.every(({ type }) => type === "notice")
    ? "What is to be done? / commands, @ files, ! shell, ? keys"
    : "";
}

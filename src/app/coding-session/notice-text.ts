import { leftOutText } from "../trust/left-out-text.ts";
import type { ModelReason, Notice } from "./notice.ts";
import { repairText } from "./repair-text.ts";

/** A notice in one line for people, not yet made safe for a terminal. */
export function noticeText(notice: Notice): string {
  switch (notice.code) {
    case "model_chosen":
      return `model ${notice.model}, because ${notice.source === undefined ? REASONS[notice.why] : `of ${notice.source}`}`;
    case "untrusted":
      return leftOutText(notice.items);
    case "wide_folder":
      return `${notice.folder} holds your home folder: the agent may look at everything in it, and undo covers only its outer folders. Start it in the folder of a project, or name one with --cwd.`;
    case "repaired":
      return repairText(notice.repairs, notice.path);
    default:
      return notice.message;
  }
}

const REASONS: { readonly [W in ModelReason]: string } = {
  flag: "it was asked for",
  environment: "of NANO_AGENT_MODEL",
  config: "of the configuration",
  key: "of the key that is set",
  local: "of a local server",
  resumed: "the session was working with it",
};

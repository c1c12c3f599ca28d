import { leftOutText } from "../trust/left-out-text.ts";
import type { ModelReason, Notice } from "./notice.ts";
import { repairText } from "./repair-text.ts";

/** A notice in one line for people, not yet made safe for a terminal. */
export function noticeText(notice: Notice): string {
  switch (notice.code) {
    case "model_chosen":
      return `The model is ${notice.model}: ${REASONS[notice.why](notice.source)}.`;
    case "untrusted":
      return leftOutText(notice.items);
    case "repaired":
      return repairText(notice.repairs, notice.path);
    default:
      return notice.message;
  }
}

const REASONS: { readonly [W in ModelReason]: (source: string | undefined) => string } = {
  flag: () => "asked for",
  environment: (source = "NANO_AGENT_MODEL") => `${source} names it`,
  config: (source = "the configuration") => `${source} names it`,
  key: (source = "its key") => `${source} is set`,
  local: (source = "a local server") => `${source} offers it`,
  resumed: () => "the session was working with it",
};

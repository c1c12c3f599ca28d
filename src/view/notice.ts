import type { ModelReason } from "../providers/model-choice.ts";
import type { RepairReport } from "../session/repair-report.ts";

/** Something in a project that can act, but does not until it is trusted. */
export interface LeftOut {
  readonly kind: "config" | "hook" | "mcp_server" | "skill" | "agent" | "command" | "extension";
  /** The file, relative to the project and with `/`, then `#` and the name in it: `.mcp.json#db`. */
  readonly path: string;
  /** Hash of the content that would act: a yes approves exactly this. */
  readonly hash: string;
  /** Its effect in one line, for people. */
  readonly does: string;
  /** The reason if it can never be approved. */
  readonly blocked?: string;
}

/** The subject of a notice, as data. As text: {@link import("./notice-text.ts").noticeText}. */
export type Notice = { readonly level: "info" | "warning" | "error" } & (
  | {
      /** The model of the session and why. `source`: the file, variable or server it comes from. */
      readonly code: "model_chosen";
      readonly model: string;
      readonly why: ModelReason;
      readonly source?: string;
    }
  | {
      /** Parts of the project in `folder` are left out, because it is not trusted. */
      readonly code: "untrusted";
      readonly folder: string;
      readonly items: readonly LeftOut[];
    }
  | {
      /** The session stored at `path` had to be repaired to continue. */
      readonly code: "repaired";
      readonly path: string;
      readonly repairs: RepairReport;
    }
  | {
      /** The working directory contains the user's whole home; undo covers only its outer part. */
      readonly code: "wide_folder";
      readonly folder: string;
    }
  | {
      /** A setting that is ignored, or takes effect differently than written. */
      readonly code: "setting";
      readonly message: string;
      readonly file?: string;
    }
  | { readonly code: NoticeTopic; readonly message: string }
);

/** The part of a session that a notice with a plain message comes from. */
export type NoticeTopic =
  | "undo"
  | "memory"
  | "sandbox"
  | "instructions"
  | "extension"
  | "hook"
  | "mcp"
  | "permission"
  | "plugin"
  | "other";

/** Receives a notice. */
export type OnNotice = (notice: Notice) => void;

/** Turns messages into warnings about a topic. */
export function warnAbout(code: NoticeTopic | "setting", onNotice: OnNotice): (message: string) => void {
  return (message) => onNotice({ level: "warning", code, message });
}

import type { Json } from "../../core/base/errors.ts";
import type { RuleAction } from "../../permission/rule.ts";

/** Agents whose settings can be imported. */
export const IMPORT_SOURCES = ["claude", "codex", "gemini", "opencode"] as const;

export type ImportSource = (typeof IMPORT_SOURCES)[number];

export type ImportItem = {
  readonly from: string;
  readonly does: string;
} & (
  | { readonly kind: "rule"; readonly action: RuleAction; readonly rule: string }
  | {
      readonly kind: "setting";
      readonly key: "model" | "permissionMode";
      readonly value: string;
    }
  | { readonly kind: "hook"; readonly event: string; readonly group: Json }
  | {
      readonly kind: "mcp_server";
      readonly name: string;
      readonly definition: { readonly [key: string]: Json };
    }
  /** A file, or a folder with its contents; `to` is relative to the user's configuration folder. */
  | {
      readonly kind: "command" | "agent" | "skill";
      readonly name: string;
      readonly to: string;
      readonly text?: string;
    }
);

export interface SkippedItem {
  readonly from: string;
  readonly what: string;
  readonly why: string;
}

export interface ImportPlan {
  readonly items: readonly ImportItem[];
  readonly left: readonly SkippedItem[];
  /** Things that work without being imported. */
  readonly notes: readonly string[];
}

export interface PlanBuilder extends ImportPlan {
  readonly items: ImportItem[];
  readonly left: SkippedItem[];
  readonly notes: string[];
}

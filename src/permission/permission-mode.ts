/**
 * How much runs without a question. `default`: reads inside the workspace · `acceptEdits`: edits there too · `plan`: nothing but reads, the rest
 * is denied · `dontAsk`: as `default`, and what would be asked is denied · `bypassPermissions`: everything that no rule denies.
 */
export type PolicyMode = "default" | "acceptEdits" | "plan" | "dontAsk" | "bypassPermissions";

/** Every {@link PolicyMode}. */
export const POLICY_MODES: readonly PolicyMode[] = [
  "default",
  "acceptEdits",
  "plan",
  "dontAsk",
  "bypassPermissions",
];

/** How freely tools may act, from the narrowest to the widest. */
export const PERMISSION_MODES = ["plan", "dontAsk", "default", "acceptEdits", "bypassPermissions"] as const;

/**
 * `plan`: reads inside the workspace only · `dontAsk`: as `default`, and what would be asked is refused ·
 * `default`: reads inside the workspace are allowed, the rest asks · `acceptEdits`: edits inside the
 * workspace too · `bypassPermissions`: everything that no rule denies.
 */
export type PermissionMode = (typeof PERMISSION_MODES)[number];

/** Whether `mode` allows something that `than` does not. */
export function isWiderMode(mode: PermissionMode, than: PermissionMode): boolean {
  return PERMISSION_MODES.indexOf(mode) > PERMISSION_MODES.indexOf(than);
}

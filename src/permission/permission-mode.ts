import { invalidArgument } from "../core/base/errors.ts";
import type { CommandPlacement } from "../system/command-sandbox.ts";

/** How freely tools may act, from most to least restrictive. */
export const PERMISSION_MODES = [
  "plan",
  "dontAsk",
  "default",
  "acceptEdits",
  "auto",
  "bypassPermissions",
] as const;

/**
 * `plan`: only reads inside the workspace, everything else is denied · `dontAsk`: like `default`, but denies
 * instead of asking · `default`: reads inside the workspace · `acceptEdits`: edits there too · `auto`:
 * commands in the sandbox too, or like `acceptEdits` without a sandbox · `bypassPermissions`: everything that
 * no rule denies.
 */
export type PermissionMode = (typeof PERMISSION_MODES)[number];

export function assertPermissionMode(mode: string): asserts mode is PermissionMode {
  if ((PERMISSION_MODES as readonly string[]).includes(mode)) return;
  throw invalidArgument(
    `${JSON.stringify(mode)} is not a permission mode. Use one of ${PERMISSION_MODES.join(", ")}.`,
  );
}

/** True if `mode` allows something that `than` does not. */
export function isWiderMode(mode: PermissionMode, than: PermissionMode): boolean {
  return PERMISSION_MODES.indexOf(mode) > PERMISSION_MODES.indexOf(than);
}

/** The sandbox of a session: none that works, one that commands run in, or one that nothing may leave. */
export type SandboxState = "none" | "works" | "only";

/** Where a command with this `access` runs if it is allowed. Unknown access counts as none. */
export function placementOf(
  access: unknown,
  { mode, sandbox }: { readonly mode: PermissionMode; readonly sandbox: SandboxState },
): CommandPlacement {
  const leaves = mode === "bypassPermissions" || (access === "full" && mode !== "plan");
  if (sandbox === "none" || (sandbox === "works" && leaves)) return { runs: "outside", readOnly: false };
  return { runs: access === "network" ? "network" : "inside", readOnly: mode === "plan" };
}

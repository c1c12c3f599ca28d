import type { PermissionMode } from "./permission-mode.ts";

/** The sandbox of a session: none that works, one that commands run in, or one that nothing may leave. */
export type SandboxState = "none" | "works" | "only";

/** Where a command runs. */
export interface Placement {
  /** Confined, confined with the network of the host, or not confined. */
  readonly runs: "inside" | "network" | "outside";
  /** True when a confined command can write nothing that stays. */
  readonly readOnly: boolean;
}

const OUTSIDE: Placement = { runs: "outside", readOnly: false };

/** Where a command with this `access` runs if it is allowed. What is no known access counts as none. */
export function placementOf(
  access: unknown,
  { mode, sandbox }: { readonly mode: PermissionMode; readonly sandbox: SandboxState },
): Placement {
  if (sandbox === "none") return OUTSIDE;
  const leaves = mode === "bypassPermissions" || (access === "full" && mode !== "plan");
  if (sandbox === "works" && leaves) return OUTSIDE;
  return { runs: access === "network" ? "network" : "inside", readOnly: mode === "plan" };
}

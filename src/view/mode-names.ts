import { PERMISSION_MODES, type PermissionMode } from "../permission/permission-mode.ts";

/** The modes that a mode key cycles through, in order. The mode without questions has no key. */
export const KEY_MODES: readonly PermissionMode[] = ["auto", "default", "plan"];

/** The modes that can be chosen from a list without confirmation. */
export const LISTED_MODES: readonly PermissionMode[] = [...KEY_MODES, "acceptEdits", "dontAsk"];

const NAMES: { readonly [mode in PermissionMode]?: string } = { default: "ask", bypassPermissions: "bypass" };

/** The name of a mode for people. */
export function modeName(mode: PermissionMode): string {
  return NAMES[mode] ?? mode;
}

/** The mode with a name, as people or the settings write it; `undefined` for other text. */
export function modeNamed(name: string): PermissionMode | undefined {
  const wanted = name.trim().toLowerCase();
  return PERMISSION_MODES.find((mode) =>
    [mode, modeName(mode)].some((each) => each.toLowerCase() === wanted),
  );
}

/** The effect of each mode, in one sentence. */
export const MODE_EFFECTS: { readonly [mode in PermissionMode]: string } = {
  auto: "Works freely in this folder. Asks before leaving it or using the network, and before commands where no sandbox works.",
  default: "Asks before every change.",
  plan: "Reads only, then proposes a plan for you to approve.",
  acceptEdits: "Edits files in this folder without asking. Asks for commands.",
  dontAsk: "Refuses everything that would be asked.",
  bypassPermissions: "Asks nothing and has no sandbox.",
};

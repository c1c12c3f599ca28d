import { misuse } from "../../../core/base/errors.ts";
import type { PermissionMode } from "../../../permission/permission-mode.ts";
import { KEY_MODES, LISTED_MODES, MODE_EFFECTS, modeName, modeNamed } from "../../../view/mode-names.ts";
import type { Control } from "./control.ts";

/** Lets a person choose the permission mode; `/mode NAME` takes it at once. Throws for an unknown name. */
export async function chooseMode(control: Control, args: string): Promise<void> {
  const { session } = control.screen;
  if (session === undefined) return;
  if (args === "") {
    control.pick({
      title: "Mode",
      items: LISTED_MODES.map((mode) => ({ label: modeName(mode), note: MODE_EFFECTS[mode], value: mode })),
      marked: Math.max(0, LISTED_MODES.indexOf(session.view.mode)),
      onChoose: (mode) => control.run(setMode(control, mode)),
    });
    return;
  }
  const mode = modeNamed(args);
  if (mode === undefined) {
    const names = [...LISTED_MODES, "bypassPermissions" as const].map(modeName);
    throw misuse(`There is no mode ${args}. Use one of ${names.join(", ")}.`);
  }
  if (mode !== "bypassPermissions" || session.view.mode === mode) return setMode(control, mode);
  confirmBypass(control);
}

/** Goes to the next mode of the mode key. */
export function nextMode(control: Control): void {
  const { session } = control.screen;
  if (session === undefined) return;
  const next = KEY_MODES[(KEY_MODES.indexOf(session.view.mode) + 1) % KEY_MODES.length] ?? "default";
  control.run(setMode(control, next));
}

/** The one mode that nothing holds back is never a matter of one key. */
function confirmBypass(control: Control): void {
  const stay = modeName(control.screen.session?.view.mode ?? "default");
  control.choose({
    title: "Turn on bypass?",
    text: [
      "Commands run outside the sandbox and can reach the network and every file you can. You won\u2019t be asked. /undo only restores files in this folder.",
    ],
    items: [
      { label: "Turn it on for this session", value: true },
      { label: `Stay in ${stay}`, value: false },
    ],
    escape: `stay in ${stay}`,
    role: "bad",
    onChoose: (isOn) => {
      if (isOn) control.run(setMode(control, "bypassPermissions"));
    },
    onCancel: () => undefined,
  });
}

async function setMode(control: Control, mode: PermissionMode): Promise<void> {
  await control.screen.session?.setMode(mode);
  control.say(`${modeName(mode)}: ${MODE_EFFECTS[mode]}`, mode === "bypassPermissions" ? "bad" : "muted");
}

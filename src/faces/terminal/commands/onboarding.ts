import { changeTrust } from "../../../coding/project/acting-files.ts";
import type { CodingSession } from "../../../coding/session/coding-session.ts";
import { userPaths } from "../../../coding/settings/paths.ts";
import { invalidArgument } from "../../../core/base/errors.ts";
import { revealInvisible } from "../../../core/base/hidden-characters.ts";
import { pluralize } from "../../../core/base/text.ts";
import type { PermissionMode } from "../../../permission/permission-mode.ts";
import type { FoundModel } from "../../../providers/catalog.ts";
import { variable } from "../../../system/env.ts";
import { CALL_VARIABLE } from "../../../system/process-watcher.ts";
import { KEY_MODES, LISTED_MODES, MODE_EFFECTS, modeName, modeNamed } from "../../../view/mode-names.ts";
import { columnsOf } from "../../text/columns.ts";
import type { Control, UntrustedNotice } from "./control.ts";

/** Asks whether a local server that was found, but not chosen, may receive what is said. */
export async function askForServer(
  control: Control,
  { name, baseUrl, isLoading }: FoundModel,
): Promise<boolean> {
  const isAccepted = await control.choose({
    title: `No model was chosen; a local server ${isLoading === true ? "is loading its model" : "answers"}`,
    items: [
      { label: "Do not use it", note: "a key can be pasted instead", value: false },
      { label: `Use ${name}`, note: `what you say goes to ${baseUrl}, also at the next start`, value: true },
    ],
    isSearched: false,
  });
  return isAccepted === true;
}

export function askForMode(control: Control): Promise<PermissionMode | undefined> {
  return control.choose<PermissionMode>({
    title: "How should nano-agent work in this folder?",
    question: {
      text: "It reads the files and instructions here; take the last answer if you do not trust them. Commands run in a sandbox; if none works here, they ask. Shift+Tab changes the mode later.",
      escape: "decide later",
    },
    items: [
      { label: "Work freely inside; ask before leaving it", value: "auto" },
      { label: "Ask before each change", value: "default" },
      { label: "Only read", value: "plan" },
    ],
  });
}

export function untrustedIn({ notices }: CodingSession): UntrustedNotice | undefined {
  return notices.find((notice): notice is UntrustedNotice => notice.code === "untrusted");
}

/** Asks for approval of the parts of a project that can act; the list shows each with its effect. */
export function offerTrust(control: Control, untrusted: UntrustedNotice): void {
  const { items } = untrusted;
  const rows = items.map(
    ({ kind, path, does }) => `${kind.replace("_", " ")}  ${revealInvisible(path)}  ${revealInvisible(does)}`,
  );
  const preview = (): readonly string[] => rows;
  const { width } = control.screen.context;
  const isCut = rows.length > 5 || rows.some((row) => columnsOf(row) + 4 > width);
  control.pick<"no" | "yes" | "look">({
    title: `This project brings ${pluralize(items.length, "thing")} that can act`,
    isSearched: false,
    items: [
      {
        label: "Leave them out",
        note: "they do nothing; nano-agent trust changes that",
        value: "no",
        preview,
      },
      { label: "Trust them", note: "exactly this content in this folder", value: "yes", preview },
      ...(isCut ? [{ label: "See all of it", value: "look" as const, preview }] : []),
    ],
    onChoose: (choice) => {
      if (choice === "yes") control.run(trustProject(control, untrusted));
      if (choice !== "look") return;
      control.print(rows);
      offerTrust(control, untrusted);
    },
  });
}

/**
 * Trusts exactly what was shown, because it may have changed since. An empty session is reopened with the
 * trusted parts; any other continues without them.
 */
async function trustProject(control: Control, untrusted: UntrustedNotice): Promise<void> {
  const { environment } = control.ports;
  if (variable(environment, CALL_VARIABLE) !== undefined)
    throw invalidArgument("An agent cannot approve for its user.");
  const { folder, items: shown } = untrusted;
  await changeTrust(userPaths(environment), folder, shown, { keeps: true });
  const { items = [], run } = control.screen.session?.view ?? {};
  if (run !== undefined || items.some(({ type }) => type !== "notice")) {
    control.say("trusted: it counts from the next start, as with nano-agent -c", "good");
    return;
  }
  let remaining: UntrustedNotice | undefined;
  const open = async (): Promise<CodingSession> => {
    const session = await control.ports.openSession();
    remaining = untrustedIn(session);
    return session;
  };
  await control.switchTo(open, false);
  if (remaining === undefined) control.say("trusted: it counts from now on", "good");
  else offerTrust(control, remaining);
}

/** Lets the person choose the permission mode; `/mode NAME` takes it directly. Throws for an unknown name. */
export async function chooseMode(control: Control, args: string): Promise<void> {
  const { session } = control.screen;
  if (session === undefined) return;
  if (args === "") {
    control.pick({
      title: "Mode",
      items: LISTED_MODES.map((mode) => ({ label: bothNames(mode), note: MODE_EFFECTS[mode], value: mode })),
      selected: Math.max(0, LISTED_MODES.indexOf(session.view.mode)),
      onChoose: (mode) => control.run(setMode(control, mode)),
    });
    return;
  }
  const mode = modeNamed(args);
  if (mode === undefined) {
    const names = [...LISTED_MODES, "bypassPermissions" as const].map(bothNames);
    throw invalidArgument(`There is no mode ${args}. Use one of ${names.join(", ")}.`);
  }
  if (mode !== "bypassPermissions" || session.view.mode === mode) return setMode(control, mode);
  confirmBypass(control);
}

/** The name on the screen and, if it differs, the one for `--permission-mode`. */
function bothNames(mode: PermissionMode): string {
  const name = modeName(mode);
  return name === mode ? name : `${name} (${mode})`;
}

export function nextMode(control: Control): void {
  const { session } = control.screen;
  if (session === undefined) return;
  const next = KEY_MODES[(KEY_MODES.indexOf(session.view.mode) + 1) % KEY_MODES.length] ?? "default";
  control.run(setMode(control, next));
}

function confirmBypass(control: Control): void {
  const stay = modeName(control.screen.session?.view.mode ?? "default");
  control.pick({
    title: "Turn on bypass?",
    question: {
      text: "Commands run outside the sandbox and can reach the network and every file you can. You won\u2019t be asked. /undo only restores files in this folder.",
      escape: `stay in ${stay}`,
      role: "bad",
    },
    items: [
      { label: "Turn it on for this session", value: true },
      { label: `Stay in ${stay}`, value: false },
    ],
    onChoose: (isOn) => {
      if (isOn) control.run(setMode(control, "bypassPermissions"));
    },
  });
}

async function setMode(control: Control, mode: PermissionMode): Promise<void> {
  await control.screen.session?.setMode(mode);
  control.say(`${modeName(mode)}: ${MODE_EFFECTS[mode]}`, mode === "bypassPermissions" ? "bad" : "muted");
}

import { RequestError, type SessionConfigOption, type SessionModeState } from "@agentclientprotocol/sdk";
import type { CodingSession } from "../../app/coding-session/coding-session.ts";
import { EFFORTS } from "../../core/model/model.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../permission/permission-mode.ts";

const MODES: { readonly [mode in PermissionMode]: { readonly name: string; readonly description: string } } =
  {
    plan: { name: "Plan", description: "Only reads" },
    dontAsk: { name: "Don't ask", description: "Whatever would be asked is refused" },
    default: { name: "Default", description: "Reads in the workspace; asks for everything else" },
    acceptEdits: { name: "Accept edits", description: "Also edits files in the workspace without asking" },
    auto: { name: "Auto", description: "Works freely inside the workspace; what leaves it asks" },
    bypassPermissions: { name: "Bypass permissions", description: "Runs everything that no rule denies" },
  };

/** The modes of a session, in the words of the protocol. */
export function modeState({ view }: CodingSession): SessionModeState {
  return {
    currentModeId: view.mode,
    availableModes: PERMISSION_MODES.map((id) => ({ id, ...MODES[id] })),
  };
}

/** The options that can change between prompts; `models` are offered beside the one in use. */
export function configOptions({ view }: CodingSession, models: readonly string[]): SessionConfigOption[] {
  const { model, effort = "default", mode } = view;
  const named = (names: readonly string[]) => names.map((name) => ({ value: name, name }));
  const modes = PERMISSION_MODES.map((value) => ({ value, ...MODES[value] }));
  const offered = named([...new Set([model, ...models])]);
  const efforts = named(["default", ...EFFORTS]);
  return [
    { id: "model", name: "Model", category: "model", currentValue: model, options: offered },
    {
      id: "effort",
      name: "Reasoning effort",
      category: "thought_level",
      currentValue: effort,
      options: efforts,
    },
    { id: "mode", name: "Permission mode", category: "mode", currentValue: mode, options: modes },
  ].map((option) => ({ type: "select", ...option }));
}

/** Changes one option. Throws the protocol's error for an option or value that does not exist. */
export async function changeOption(session: CodingSession, id: string, value: unknown): Promise<void> {
  if (typeof value !== "string") throw invalid({ id, value }, `The option ${id} takes a text.`);
  if (id === "model") return session.setModel(value);
  if (id === "mode") return session.setMode(toMode(value));
  if (id !== "effort") throw invalid({ id }, `There is no option ${id}: model, effort and mode can be set.`);
  const effort = EFFORTS.find((each) => each === value);
  if (effort === undefined && value !== "default")
    throw invalid({ value }, `Effort ${value}: one of default, ${EFFORTS.join(", ")}.`);
  return session.setEffort(effort);
}

/** A permission mode by its name. Throws the protocol's error for another. */
export function toMode(name: string): PermissionMode {
  const mode = PERMISSION_MODES.find((each) => each === name);
  if (mode !== undefined) return mode;
  throw invalid({ mode: name }, `There is no mode ${name}: ${PERMISSION_MODES.join(", ")}.`);
}

function invalid(data: object, message: string): RequestError {
  return RequestError.invalidParams(data, message);
}

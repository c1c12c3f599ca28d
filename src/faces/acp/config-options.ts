import { RequestError, type SessionConfigOption, type SessionModeState } from "@agentclientprotocol/sdk";
import type { CodingSession } from "../../coding/session/coding-session.ts";
import { EFFORTS } from "../../core/model/model.ts";
import type { PermissionMode } from "../../permission/permission-mode.ts";
import { LISTED_MODES, MODE_EFFECTS, modeName, modeNamed } from "../../view/mode-names.ts";

/** The modes an editor can choose. The one that asks nothing is for the command line alone. */
function modesFor(current: PermissionMode) {
  const modes = LISTED_MODES.includes(current) ? LISTED_MODES : [...LISTED_MODES, current];
  return modes.map((id) => ({ id, name: modeName(id), description: MODE_EFFECTS[id] }));
}

export function modeState({ view }: CodingSession): SessionModeState {
  return { currentModeId: view.mode, availableModes: modesFor(view.mode) };
}

/** The options that can change between prompts; `models` are offered beside the one in use. */
export function configOptions({ view }: CodingSession, models: readonly string[]): SessionConfigOption[] {
  const { model, effort = "default", mode } = view;
  const named = (names: readonly string[]) => names.map((name) => ({ value: name, name }));
  const modes = modesFor(mode).map(({ id: value, ...rest }) => ({ value, ...rest }));
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
  if (id === "mode") return session.setMode(toMode(value, session));
  if (id !== "effort") throw invalid({ id }, `There is no option ${id}: model, effort and mode can be set.`);
  const effort = EFFORTS.find((each) => each === value);
  if (effort === undefined && value !== "default")
    throw invalid({ value }, `Effort ${value}: one of default, ${EFFORTS.join(", ")}.`);
  return session.setEffort(effort);
}

/** A mode that an editor can choose, by its name. Throws the protocol's error for another. */
export function toMode(name: string, { view }: CodingSession): PermissionMode {
  const modes = modesFor(view.mode);
  const mode = modeNamed(name);
  if (mode !== undefined && modes.some(({ id }) => id === mode)) return mode;
  const hint = mode === "bypassPermissions" ? " Start nano-agent acp with --permission-mode for that." : "";
  throw invalid({ mode: name }, `There is no mode ${name}: ${modes.map(({ id }) => id).join(", ")}.${hint}`);
}

function invalid(data: object, message: string): RequestError {
  return RequestError.invalidParams(data, message);
}

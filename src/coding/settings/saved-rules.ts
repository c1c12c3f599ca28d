import { invalidConfig } from "../../core/base/errors.ts";
import type { PermissionMode } from "../../permission/permission-mode.ts";
import type { FolderConfig } from "./config-schema.ts";
import { checkConfigText } from "./load-config.ts";
import { configPath } from "./paths.ts";
import { changePrivateFile } from "./private-file.ts";

/** The working folder that an answer holds for. */
export interface SavedAnswerPlace {
  readonly configFolder: string;
  /** Links resolved. */
  readonly cwd: string;
}

/**
 * Adds a rule to `folders.<cwd>.permissions.allow` of the user's config file, so that it holds in this folder
 * and nowhere else. A rule that stands there already is not added again. Else as {@link saveMode}.
 */
export function saveRule(rule: string, place: SavedAnswerPlace): Promise<string> {
  return changeFolder(place, ({ permissions }) => {
    const before = permissions?.allow ?? [];
    if (before.includes(rule)) return undefined;
    const [path, value] = before.length === 0 ? [["allow"], [rule]] : [["allow", -1], rule];
    return {
      path: ["permissions", ...path],
      value,
      isAsMeant: (after) => same(after.permissions?.allow, [...before, rule]),
    };
  });
}

/**
 * Sets `folders.<cwd>.permissionMode` of the user's config file. Comments and layout of the file stay, and
 * writers wait for each other. Resolves to the path of the file. Throws `invalid_config` when the file cannot
 * be read as a config or not be written; it is then as it was.
 */
export function saveMode(mode: PermissionMode, place: SavedAnswerPlace): Promise<string> {
  return changeFolder(place, ({ permissionMode }) =>
    permissionMode === mode
      ? undefined
      : { path: ["permissionMode"], value: mode, isAsMeant: (after) => after.permissionMode === mode },
  );
}

/** Sets `model` of the user's config file: the default of the next start. Else as {@link saveMode}. */
export async function saveModel(
  model: string,
  place: Pick<SavedAnswerPlace, "configFolder">,
): Promise<string> {
  const path = configPath(place);
  await changePrivateFile(path, async (text = "") => {
    if ((await checkConfigText(text, path)).model === model) return text;
    const { editConfigText } = await import("./parse-config.ts");
    const after = editConfigText(text, ["model"], model);
    if ((await checkConfigText(after, path)).model === model) return after;
    throw invalidConfig(`${path} could not be changed. Change it by hand.`);
  });
  return path;
}

/** A change of the settings of one folder. */
interface FolderChange {
  readonly path: readonly (string | number)[];
  readonly value: unknown;
  readonly isAsMeant: (after: FolderConfig) => boolean;
}

async function changeFolder(
  { configFolder, cwd }: SavedAnswerPlace,
  changeOf: (before: FolderConfig) => FolderChange | undefined,
): Promise<string> {
  const path = configPath({ configFolder });
  const settingsIn = async (text: string): Promise<FolderConfig> =>
    (await checkConfigText(text, path)).folders?.[cwd] ?? {};
  await changePrivateFile(path, async (text = "") => {
    const change = changeOf(await settingsIn(text));
    if (change === undefined) return text;
    const { editConfigText } = await import("./parse-config.ts");
    const after = editConfigText(text, ["folders", cwd, ...change.path], change.value);
    // Read back before anything is written: a wider file than intended must not come out of an edit.
    if (change.isAsMeant(await settingsIn(after))) return after;
    throw invalidConfig(`${path} could not be changed. Change it by hand.`);
  });
  return path;
}

function same(list: unknown, other: unknown): boolean {
  return JSON.stringify(list) === JSON.stringify(other);
}

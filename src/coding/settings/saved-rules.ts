import { invalidConfig } from "../../core/base/errors.ts";
import { equalJson, isRecord } from "../../core/base/json.ts";
import type { PermissionMode } from "../../permission/permission-mode.ts";
import type { ConfigFile } from "./config-schema.ts";
import { checkConfigText } from "./load-config.ts";
import { configPath } from "./paths.ts";
import { changePrivateFile } from "./private-file.ts";

export interface AnswerScope {
  readonly configFolder: string;
  readonly cwd: string;
}

/** A path in a file, -1 for the end of a list, and its new value; `undefined` removes it. */
interface FileEdit {
  readonly path: readonly (string | number)[];
  readonly value: unknown;
}

/**
 * Edits a private file of JSON with comments, keeping them. Resolves to the result of `read` on the previous
 * text. Throws `invalid_config` if the file cannot be read or written; it is then unchanged.
 */
export async function editPrivateFile<T>(
  path: string,
  read: (text: string) => T | Promise<T>,
  editOf: (content: T) => FileEdit | undefined,
): Promise<T | undefined> {
  let before: T | undefined;
  await changePrivateFile(path, async (text = "") => {
    before = await read(text);
    const edit = editOf(before);
    if (edit === undefined) return text;
    const { editConfigText } = await import("./parse-config.ts");
    const after = editConfigText(text, edit.path, edit.value);
    // Parsed again before anything is written: the edit must change nothing else.
    if (equalJson(valueAt(await read(after), edit.path) ?? null, edit.value ?? null)) return after;
    throw invalidConfig(`${path} could not be changed. Change it by hand.`);
  });
  return before;
}

function valueAt(content: unknown, path: FileEdit["path"]): unknown {
  let value = content;
  for (const step of path)
    value = Array.isArray(value) ? value.at(Number(step)) : isRecord(value) ? value[step] : undefined;
  return value;
}

async function editConfig(
  configFolder: string,
  editOf: (config: ConfigFile) => FileEdit | undefined,
): Promise<string> {
  const path = configPath({ configFolder });
  await editPrivateFile(path, (text) => checkConfigText(text, path), editOf);
  return path;
}

/** Adds a rule that holds in this folder alone. Resolves to the path of the file. */
export function saveRule(rule: string, { configFolder, cwd }: AnswerScope): Promise<string> {
  return editConfig(configFolder, ({ folders }) => {
    const rules = folders?.[cwd]?.permissions?.allow ?? [];
    const path = ["folders", cwd, "permissions", "allow"];
    if (rules.includes(rule)) return undefined;
    return rules.length === 0 ? { path, value: [rule] } : { path: [...path, -1], value: rule };
  });
}

/** Sets `folders.<cwd>.permissionMode` of the user's config file. Resolves to the path of the file. */
export function saveMode(mode: PermissionMode, { configFolder, cwd }: AnswerScope): Promise<string> {
  return editConfig(configFolder, ({ folders }) =>
    folders?.[cwd]?.permissionMode === mode
      ? undefined
      : { path: ["folders", cwd, "permissionMode"], value: mode },
  );
}

/** Sets `model` of the user's config file, the default for the next start. Resolves to its path. */
export function saveModel(
  name: string,
  { configFolder }: Pick<AnswerScope, "configFolder">,
): Promise<string> {
  return editConfig(configFolder, ({ model }) =>
    model === name ? undefined : { path: ["model"], value: name },
  );
}

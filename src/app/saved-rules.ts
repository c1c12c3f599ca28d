import { invalidConfig } from "../core/base/errors.ts";
import { checkConfigText } from "./config/load-config.ts";
import { configPath } from "./config/paths.ts";
import { changePrivateFile } from "./config/private-file.ts";

/** Where a rule is to be kept. */
export interface SavedRulePlace {
  readonly configFolder: string;
  /** The working folder the rule holds for, links resolved. */
  readonly cwd: string;
}

/**
 * Adds a rule to `folders.<cwd>.permissions.allow` of the user's config file, so that it holds in this folder
 * and nowhere else. Comments and layout of the file stay, writers wait for each other, and a rule that stands
 * there already is not added again. Resolves to the path of the file. Throws `invalid_config` when the file
 * cannot be read as a config or not be written; it is then as it was.
 */
export async function saveRule(rule: string, { configFolder, cwd }: SavedRulePlace): Promise<string> {
  const path = configPath({ configFolder });
  await changePrivateFile(path, async (text = "") => {
    const before = await allowedIn(text, { path, cwd });
    if (before.includes(rule)) return text;
    const { editConfigText } = await import("./config/parse-config.ts");
    const list = ["folders", cwd, "permissions", "allow"];
    const after =
      before.length === 0 ? editConfigText(text, list, [rule]) : editConfigText(text, [...list, -1], rule);
    // Read back before anything is written: a wider file than intended must not come out of an edit.
    const written = await allowedIn(after, { path, cwd });
    if (JSON.stringify(written) === JSON.stringify([...before, rule])) return after;
    throw invalidConfig(`${path} could not be changed. Add the rule by hand.`);
  });
  return path;
}

async function allowedIn(
  text: string,
  { path, cwd }: { readonly path: string; readonly cwd: string },
): Promise<readonly string[]> {
  const config = await checkConfigText(text, path);
  return config.folders?.[cwd]?.permissions?.allow ?? [];
}

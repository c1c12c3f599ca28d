import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { listFiles } from "./gates/source.ts";
import { API_FOLDER, apiPages } from "./gen-api-docs.ts";
import { CLI_REFERENCE, cliReference, MANUAL_PAGE, manualPage } from "./gen-cli-docs.ts";
import { llmsText } from "./gen-llms.ts";
import { SETTINGS_REFERENCE, settingsReference } from "./gen-settings-docs.ts";

/** Writes every document that is made from sources; with `--check` it only says which of them are stale. */
const root = process.cwd();
const files: Readonly<Record<string, string>> = {
  [CLI_REFERENCE]: cliReference(),
  [MANUAL_PAGE]: manualPage(),
  [SETTINGS_REFERENCE]: settingsReference(),
  ...apiPages(root),
  "llms.txt": llmsText(root),
};

const left = listFiles(root, API_FOLDER, /./).filter((path) => files[path] === undefined);
if (process.argv.includes("--check")) {
  const stale = Object.keys(files).filter((path) => readOrEmpty(path) !== files[path]);
  for (const path of stale) console.error(`${path} is stale: run node scripts/gen-docs.ts`);
  for (const path of left) console.error(`${path} belongs to no entry of the package: remove it`);
  process.exitCode = stale.length + left.length > 0 ? 1 : 0;
} else {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(join(root, path), "utf8");
  } catch {
    // Not made yet: stale.
    return "";
  }
}

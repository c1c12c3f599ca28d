import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isTestFile, listFiles } from "../gates/source.ts";

const STAMP = ".cache/build-inputs";
const OUTPUT = "dist/bin.mjs";

/** Whether `dist/` was built from exactly the inputs that are on disk now. */
export function isBuildFresh(root: string): boolean {
  const stamp = join(root, STAMP);
  if (!existsSync(stamp) || !existsSync(join(root, OUTPUT))) return false;
  return readFileSync(stamp, "utf8") === hashInputs(root);
}

/** Notes the present inputs as the ones `dist/` was built from. */
export function rememberBuild(root: string): void {
  const stamp = join(root, STAMP);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, hashInputs(root));
}

function hashInputs(root: string): string {
  const hash = createHash("sha256");
  const inputs = [
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "tsconfig.build.json",
    "scripts/build.ts",
    ...listFiles(root, "scripts/build", /\.ts$/),
    ...listFiles(root, "src", /./).filter((path) => !isTestFile(path)),
  ];
  for (const path of inputs) {
    const file = join(root, path);
    if (existsSync(file)) hash.update(`${path}\0`).update(readFileSync(file)).update("\0");
  }
  return hash.digest("hex");
}

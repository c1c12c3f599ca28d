import { readFileSync } from "node:fs";

/**
 * Runs before `npm publish`, in the folder of the package. Fails while `package.json` does not say where the
 * package lives: the registry's page would have no way to its source, and people none to report a bug.
 */
const manifest = JSON.parse(readFileSync("package.json", "utf8")) as { readonly [field: string]: unknown };
const missing = ["repository", "homepage", "bugs"].filter((field) => manifest[field] === undefined);

if (missing.length > 0) {
  console.error(
    `package.json has no ${missing.join(", ")}. Where the source lives is known to whoever publishes it:\n` +
      "  npm pkg set repository=github:OWNER/NAME homepage=https://… bugs=https://…/issues",
  );
  process.exitCode = 1;
}

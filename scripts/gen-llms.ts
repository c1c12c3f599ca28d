import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { readManifest } from "./build/manifest.ts";
import { listFiles } from "./gates/source.ts";

const INDEX = "docs/README.md";

/**
 * The index of the documents as `llms.txt`: its headings and lines, with paths from the root of the package.
 * Throws when a page of `docs/` is missing in the index.
 */
export function llmsText(root: string): string {
  const index = readFileSync(join(root, INDEX), "utf8");
  const missing = listFiles(root, "docs", /\.md$/)
    .filter((path) => posix.dirname(path) === "docs" && path !== INDEX)
    .filter((path) => !index.includes(`](${posix.basename(path)})`));
  if (missing.length > 0) throw new Error(`${INDEX} does not list ${missing.join(", ")}: add a line for it`);

  const { name, description } = readManifest(root);
  const text = [`# ${name}`, "", `> ${description}`];
  for (const line of index.split("\n").filter((each) => /^## |^- \[/.test(each))) {
    if (line.startsWith("## ")) text.push("", line, "");
    else text.push(line.replace(/\]\(([^)]+)\)/, (_, target: string) => `](${posix.join("docs", target)})`));
  }
  return `${text.join("\n")}\n`;
}

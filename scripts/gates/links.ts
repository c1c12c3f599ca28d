import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { type GateReport, runGate } from "./gate.ts";
import { listFiles } from "./source.ts";

/**
 * Checks that every link of a document to a file of the checkout, or to a heading of one, leads somewhere.
 */
export function checkLinks(root: string): GateReport {
  const own = listFiles(root, "", /\.md$/).filter((path) => !path.includes("/"));
  const documents = [...own, ...listFiles(root, "docs", /\.md$/), ...listFiles(root, "bench", /\.md$/)];
  const findings = documents.flatMap((path) => brokenLinks(root, path));
  return { looked: documents.length, findings };
}

function brokenLinks(root: string, path: string): string[] {
  const text = proseOf(readFileSync(join(root, path), "utf8"));
  return [...text.matchAll(/\]\(([^()\s]+)\)/g)].flatMap((match) => {
    const [target = "", heading] = (match[1] ?? "").split("#");
    if (/^[a-z]+:/i.test(target)) return [];
    const file = target === "" ? path : posix.join(posix.dirname(path), target);
    const line = text.slice(0, match.index).split("\n").length;
    if (!existsSync(join(root, file))) return [`${path}:${line}  ${match[1] ?? ""}: there is no ${file}`];
    if (heading === undefined || anchorsOf(root, file).has(heading)) return [];
    return [`${path}:${line}  ${match[1] ?? ""}: ${file} has no heading for #${heading}`];
  });
}

/** The names under which GitHub makes headings known. */
function anchorsOf(root: string, path: string): ReadonlySet<string> {
  const headings = proseOf(readFileSync(join(root, path), "utf8")).matchAll(/^#+ (.*)$/gm);
  return new Set([...headings].map(([, heading = ""]) => anchorOf(heading)));
}

function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");
}

/** The text without what stands in code blocks; lines stay where they are. */
function proseOf(document: string): string {
  return document.replaceAll(/^```[\s\S]*?^```/gm, (block) => block.replaceAll(/[^\n]/g, ""));
}

if (import.meta.main) await runGate("links", checkLinks, 10);

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type GateReport, runGate } from "./gate.ts";
import { listFiles } from "./source.ts";

/**
 * Checks that every TypeScript sample of a document is a part of a file below `examples/`, which is compiled
 * and run: a sample that nobody runs is wrong sooner or later. Blank lines and indentation do not count; a
 * line `…` stands for any lines.
 */
export function checkSamples(root: string): GateReport {
  const examples = listFiles(root, "examples", /\.ts$/).map((path) =>
    linesOf(readFileSync(join(root, path), "utf8")),
  );
  const documents = ["README.md", "README.zh-CN.md", ...listFiles(root, "docs", /\.md$/)];
  let looked = 0;
  const findings: string[] = [];
  for (const path of documents) {
    for (const { text, line } of samplesOf(readFileSync(join(root, path), "utf8"))) {
      looked++;
      if (!examples.some((example) => holds(example, linesOf(text)))) {
        findings.push(
          `${path}:${line}  the sample is in no file of examples/: copy it from one, or write one`,
        );
      }
    }
  }
  return { looked, findings };
}

function samplesOf(document: string): readonly { readonly text: string; readonly line: number }[] {
  return [...document.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map((match) => ({
    text: match[1] ?? "",
    line: document.slice(0, match.index).split("\n").length,
  }));
}

function linesOf(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** Whether the pieces of a sample, parted by `…`, stand in the example one after the other. */
function holds(example: readonly string[], sample: readonly string[]): boolean {
  const whole = example.join("\n");
  let from = 0;
  for (const piece of sample.join("\n").split(/\n?^(?:\/\/ )?…$\n?/m)) {
    if (piece === "") continue;
    const at = whole.indexOf(piece, from);
    if (at === -1) return false;
    from = at + piece.length;
  }
  return true;
}

if (import.meta.main) await runGate("samples", checkSamples, 1);

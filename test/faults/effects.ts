import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { defineTool, type Tool } from "../../src/core/tool/tool.ts";
import { calls, type ScriptStep, says } from "../../src/testing/script.ts";

/** A tool that notes in `folder/effects` that it ran. */
export function effectTool(folder: string): Tool {
  return defineTool({
    name: "note",
    description: "Notes a number.",
    parameters: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
    execute: ({ n }: { readonly n: number }) => {
      appendFileSync(join(folder, "effects"), `${n}\n`);
      return `noted ${n}`;
    },
  });
}

/**
 * What a model says that calls the tool with the numbers from `next` to `count`, two in an answer, and then
 * ends.
 */
export function remainingSteps(next: number, count: number): readonly ScriptStep[] {
  const steps: ScriptStep[] = [];
  for (let n = next; n < count; n += 2) {
    const numbers = n + 1 < count ? [n, n + 1] : [n];
    steps.push(numbers.map((number) => calls("note", { n: number }, `call_${number}`)));
  }
  return [...steps, says("done")];
}

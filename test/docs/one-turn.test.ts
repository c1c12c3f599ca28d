import { readFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Agent, defineTool, type Model, type StreamPart } from "../../src/index.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Tools for texts, errors and time, and the words that messages are made of: read when they are met. */
const HELPERS =
  /^src\/core\/base\/(?!.*(?:schema|check|validate))|^src\/core\/message\/(?:message|usage|block)\.ts$/;
const USAGE = { inputTokens: 1, outputTokens: 1 };

/** The files of which a function runs from one model request to the next, with one tool call between them. */
async function filesOfOneTurn(): Promise<readonly string[]> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true });
  let asked = 0;
  const files = new Set<string>();
  const model: Model = {
    provider: "own",
    id: "m",
    async *stream(): AsyncGenerator<StreamPart> {
      asked += 1;
      const index = 0;
      const { result } = await session.post("Profiler.takePreciseCoverage");
      if (asked === 3) {
        for (const { url, functions } of result) {
          const path = url.replace("file://", "").replace(`${ROOT}/`, "");
          if (path.startsWith("src/") && functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
            files.add(path);
        }
        yield { type: "text_delta", index, text: "Done." };
        yield { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage: USAGE };
        return;
      }
      const call = { type: "tool_use", id: `c${asked}`, name: "read", input: { n: asked } } as const;
      yield { type: "tool_call_start", index, id: call.id, name: call.name };
      yield { type: "block", index, block: call };
      yield { type: "finish", finishReason: { unified: "tool_use", raw: "tool_use" }, usage: USAGE };
    },
  };
  const parameters = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const;
  const read = defineTool({
    name: "read",
    description: "Reads.",
    parameters,
    execute: ({ n }) => `text ${n}`,
  });
  const permission = { check: () => ({ action: "allow" }) as const };
  const { iterations } = await new Agent({ model, tools: [read], permission, loopGuard: false }).run("go");
  session.disconnect();
  expect(iterations).toBe(3);
  return [...files].filter((path) => !HELPERS.test(path)).sort();
}

/** The files that docs/architecture.md names between two of its sentences. */
function documented(from: string, to: string): readonly string[] {
  const page = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
  const part = page.slice(page.indexOf(from), page.indexOf(to));
  return [...part.matchAll(/`(src\/[\w/-]+\.ts)`/g)].map(([, path]) => path ?? "").sort();
}

test("one turn with one tool call passes the files that the page on architecture names, at most 13 of core", async () => {
  const files = await filesOfOneTurn();
  expect(files).toEqual(documented("**One turn with one tool call**", "**The arguments of a tool call**"));
  expect(files.filter((path) => path.startsWith("src/core/")).length).toBeLessThanOrEqual(13);
});

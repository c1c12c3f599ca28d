import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

/** The members of an interface that an editor shows nothing for. */
function withoutComment(path: string, name: string): readonly string[] {
  const [, behind] = readFileSync(join(ROOT, path), "utf8").split(`export interface ${name}`);
  const body = behind?.slice(0, behind.indexOf("\n}"));
  if (body === undefined) throw new Error(`${path} has no interface ${name}`);
  const lines = body.split("\n");
  const members = lines.flatMap((line, at) => {
    const member = /^ {2}(?:readonly )?(\w+)\??[:(]/.exec(line)?.[1];
    return member === undefined ? [] : [{ member, hasComment: lines[at - 1]?.endsWith("*/") === true }];
  });
  expect(members.length).toBeGreaterThan(0);
  return members.filter(({ hasComment }) => !hasComment).map(({ member }) => member);
}

test.each([
  ["src/agent/options.ts", "AgentOptions"],
  ["src/agent/options.ts", "RunOptions"],
  ["src/core/tool/tool.ts", "Tool "],
  ["src/core/tool/tool.ts", "ToolDefinition"],
  ["src/agent/agent-loop.ts", "AgentLoopOptions"],
  ["src/coding/session/coding-session.ts", "CodingSessionOptions"],
  ["src/coding/session/coding-session.ts", "CodingSession "],
  ["src/core/agent/result.ts", "RunReport"],
  ["src/server/create-handler.ts", "HandlerOptions"],
  ["src/durable/durable-run.ts", "FleetOptions"],
])("every member of %s %s has a comment that an editor shows", (path, name) => {
  expect(withoutComment(path, name)).toEqual([]);
});

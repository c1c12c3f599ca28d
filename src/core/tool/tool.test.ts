import { expect, test } from "vitest";
import { defineTool, ToolRegistry } from "./tool.ts";

const tool = (name: string) => defineTool({ name, description: name });

test("a registry with one tool more has what is added to the other and not what is removed, its own tool last", () => {
  const base = new ToolRegistry([tool("a"), tool("b")]);
  const more = base.with(tool("finish"));
  const first = more.specs();
  base.add(tool("c"));
  base.remove("a");
  expect([first.map(({ name }) => name), more.specs().map(({ name }) => name), base.names()]).toEqual([
    ["a", "b", "finish"],
    ["b", "c", "finish"],
    ["b", "c"],
  ]);
  expect([more.get("c")?.name, more.get("a"), more.specs() === more.specs()]).toEqual(["c", undefined, true]);
});

test("a tool that is replaced is the new one there too, and the own one is never replaced", () => {
  const base = new ToolRegistry([tool("a")]);
  const own = tool("finish");
  const more = base.with(own);
  const other = tool("a");
  base.remove("a");
  base.add(other);
  base.add(tool("finish"));
  expect([more.get("a") === other, more.get("finish") === own, more.names()]).toEqual([
    true,
    true,
    ["a", "finish"],
  ]);
});

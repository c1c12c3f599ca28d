import fc from "fast-check";
import { expect, test } from "vitest";
import { mcpNames, serverNameParts } from "./tool-name.ts";

const UNIT = fc.constantFrom("a", "B", "7", "_", "-", ".", "/", " ", "é", "日", "😀", "\0");

const named = (part: string, names: readonly string[]): readonly unknown[] => [
  ...mcpNames(part, names).values(),
];

test("names that providers take stay as they are, others are made so", () => {
  expect(named("git", ["get_issue", "a.b/c", "日本"])).toEqual([
    "mcp__git__get_issue",
    "mcp__git__a_b_c",
    "mcp__git____",
  ]);
});

test("of two names that become one, the one that was changed gets a hash, whatever the order", () => {
  const [one, other] = [named("s", ["a.b", "a_b", "a/b"]), named("s", ["a/b", "a_b", "a.b"])];
  expect(one[1]).toBe("mcp__s__a_b");
  expect(new Set(one)).toEqual(new Set(other));
  expect(one[0]).toMatch(/^mcp__s__a_b_[0-9a-f]{8}$/);
});

test("a server keeps its name, whichever others are called like it", () => {
  const rival = serverNameParts(["x.", "x"]).get("x.") ?? "";
  expect([
    serverNameParts(["x.", "x"]).get("x"),
    serverNameParts(["x", "x.", rival]).get(rival),
    new Set(serverNameParts(["x", "x.", rival]).values()).size,
  ]).toEqual(["x", rival, 3]);
});

test("servers have different parts without two underscores", () => {
  expect([...serverNameParts(["git hub", "git__hub", "a", ""]).values()]).toEqual([
    "git_hub",
    expect.stringMatching(/^git_hub_[0-9a-f]{8}$/),
    "a",
    expect.stringMatching(/^[0-9a-f]{8}$/),
  ]);
});

test("whatever servers and tools are called, their names can be sent, are different, and lead back to the server", () => {
  const names = fc.uniqueArray(fc.oneof(fc.string(), fc.string({ unit: UNIT, maxLength: 80 })), {
    maxLength: 8,
  });
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ unit: UNIT }), { minLength: 1, maxLength: 4 }),
      names,
      (servers, tools) => {
        const parts = [...serverNameParts(servers).values()];
        const all = parts.flatMap((part) => [...mcpNames(part, tools).values()]);
        expect(new Set(all).size).toBe(servers.length * tools.length);
        for (const name of all) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
        for (const part of parts) expect(part).not.toContain("__");
      },
    ),
  );
});

import fc from "fast-check";
import { expect, it } from "vitest";
import { toWireToolName } from "./wire.ts";

it.each([
  ["read", "read"],
  ["mcp__files__read-all", "mcp__files__read-all"],
  ["my tool (beta)", "my_tool__beta_"],
  ["", "unnamed_tool"],
  ["工具", "__"],
  ["7 of 9", "_7_of_9"],
])("sends the name %j as %j", (name, sent) => {
  expect(toWireToolName(name)).toBe(sent);
});

it("makes a name of any text that every vendor accepts, and the same one again from it", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 100 }), (name) => {
      const sent = toWireToolName(name);
      expect(sent).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(toWireToolName(sent)).toBe(sent);
    }),
  );
});

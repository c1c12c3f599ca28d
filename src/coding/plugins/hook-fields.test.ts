import fc from "fast-check";
import { expect, test } from "vitest";
import { ownInput, peerInput, peerResponse } from "./session-hooks.ts";

const edit = (...edits: readonly object[]) =>
  ({ name: "edit", input: { path: "a.ts", edits }, cwd: "/w" }) as Parameters<typeof peerInput>[0];
const ONE = { old_string: "a", new_string: "b" };
const TWO = { old_string: "c", new_string: "d", replace_all: true };

test("a script finds the path from the root and the texts of all edits where it looks for them", () => {
  expect([
    peerInput(edit(ONE, TWO)),
    peerInput({ name: "write", input: { path: "~/x", content: "y" }, cwd: "/w" }),
    peerInput({ name: "bash", input: { command: "ls", path: "x" }, cwd: "/w" }),
    peerResponse({ name: "read", input: { path: "a" }, cwd: "/w" }, { content: "t" }),
  ]).toEqual([
    { path: "a.ts", edits: [ONE, TWO], file_path: "/w/a.ts", old_string: "a\nc", new_string: "b\nd" },
    { path: "~/x", content: "y", file_path: "~/x" },
    { command: "ls", path: "x" },
    { content: "t", is_error: false, success: true, filePath: "/w/a" },
  ]);
});

test.each([
  ["its new text, in a single edit", [ONE], { new_string: "B" }, { edits: [{ ...ONE, new_string: "B" }] }],
  ["the file", [ONE], { file_path: "/w/b.ts" }, { path: "/w/b.ts" }],
  ["the edits themselves", [ONE], { edits: [TWO] }, { edits: [TWO] }],
  // The schema of the tool refuses what it does not know: nothing runs that the hook did not mean.
  ["a text of several edits", [ONE, TWO], { new_string: "B" }, { old_string: "a\nc", new_string: "B" }],
])("a hook that changes %s changes what runs", (_what, edits, changed, expected) => {
  const call = edit(...edits);
  expect(ownInput(call, { ...peerInput(call), ...changed })).toEqual({ ...call.input, ...expected });
});

test("what a hook gives back as it was told is what was called, whatever the arguments are", () => {
  const name = fc.constantFrom("edit", "write", "read", "bash", "mcp__x__y");
  const oddEdit = fc.oneof(fc.jsonValue(), fc.record({ old_string: fc.string(), new_string: fc.string() }));
  const input = fc.record(
    { path: fc.oneof(fc.string(), fc.jsonValue()), edits: fc.oneof(fc.array(oddEdit), fc.jsonValue()) },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(name, input, (tool, given) => {
      const call = { name: tool, input: given as never, cwd: "/w" };
      expect(ownInput(call, peerInput(call))).toEqual(given);
    }),
  );
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { place } from "./open.ts";

test("a question about a command line names every part that needs a yes, the most dangerous first", async () => {
  const command = "cd src && touch ../../p1; rm -f ../../p2";
  await using session = await place({ "src/a.txt": "x" }).open([
    calls("bash", { command }),
    says("I leave it."),
  ]);
  const asked: (readonly string[])[] = [];
  session.onQuestion((question) => {
    asked.push((question.parts ?? []).map(({ text }) => text));
    session.answer(question.id, { choice: "no" });
  });
  const { denials } = await session.send("Clean up");
  expect([asked, denials.length]).toEqual([[["rm -f ../../p2", "touch ../../p1"]], 1]);
});

test("what is no function cannot listen", async () => {
  await using session = await place({}).open([]);
  const fault = "The listener is 5; it must be a function.";
  for (const listen of ["onQuestion", "onNotice", "onChange"] as const)
    expect(() => {
      // @ts-expect-error JavaScript may pass anything
      session[listen](5);
    }).toThrow(fault);
});

test("a yes covers the change that was shown: not one of a file that another call has changed since", async () => {
  const { open, cwd } = place({ "role.js": "role('guest')\n" });
  await using session = await open([
    calls("read", { path: "role.js" }),
    [
      calls(
        "edit",
        { path: "role.js", edits: [{ old_string: "role(", new_string: "role('guest') || role(" }] },
        "a",
      ),
      calls(
        "edit",
        { path: "role.js", edits: [{ old_string: "'guest'", new_string: "'admin'", replace_all: true }] },
        "b",
      ),
    ],
    says("Done."),
  ]);
  const added: (number | undefined)[] = [];
  session.onQuestion((question) => {
    added.push(question.diff?.added);
    session.answer(question.id, { choice: "once" });
  });
  await session.send("Go");
  const results = session.view.items.flatMap((item) => (item.type === "tool" ? [item.state] : []));
  expect([added, results, readFileSync(join(cwd, "role.js"), "utf8")]).toEqual([
    [1, 1],
    ["ok", "ok", "error"],
    "role('guest') || role('guest')\n",
  ]);
});

test("a path with line feeds adds nothing to the diff of its change", async () => {
  const { open } = place({ x: "" });
  await using session = await open([
    calls("write", { path: "y\n@@ -1,1 +1,1 @@\n-harmless\n+blue\n/../z.js", content: "evil()\n" }),
    says("Done."),
  ]);
  const diffs: unknown[] = [];
  session.onQuestion((question) => {
    diffs.push(question.diff?.hunks.flatMap(({ lines }) => lines));
    session.answer(question.id, { choice: "no" });
  });
  await session.send("Go");
  expect(diffs).toEqual([["+evil()"]]);
});

test("a diff shows that a byte order mark goes", async () => {
  const { open } = place({ "a.txt": "\uFEFFone\n" });
  await using session = await open([
    calls("read", { path: "a.txt" }),
    calls("write", { path: "a.txt", content: "one\n" }),
    says("Done."),
  ]);
  const diffs: unknown[] = [];
  session.onQuestion((question) => {
    diffs.push(question.diff?.hunks.flatMap(({ lines }) => lines));
    session.answer(question.id, { choice: "no" });
  });
  await session.send("Go");
  expect(diffs).toEqual([["-\uFEFFone", "+one"]]);
});

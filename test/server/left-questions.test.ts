import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { tempFolder } from "../temp-folder.ts";
import { filesRoom, followUntil, isRunEnd, otherWriter, type Steps } from "./server-room.ts";

/** A server, and a session of another process that was killed while it asked about the last of its calls. */
async function leftAt(steps: Steps, files: Readonly<Record<string, string>> = {}) {
  const home = tempFolder();
  const cwd = tempFolder(files);
  const asking = await otherWriter({ home, cwd }, steps);
  asking.onQuestion(() => undefined);
  const run = asking.send("Do it");
  await expect.poll(() => asking.questions.length).toBe(1);
  asking.killNow();
  await run;
  const { reader } = await filesRoom([says("Done.")], { home, cwd });
  return { reader, cwd, asking };
}

const leftAsking = (command: string) => leftAt([calls("bash", { command })]);

test("a question that was left by another process is shown with its session, and can be answered here", async () => {
  const { reader, cwd, asking } = await leftAsking("touch made");
  const open = await reader.approvals();
  expect(open.map(({ sessionId, tool }) => [sessionId, tool])).toEqual([[asking.id, "bash"]]);
  const { state, questions } = await reader.session(asking.id);
  expect([state, questions.map(({ tool }) => tool)]).toEqual(["waiting", ["bash"]]);
  await reader.answer(open[0]?.id ?? "", { choice: "once" });
  await followUntil(reader, asking.id, (_, items) => items.filter(isRunEnd).length > 0);
  expect(existsSync(join(cwd, "made"))).toBe(true);
});

test("a question that a copy of its session has too is answered where it is meant, and nowhere else", async () => {
  const { reader, cwd, asking } = await leftAsking("echo made >> made");
  const copy = (await reader.fork(asking.id)).id;
  const open = await reader.approvals();
  expect(open.map(({ sessionId }) => sessionId).sort()).toEqual([asking.id, copy].sort());
  const id = open[0]?.id ?? "";
  await expect(reader.answer(id, { choice: "once" })).rejects.toMatchObject({
    status: 409,
    code: "ambiguous",
    message: expect.stringContaining(copy),
  });
  await reader.answer(id, { choice: "once", sessionId: copy });
  await followUntil(reader, copy, (_, items) => items.filter(isRunEnd).length > 0);
  expect([
    readFileSync(join(cwd, "made"), "utf8"),
    (await reader.approvals()).map(({ sessionId }) => sessionId),
  ]).toEqual(["made\n", [asking.id]]);
  // Meant for one that was answered already, it would be a yes to the other.
  await expect(reader.answer(id, { choice: "once" })).rejects.toMatchObject({ status: 409 });
  await expect(reader.answer(id, { choice: "no", sessionId: copy })).rejects.toMatchObject({ status: 409 });
  await expect(reader.answer(id, { choice: "no", sessionId: "other" })).rejects.toMatchObject({
    status: 404,
  });
});

const CHANGED = "The file has changed since";

const EDIT = calls("edit", { path: "a.txt", edits: [{ old_string: "old", new_string: "new" }] });
const OVER = calls("write", { path: "a.txt", content: "new\n" });
const NEW = calls("write", { path: "n.txt", content: "new\n" });

test.each([
  ["an edit", EDIT, "a.txt", ["-old", "+new"]],
  ["a write over a file", OVER, "a.txt", ["-old", "+new"]],
  ["a write of a new file", NEW, "n.txt", ["+new"]],
])(
  "%s that another process asked about is shown with its diff, and made by a yes",
  async (_, step, name, lines) => {
    const { reader, cwd, asking } = await leftAt([calls("read", { path: "a.txt" }), step], {
      "a.txt": "old\n",
    });
    const open = await reader.approvals();
    const { questions } = await reader.session(asking.id);
    for (const shown of [open, questions])
      expect(shown.map(({ diff, reason }) => [diff?.hunks[0]?.lines, reason.includes(CHANGED)])).toEqual([
        [lines, false],
      ]);
    await reader.answer(open[0]?.id ?? "", { choice: "once" });
    await followUntil(reader, asking.id, (_item, items) => items.filter(isRunEnd).length > 0);
    expect(readFileSync(join(cwd, name), "utf8")).toBe("new\n");
  },
);

test.each([
  ["an edit", EDIT],
  ["a write", OVER],
])(
  "%s that another process asked about says that its file has changed, and a yes leaves that alone",
  async (_, step) => {
    const { reader, cwd, asking } = await leftAt([calls("read", { path: "a.txt" }), step], {
      "a.txt": "old\n",
    });
    writeFileSync(join(cwd, "a.txt"), "old, and more\n");
    const open = await reader.approvals();
    const { questions } = await reader.session(asking.id);
    for (const shown of [open, questions])
      expect(shown.map(({ diff, reason }) => [diff, reason.includes(CHANGED)])).toEqual([[undefined, true]]);
    await reader.answer(open[0]?.id ?? "", { choice: "once" });
    await followUntil(reader, asking.id, (_item, items) => items.filter(isRunEnd).length > 0);
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("old, and more\n");
  },
);

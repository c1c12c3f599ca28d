import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { tempFolder } from "../temp-folder.ts";
import { filesRoom, followUntil, isRunEnd, otherWriter } from "./server-room.ts";

/** A server, and a session of another process that was killed while it asked about a command. */
async function leftAsking(command: string) {
  const home = tempFolder();
  const cwd = tempFolder();
  const asking = await otherWriter({ home, cwd }, [calls("bash", { command }), says("Done.")]);
  asking.onQuestion(() => undefined);
  const run = asking.send("Do it");
  await expect.poll(() => asking.questions.length).toBe(1);
  asking.killNow();
  await run;
  const { reader } = await filesRoom([says("Done.")], { home, cwd });
  return { reader, cwd, asking };
}

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

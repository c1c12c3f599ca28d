import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { SessionStore } from "../session-store.ts";
import { importSession } from "./import-session.ts";

test("what is not a session of another program is refused, and leaves nothing", async () => {
  const folder = tempFolder({ "text.jsonl": "hello\nworld\n", "empty.jsonl": "", "odd.jsonl": '{"a":1}\n' });
  const store = new SessionStore(join(folder, "sessions"));
  const refused = (name: string): Promise<unknown> =>
    importSession(store, join(folder, name), { cwd: folder });
  for (const name of ["text.jsonl", "empty.jsonl", "odd.jsonl", "missing.jsonl", "sessions"])
    await expect(refused(name)).rejects.toMatchObject({ code: "invalid_argument" });
  const journal = await store.start(folder, { sessionId: "own" });
  await journal.append({ type: "run_start", sessionId: "own", model: "a/b", tools: [] });
  await journal.close();
  await expect(importSession(store, journal.path, { cwd: folder })).rejects.toMatchObject({
    message: expect.stringContaining("is a session of nano-agent already"),
  });
  expect(store.list().map(({ sessionId }) => sessionId)).toEqual(["own"]);
});

test("a session id that is taken, or that is a link, is not written over", async () => {
  const folder = tempFolder({
    "pi.jsonl":
      '{"type":"session","timestamp":"x"}\n{"type":"message","message":{"role":"user","content":"a"}}\n',
    victim: "keep",
  });
  const store = new SessionStore(join(folder, "sessions"));
  const { path } = await importSession(store, join(folder, "pi.jsonl"), { cwd: folder, sessionId: "one" });
  symlinkSync(join(folder, "victim"), path.replace("one", "two"));
  for (const sessionId of ["one", "two"])
    await expect(
      importSession(store, join(folder, "pi.jsonl"), { cwd: folder, sessionId }),
    ).rejects.toMatchObject({ code: "journal" });
  await expect(
    importSession(store, join(folder, "pi.jsonl"), { cwd: folder, sessionId: "../x" }),
  ).rejects.toMatchObject({ code: "invalid_argument" });
});

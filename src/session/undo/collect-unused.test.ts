import { randomBytes } from "node:crypto";
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { defineTool } from "../../core/tool/tool.ts";
import type { JsonlJournal } from "../jsonl-journal.ts";
import { SessionStore } from "../session-store.ts";
import { type RollbackReport, undo } from "./rollback.ts";
import { openWorkspace, rollbackPlace, SessionCheckpoints } from "./session-checkpoints.ts";

const TOOL = defineTool({ name: "work", description: "Works.", execute: () => "" });
const LIMITS = { maxStoreBytes: 1_000_000 };

function place() {
  const cwd = realpathSync(tempFolder());
  const state = tempFolder();
  const folder = join(state, "checkpoints");
  const store = new SessionStore(join(state, "sessions"));
  const begin = async (sessionId: string) => {
    const journal = await store.start(cwd, { sessionId });
    await journal.append({ type: "run_start", sessionId, model: "m", tools: [] });
    const { path: journalPath } = journal;
    const checkpoints = new SessionCheckpoints({
      folder,
      roots: [cwd],
      sessionId,
      journalPath,
      limits: LIMITS,
    });
    let count = 0;
    const work = async (act: () => void): Promise<void> => {
      const call = { callId: `call-${++count}`, tool: TOOL, name: "work", access: "exclusive" } as const;
      await checkpoints.before(call);
      act();
      for (const entry of await checkpoints.after(call)) await journal.append(entry);
    };
    return { journal, checkpoints, work };
  };
  const back = (journal: JsonlJournal): Promise<RollbackReport> =>
    undo(rollbackPlace({ folder, journal, cwd, limits: LIMITS }));
  const workspace = () => openWorkspace(cwd, { folder, sessionId: "other" });
  return { cwd, store, begin, back, workspace };
}

/** What no packing makes smaller. */
const noise = (): Buffer => randomBytes(60_000);

test("the oldest sessions make room for the newest, which can still be undone", async () => {
  const { cwd, store, begin, back, workspace } = place();
  const file = join(cwd, "a.bin");
  const first = noise();
  const versions = [first];
  writeFileSync(file, first);
  for (let at = 0; at < 6; at++) {
    const { journal, checkpoints, work } = await begin(`s${at}`);
    for (let round = 0; round < 4; round++) await work(() => writeFileSync(file, noise()));
    versions.push(readFileSync(file));
    await checkpoints.close();
    await journal.close();
  }
  expect(workspace().store.bytes).toBeLessThan(LIMITS.maxStoreBytes);
  const users = workspace()
    .store.users()
    .map((path) => basename(path));
  expect([users.includes("s0.jsonl"), users.includes("s5.jsonl")]).toEqual([false, true]);
  const newest = await store.resume(store.find("s5", cwd));
  expect((await back(newest)).status).toBe("done");
  await newest.close();
  expect(readFileSync(file).equals(versions[5] ?? first)).toBe(true);
  const oldest = await store.resume(store.find("s0", cwd));
  expect(await back(oldest)).toMatchObject({ status: "nothing", left: [{ path: "a.bin", reason: "lost" }] });
  await oldest.close();
});

test("nothing is removed while another session of the folder is running", async () => {
  const { cwd, begin, workspace } = place();
  const other = await begin("other");
  await other.work(() => writeFileSync(join(cwd, "b"), "b"));
  const { journal, checkpoints, work } = await begin("busy");
  for (let round = 0; round < 14; round++) await work(() => writeFileSync(join(cwd, "a.bin"), noise()));
  const before = workspace().store.sizes().size;
  await checkpoints.close();
  expect(workspace().store.sizes().size).toBe(before);
  await journal.close();
  await other.journal.close();
});

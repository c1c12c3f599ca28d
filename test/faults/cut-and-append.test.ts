import { readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { JsonlJournal } from "../../src/session/jsonl-journal.ts";
import { tempFolder } from "../temp-folder.ts";
import { recordedSession } from "./recorded-session.ts";
import { isFullSweep } from "./sweep.ts";

const LAST_BYTES = 4_096;
/** A prime, so that a sample meets every kind of place. */
const STEP = isFullSweep ? 1 : 29;

it(`keeps the next record wherever a session file is cut in its last ${LAST_BYTES} bytes`, async () => {
  const { path, entries, ends } = await recordedSession(tempFolder(), { turns: 12 });
  const whole = readFileSync(path);
  const cut = join(tempFolder(), "cut.jsonl");
  const calls = { write: writeSync, sync: async () => undefined };
  expect(whole.length).toBeGreaterThan(2 * LAST_BYTES);
  for (let size = whole.length - LAST_BYTES; size <= whole.length; size += STEP) {
    writeFileSync(cut, whole.subarray(0, size));
    const journal = await JsonlJournal.open(cut, { calls });
    const next = await journal.append({
      type: "user_message",
      message: { role: "user", content: [{ type: "text", text: "next" }] },
      source: "input",
    });
    await journal.close();
    const before = entries.filter((_, at) => (ends[at] ?? 0) <= size);
    expect([size, [...journal.entries()]]).toEqual([size, [...before, next]]);
  }
});

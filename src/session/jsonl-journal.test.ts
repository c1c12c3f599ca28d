import { appendFileSync, existsSync, readFileSync, statSync, truncateSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { describeJournal } from "../../test/contracts/describe-journal.ts";
import { tempFolder } from "../../test/temp-folder.ts";
import type { NewEntry } from "../core/agent/entries.ts";
import { MemoryJournal } from "../core/agent/journal.ts";
import { type AppendCalls, JsonlJournal, type JsonlJournalOptions } from "./jsonl-journal.ts";

async function create(
  options: JsonlJournalOptions & { readonly sessionId?: string } = {},
): Promise<JsonlJournal> {
  const { sessionId = "s1" } = options;
  const journal = await JsonlJournal.create(join(tempFolder(), `${sessionId}.jsonl`), {
    cwd: "/somewhere",
    ...options,
    sessionId,
  });
  onTestFinished(() => journal.close().catch(() => undefined));
  return journal;
}

function said(text: string): NewEntry {
  return {
    type: "user_message",
    message: { role: "user", content: [{ type: "text", text }] },
    source: "input",
  };
}

const START: NewEntry = { type: "run_start", sessionId: "s1", model: "a/b", tools: [] };

/** Calls that count syncs, and can be made to fail. */
function watchedCalls(faults: { write?: () => number | Error; sync?: () => Error | undefined } = {}): {
  readonly calls: AppendCalls;
  readonly syncs: () => number;
  readonly written: () => string;
} {
  let syncs = 0;
  let written = "";
  return {
    syncs: () => syncs,
    written: () => written,
    calls: {
      write: (_descriptor, bytes) => {
        const outcome = faults.write?.() ?? bytes.length;
        if (outcome instanceof Error) throw outcome;
        const count = Math.min(outcome, bytes.length);
        written += Buffer.from(bytes.subarray(0, count)).toString();
        return count;
      },
      sync: async () => {
        syncs++;
        const error = faults.sync?.();
        if (error !== undefined) throw error;
      },
    },
  };
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: said by the system`), { code });
}

describeJournal("MemoryJournal", async (options) => new MemoryJournal(options));
describeJournal("JsonlJournal", (options) => create(options));

describe("JsonlJournal", () => {
  it("writes one line a record into a file of mode 0600, the session first", async () => {
    const journal = await create({ now: () => 7 });
    await journal.append(said("hi"));
    await journal.close();
    const lines = readFileSync(journal.path, "utf8").trimEnd().split("\n");
    const id = expect.stringMatching(/^entry_/);
    const sum = expect.stringMatching(/^[0-9a-f]{8}$/);
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
      { v: 1, id, parent: null, time: 7, type: "session", sessionId: "s1", cwd: "/somewhere", sum },
      { v: 1, id, parent: id, time: 7, ...said("hi"), sum },
    ]);
    expect(statSync(journal.path).mode & 0o777).toBe(0o600);
  });

  it("leaves no file and no lock behind when nothing was recorded", async () => {
    const journal = await create();
    await journal.close();
    expect([existsSync(journal.path), existsSync(journal.path.replace(".jsonl", ".lock"))]).toEqual([
      false,
      false,
    ]);
  });

  it("syncs each record that acknowledges something, and lets the others ride on the next", async () => {
    const { calls, syncs } = watchedCalls();
    const journal = await create({ calls });
    await journal.append(START);
    expect(syncs()).toBe(0);
    await journal.append(said("one"));
    expect(syncs()).toBe(1);
  });

  it("syncs records that are appended together with at most two syncs", async () => {
    const { calls, syncs } = watchedCalls();
    const journal = await create({ calls });
    await Promise.all(Array.from({ length: 50 }, async (_, at) => journal.append(said(`${at}`))));
    expect(syncs()).toBeLessThanOrEqual(2);
  });

  it("goes on after short writes until all bytes are written", async () => {
    const watched = watchedCalls({ write: () => 7 });
    const journal = await create({ calls: watched.calls });
    await journal.append(said("a text that is longer than seven bytes"));
    expect(
      watched
        .written()
        .trimEnd()
        .split("\n")
        .map((line): unknown => JSON.parse(line)),
    ).toMatchObject([{ type: "session" }, said("a text that is longer than seven bytes")]);
  });

  it.each([
    ["ENOSPC", "no space left on the device (ENOSPC)"],
    ["EIO", "the device failed (EIO)"],
    ["EROFS", "the file system is read-only (EROFS)"],
  ])("stops for good when a write fails with %s, saying what is stored", async (code, reason) => {
    const faults: { write?: () => Error } = {};
    const journal = await create({ calls: watchedCalls(faults).calls });
    await journal.append(said("stored"));
    faults.write = () => systemError(code);
    const failed = {
      code: "journal",
      message: `${journal.path}: ${reason}. 2 records are stored and kept.`,
    };
    expect(await appendError(journal)).toMatchObject(failed);
    delete faults.write;
    expect(await appendError(journal)).toMatchObject({ code: "journal" });
  });

  it("stops for good when a sync fails", async () => {
    const faults: { sync?: () => Error } = {};
    const journal = await create({ calls: watchedCalls(faults).calls });
    await journal.append(said("stored"));
    faults.sync = () => systemError("EIO");
    expect(await appendError(journal)).toMatchObject({ code: "journal" });
    delete faults.sync;
    expect(await appendError(journal)).toMatchObject({ code: "journal" });
  });

  it("stops when its file was removed", async () => {
    const journal = await create();
    await journal.append(said("one"));
    unlinkSync(journal.path);
    expect(await appendError(journal)).toMatchObject({ code: "journal" });
  });

  it("writes a newline first when the file was cut while it was open", async () => {
    const journal = await create();
    await journal.append(said("one"));
    truncateSync(journal.path, statSync(journal.path).size - 5);
    await journal.append(said("two"));
    expect([...journal.entries()]).toMatchObject([said("two")]);
  });

  it("returns what a reader will get for what JSON and UTF-8 cannot hold", async () => {
    const journal = await create();
    const stored = await journal.append(said("half \ud83d pair, \u0000 kept, \\ud83d too"));
    expect(stored).toMatchObject(said("half \ufffd pair, \u0000 kept, \\ud83d too"));
    expect([...journal.entries()]).toEqual([stored]);
  });

  it("records a result whose metadata cannot be serialised", async () => {
    const journal = await create();
    const circle: Record<string, unknown> = { size: 10n };
    circle["self"] = circle;
    const stored = await journal.append({
      type: "tool_result",
      callId: "c",
      name: "x",
      status: "ok",
      result: { type: "tool_result", tool_use_id: "c", content: "done" },
      metadata: circle as never,
      durationMs: 1,
    });
    expect(stored).toMatchObject({ metadata: { size: "10", self: "[circular]" } });
    expect([...journal.entries()]).toEqual([stored]);
  });

  it("goes on where it was left, whatever the clock says", async () => {
    const first = await create({ now: () => 2_000_000 });
    const one = await first.append(said("one"));
    await first.close();
    const second = await JsonlJournal.open(first.path, { now: () => 1_000 });
    const two = await second.append(said("two"));
    await second.close();
    expect([two.parent, [...second.entries()]]).toEqual([one.id, [one, two]]);
  });

  it("refuses a file of a newer version and leaves it as it is", async () => {
    const first = await create();
    await first.append(said("one"));
    await first.close();
    appendFileSync(first.path, '{"v":2,"id":"x","what":"is not known"');
    const before = readFileSync(first.path);
    await expect(JsonlJournal.open(first.path)).rejects.toMatchObject({
      code: "journal",
      message: expect.stringContaining("is of version 2"),
    });
    expect(readFileSync(first.path)).toEqual(before);
    expect(existsSync(first.path.replace(".jsonl", ".lock"))).toBe(false);
  });

  it("begins a copy with all records of the other, also those of unknown types", async () => {
    const first = await create({ sessionId: "first" });
    await first.append(said("one"));
    await first.append({ type: "of_the_future", anything: [1] } as never);
    const three = await first.append(said("three"));
    const copy = await JsonlJournal.create(join(tempFolder(), "copy.jsonl"), {
      sessionId: "copy",
      cwd: "/elsewhere",
      copyOf: first.path,
    });
    await copy.append(said("four"));
    await copy.close();
    const lines = readFileSync(copy.path, "utf8").trimEnd().split("\n");
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      {
        type: "session",
        sessionId: "copy",
        cwd: "/elsewhere",
        forkedFrom: { sessionId: "first", entry: three.id },
      },
      said("one"),
      { type: "of_the_future", anything: [1] },
      { ...said("three"), id: three.id },
      said("four"),
    ]);
    expect([...first.entries()]).toMatchObject([said("one"), said("three")]);
  });
});

async function appendError(journal: JsonlJournal): Promise<unknown> {
  try {
    await journal.append(said("more"));
  } catch (error) {
    return error;
  }
  return undefined;
}

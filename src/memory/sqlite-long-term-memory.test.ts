import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { describeLongTermMemory } from "../../test/contracts/describe-long-term-memory.ts";
import { tempFolder } from "../../test/temp-folder.ts";
import { isNanoAgentError } from "../core/base/errors.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { SimpleLongTermMemory } from "./simple-long-term-memory.ts";
import {
  InMemoryLongTermMemory,
  SqliteLongTermMemory,
  type SqliteLongTermMemoryOptions,
} from "./sqlite-long-term-memory.ts";

describeLongTermMemory("SimpleLongTermMemory", (options) => new SimpleLongTermMemory(options));
describeLongTermMemory("InMemoryLongTermMemory", (options) => new InMemoryLongTermMemory(options));
describeLongTermMemory("SqliteLongTermMemory", (options) => open(place(), options));

function place(): string {
  return join(tempFolder(), "state", "memory.db");
}

function open(path: string, options: Omit<SqliteLongTermMemoryOptions, "path"> = {}): SqliteLongTermMemory {
  const memory = new SqliteLongTermMemory({ ...options, path });
  onTestFinished(() => memory.close());
  return memory;
}

async function texts(memory: SqliteLongTermMemory, query: string): Promise<readonly string[]> {
  return (await memory.retrieve(query)).map(({ text }) => text);
}

test("a runtime without SQLite is said, and what needs none", async () => {
  vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
  const error = await open(place())
    .record(["x"])
    .catch((thrown: unknown) => thrown);
  expect(isNanoAgentError(error, "memory")).toBe(true);
  expect(error).toMatchObject({ message: expect.stringMatching(/no node:sqlite.*SimpleLongTermMemory/) });
});

test("a memory is there again when the file is opened again, and touches no file before it is used", async () => {
  const path = place();
  const first = open(path);
  expect(readdirSync(join(path, "../.."))).toEqual([]);
  await first.record(["用户喜欢深色模式", "The key is under the mat."], { origin: "model", sessionId: "s1" });
  first.close();
  const again = open(path);
  expect(await texts(again, "深色")).toEqual(["用户喜欢深色模式"]);
  expect(await again.list({ limit: 1 })).toMatchObject([{ id: "2", origin: "model", sessionId: "s1" }]);
});

test("records can be listed, counted and forgotten", async () => {
  const memory = open(place());
  await memory.record(["one apple", "two apples", "three pears"]);
  expect(await memory.forget("1", "99", "x; DROP TABLE memories")).toBe(1);
  expect([await memory.count(), await texts(memory, "apple")]).toEqual([2, ["two apples"]]);
  expect((await memory.list()).map(({ text }) => text)).toEqual(["three pears", "two apples"]);
});

test("the file and what SQLite puts beside it can be read by their owner alone, also one that was open to all", async () => {
  const path = place();
  mkdirSync(join(path, ".."));
  writeFileSync(path, "");
  chmodSync(path, 0o644);
  await open(path).record(["secret"]);
  const modes = readdirSync(join(path, "..")).map((name) => statSync(join(path, "..", name)).mode & 0o777);
  expect([...new Set(modes)]).toEqual([0o600]);
});

test("what was not used for the longest time is dropped first, by number and by bytes", async () => {
  const clock = new FakeClock();
  const memory = open(place(), { clock, maxRecords: 3 });
  for (const text of ["one fish", "two fishes", "red bird"]) {
    await memory.record([text]);
    await clock.advance(1000);
  }
  await memory.retrieve("one");
  await clock.advance(1000);
  await memory.record(["blue bird"]);
  expect((await memory.list()).map(({ text }) => text)).toEqual(["blue bird", "red bird", "one fish"]);
  const small = open(place(), { clock, maxBytes: 20 });
  await small.record(["0123456789", "abcdefghij", "a text that is longer than all the room there is"]);
  expect((await small.list()).map(({ text }) => text.length <= 20)).toEqual([true]);
});

test("however much is recorded, the bounds hold and every text that is left is found", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: fc.constantFrom(..."猫狗鱼 abc"), minLength: 1, maxLength: 12 }), {
        maxLength: 25,
      }),
      async (recorded) => {
        const memory = open(place(), { maxRecords: 6, maxBytes: 80 });
        await memory.record(recorded);
        const left = await memory.list();
        const bytes = left.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
        expect([left.length <= 6, bytes <= 80]).toEqual([true, true]);
        for (const { text } of left)
          expect((await memory.retrieve(text, { limit: 10 })).map((found) => found.text)).toContain(text);
      },
    ),
    { numRuns: 15 },
  );
});

test.each([
  ["no database at all", () => Buffer.from("hello")],
  ["noise", () => Buffer.alloc(20_000, 7)],
  ["a database cut in the middle", (whole: Buffer) => whole.subarray(0, Math.floor(whole.length / 2) + 100)],
  [
    "a database with noise in its middle",
    (whole: Buffer) => Buffer.from(whole).fill(0x5a, 4096, whole.length - 4096),
  ],
])("%s is set aside and named, nothing is deleted, and a new memory is begun", async (_name, damage) => {
  const path = place();
  const first = open(path);
  await first.record(Array.from({ length: 60 }, (_, at) => `fact ${at} ${"x".repeat(400)}`));
  first.close();
  const damaged = damage(readFileSync(path));
  writeFileSync(path, damaged);
  const notices: string[] = [];
  const clock = new FakeClock();
  const memory = open(path, { clock, onNotice: (message) => notices.push(message) });
  await memory.record(["a new beginning"]);
  expect(await memory.count()).toBe(1);
  const aside = `${path}.damaged-2026-01-01T00-00-00-000Z`;
  expect(notices).toEqual([expect.stringContaining(`set aside as ${aside}, and a new one was begun.`)]);
  expect(readFileSync(aside).subarray(0, 16)).toEqual(damaged.subarray(0, 16));
});

test("damage that shows while the memory is in use is set aside too", async () => {
  const path = place();
  const notices: string[] = [];
  const memory = open(path, { onNotice: (message) => notices.push(message) });
  await memory.record(["fact"]);
  const other = new DatabaseSync(path);
  other.exec("UPDATE memories SET time = time + 1; PRAGMA wal_checkpoint(TRUNCATE)");
  other.close();
  const size = readFileSync(path).length - 4096;
  const writer = openSync(path, "r+");
  writeSync(writer, Buffer.alloc(size, 0x5a), 0, size, 4096);
  closeSync(writer);
  await memory.record(["another fact"]);
  expect([notices.length, await texts(memory, "another")]).toEqual([1, ["another fact"]]);
});

test("a memory of a newer version is refused by name and stays as it is, byte for byte", async () => {
  const path = place();
  const first = open(path);
  await first.record(["fact"]);
  first.close();
  const newer = new DatabaseSync(path);
  newer.exec("PRAGMA user_version = 2; PRAGMA wal_checkpoint(TRUNCATE)");
  newer.close();
  const before = [readFileSync(path), statSync(path).mtimeMs, readdirSync(join(path, ".."))];
  const memory = open(path);
  await expect(memory.retrieve("fact")).rejects.toSatisfy(
    (error: Error) => isNanoAgentError(error, "memory") && error.message.includes("version 2"),
  );
  expect([readFileSync(path), statSync(path).mtimeMs, readdirSync(join(path, ".."))]).toEqual(before);
});

test("the database of another program is refused and stays as it is", async () => {
  const path = join(tempFolder(), "other.db");
  const other = new DatabaseSync(path);
  other.exec("CREATE TABLE songs (title TEXT)");
  other.close();
  const before = readFileSync(path);
  await expect(open(path).record(["fact"])).rejects.toSatisfy(
    (error: Error) => isNanoAgentError(error, "memory") && error.message.includes("another program"),
  );
  expect(readFileSync(path)).toEqual(before);
});

test("a place that cannot be written is one sentence with the path", async () => {
  const folder = tempFolder({ file: "" });
  await expect(open(join(folder, "file", "memory.db")).record(["x"])).rejects.toMatchObject({
    code: "memory",
    message: expect.stringContaining(join(folder, "file", "memory.db")),
  });
  for (const path of ["", ":memory:"])
    expect(() => new SqliteLongTermMemory({ path })).toThrow(
      expect.objectContaining({ code: "invalid_argument" }),
    );
  for (const wrong of [
    { maxRecords: 0 },
    { maxBytes: 1.5 },
    { recencyWeight: 2 },
    { recencyHalfLifeMs: Number.NaN },
  ])
    expect(() => new SqliteLongTermMemory({ path: "x", ...wrong })).toThrow(
      /; it must be a (?:whole )?number/,
    );
});

test("a writer that holds the file is waited for, up to a limit, and an abort ends the waiting", async () => {
  const path = place();
  const clock = new FakeClock();
  const memory = open(path, { clock, busyTimeoutMs: 1_000 });
  await memory.record(["fact"]);
  const other = new DatabaseSync(path);
  onTestFinished(() => other.close());
  other.exec("BEGIN IMMEDIATE");
  expect(await texts(memory, "fact")).toEqual(["fact"]);
  const refused = memory.record(["more"]).catch((error: unknown) => error);
  await clock.advance(2_000);
  expect(await refused).toMatchObject({ code: "memory", retryable: true });
  const abort = new AbortController();
  const aborted = memory.record(["more"], { signal: abort.signal }).catch((error: unknown) => error);
  await clock.untilSleeping();
  abort.abort(new Error("enough"));
  expect(await aborted).toBeInstanceOf(Error);
  const waiting = memory.record(["more"]);
  await clock.untilSleeping();
  other.exec("COMMIT");
  await clock.advance(1_000);
  expect(await waiting).toEqual({ added: 1, known: 0 });
});

test("a file that was moved away is not written to any more", async () => {
  const path = place();
  const memory = open(path);
  await memory.record(["old fact"]);
  renameSync(path, `${path}.moved`);
  await memory.record(["new fact"]);
  expect((await memory.list()).map(({ text }) => text)).toEqual(["new fact"]);
});

test("old records give way to new ones that fit as well, and to nothing that fits worse", async () => {
  const clock = new FakeClock();
  const memory = open(place(), { clock, recencyHalfLifeMs: 1_000 });
  await memory.record(["the garden gate is green", ...filler("a")]);
  await clock.advance(10_000);
  await memory.record(["the garden gate is blue", "the house has a gate", ...filler("b")]);
  expect(await texts(memory, "garden gate")).toEqual([
    "the garden gate is blue",
    "the garden gate is green",
    "the house has a gate",
  ]);
});

function filler(kind: string): readonly string[] {
  return Array.from({ length: 10 }, (_, at) => `unrelated ${kind}${at}`);
}

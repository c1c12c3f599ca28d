import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { RunRow } from "../../src/durable/durable-run.ts";
import { createFleet, type HostOptions } from "../../src/durable/index.ts";
import { type RunClaim, RunStore, type Signal } from "../../src/durable/run-store.ts";
import { calls, says } from "../../src/testing/script.ts";
import { roomMaker } from "./attack-room.ts";
import { ASK_OUTSIDE, agentOf, noteTool, resultsIn } from "./fleet-room.ts";

const openRoom = roomMaker();

const hasEnded = ({ state }: RunRow): boolean => state === "ended";
const stopReasonOf = ({ report }: RunRow): unknown =>
  (JSON.parse(report ?? "{}") as { readonly stopReason?: unknown }).stopReason;

/** A tool that begins, says so, and ends when it is let. */
function heldTool(noted: unknown[]) {
  const begun = Promise.withResolvers<void>();
  const ending = Promise.withResolvers<void>();
  const tool = noteTool(noted, {
    execute: async ({ n }: { readonly n: number }) => {
      noted.push(n);
      begun.resolve();
      await ending.promise;
      return `noted ${n}`;
    },
  });
  return { tool, begun: begun.promise, end: () => ending.resolve() };
}

test("a worker begins runs whose taking failed, before the database did it and behind, and nobody was lost", async () => {
  const failures = new Set(["before", "behind"]);
  class Failing extends RunStore {
    override async claim(id: string, claimant: RunClaim): Promise<RunRow | undefined> {
      if (id === "before" && failures.delete(id)) throw new Error("The connection broke.");
      const row = await super.claim(id, claimant);
      if (id === "behind" && failures.delete(id)) throw new Error("The connection broke.");
      return row;
    }
  }
  const room = await openRoom((database, schema) => new Failing(database, schema));
  await room.add("before", "behind", "beside");
  await room.work(agentOf(() => says("Done.")));
  const rows = await Promise.all(["before", "behind", "beside"].map((id) => room.when(id, hasEnded)));
  expect([failures.size, rows.map(stopReasonOf), rows.map(({ losses }) => losses)]).toEqual([
    0,
    ["completed", "completed", "completed"],
    [0, 0, 0],
  ]);
});

test("a worker that comes back to a lease that ran out goes on with what it was doing", async () => {
  const noted: unknown[] = [];
  const room = await openRoom();
  const { tool, begun, end } = heldTool(noted);
  await room.add("held");
  await room.work(agentOf([calls("note", { n: 1 }, "one"), says("Done.")], { tools: [tool] }));
  await begun;
  const job = async () => {
    const [row] = await room.database.query<{ readonly retry_count: number; readonly state: string }>(
      `select retry_count, state from ${room.jobs} where data->>'run' = 'held'`,
    );
    return row;
  };
  for (let taken = await job(); taken?.state !== "active" || taken.retry_count === 0; taken = await job()) {
    if (taken?.retry_count === 0)
      await room.database.query(
        `update ${room.jobs} set heartbeat_on = now() - interval '1 hour' where retry_count = 0`,
      );
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  // Whatever the worker does with the job it got again, it has done when it takes the next one.
  await room.add("next");
  await room.when("next", hasEnded);
  end();
  const row = await room.when("held", hasEnded);
  expect([noted, row.epoch, row.losses, resultsIn(await room.entries("held"))]).toEqual([
    [1],
    1,
    0,
    ["one ok: noted 1"],
  ]);
});

test("a cancel is heard although the first look at it failed", async () => {
  let looks = 0;
  class Failing extends RunStore {
    override async waitingSignals(
      ...args: Parameters<RunStore["waitingSignals"]>
    ): Promise<readonly Signal[]> {
      if (++looks === 2) throw new Error("The connection broke.");
      return super.waitingSignals(...args);
    }
  }
  const room = await openRoom((database, schema) => new Failing(database, schema));
  const { tool, begun } = heldTool([]);
  await room.add("held");
  await room.work(agentOf([calls("note", { n: 1 }, "one"), says("Done.")], { tools: [tool] }));
  await begun;
  await room.send("held", { kind: "cancel", call: null, data: "Enough." });
  expect([stopReasonOf(await room.when("held", hasEnded)), looks > 2]).toEqual(["aborted", true]);
});

test("a cancel that comes while the agent gets ready ends the run before its first request", async () => {
  let looks = 0;
  const hasHeard = Promise.withResolvers<void>();
  class Counting extends RunStore {
    override async waitingSignals(
      ...args: Parameters<RunStore["waitingSignals"]>
    ): Promise<readonly Signal[]> {
      const signals = await super.waitingSignals(...args);
      if (++looks === 2) hasHeard.resolve();
      return signals;
    }
  }
  const room = await openRoom((database, schema) => new Counting(database, schema));
  const clerk = agentOf([says("Done.")]);
  const isReady = Promise.withResolvers<void>();
  const isMade = Promise.withResolvers<void>();
  await room.add("early");
  await room.work((host: HostOptions) => {
    const agent = new Agent({ model: clerk.model, ...host });
    const ready = agent.ready.bind(agent);
    isMade.resolve();
    return Object.assign(agent, { ready: () => isReady.promise.then(ready) });
  });
  await isMade.promise;
  await room.send("early", { kind: "cancel", call: null, data: "Enough." });
  await hasHeard.promise;
  // The look is over when another statement behind it is.
  await room.database.query("select 1");
  isReady.resolve();
  const row = await room.when("early", hasEnded);
  expect([stopReasonOf(row), clerk.model.requests.length]).toEqual(["aborted", 0]);
});

test("a run that fails before it hears what was said to it ends, and is not begun again and again", async () => {
  const room = await openRoom();
  await room.add("deaf");
  await room.send("deaf", { kind: "steer", call: null, data: "Listen." });
  const beforeRun = (): never => {
    throw new Error("A hook that fails.");
  };
  await room.work(agentOf([says("Done.")], { hooks: { pre_reply: beforeRun } }));
  const row = await room.when("deaf", (found) => found.state === "ended" || found.epoch > 3);
  expect([stopReasonOf(row), row.epoch]).toEqual(["error", 1]);
});

test("an approval of a call that a hook changes each time is asked for again, once", async () => {
  let changes = 0;
  const noted: unknown[] = [];
  const room = await openRoom();
  await room.add("changed");
  await room.work(
    agentOf([calls("note", { n: 1 }, "one"), says("Done.")], {
      tools: [noteTool(noted, { needsApproval: true })],
      hooks: { pre_acting: (_agent, acting) => ({ ...acting, input: { n: ++changes } }) },
    }),
  );
  const asked = await room.when("changed", ({ state }) => state === "waiting");
  await room.database.transaction(async (sql) => {
    await room.runs.lock("changed", sql);
    await room.runs.signal(sql, "changed", { id: "yes", kind: "approve", call: "one", data: "true" });
    await room.requeue(sql, asked);
  });
  const again = await room.when(
    "changed",
    (row) => (row.state === "waiting" && row.epoch > asked.epoch) || row.epoch > 4,
  );
  const requests = (await room.entries("changed")).filter(({ type }) => type === "approval_request").length;
  expect([again.epoch, requests, noted]).toEqual([2, 2, []]);
});

test("a call for somebody outside that needs a yes waits for its result behind that", async () => {
  const room = await openRoom();
  await room.add("outside");
  const tools = [{ ...ASK_OUTSIDE, needsApproval: true }];
  await room.work(agentOf([calls("ask_outside", {}, "one"), says("Done.")], { tools }));
  const asked = await room.when("outside", ({ state }) => state === "waiting");
  const say = (row: RunRow, kind: "approve" | "answer", data: unknown): Promise<void> =>
    room.database.transaction(async (sql) => {
      await room.runs.lock("outside", sql);
      const signal = { id: kind, kind, call: "one", data: JSON.stringify(data) };
      await room.runs.signal(sql, "outside", signal);
      await room.requeue(sql, row);
    });
  await say(asked, "approve", true);
  const isBehind = ({ state, epoch }: RunRow): boolean => state === "waiting" && epoch > asked.epoch;
  const allowed = await room.when("outside", (row) => isBehind(row) || row.epoch > asked.epoch + 2);
  expect(allowed.epoch).toBe(asked.epoch + 1);
  await say(allowed, "answer", "so much");
  const ended = await room.when("outside", hasEnded);
  expect([stopReasonOf(ended), resultsIn(await room.entries("outside"))]).toEqual([
    "completed",
    ["one ok: so much"],
  ]);
});

test("answers reach calls whose ids are names that every object has", async () => {
  const ids = ["constructor", "toString", "__proto__"];
  const room = await openRoom();
  await room.add("odd");
  await room.work(
    agentOf([ids.map((id, at) => calls("note", { n: at }, id)), says("Done.")], {
      tools: [noteTool([], { needsApproval: true })],
    }),
  );
  const asked = await room.when("odd", ({ state }) => state === "waiting");
  await room.database.transaction(async (sql) => {
    await room.runs.lock("odd", sql);
    for (const id of ids) await room.runs.signal(sql, "odd", { id, kind: "approve", call: id, data: "true" });
    await room.requeue(sql, asked);
  });
  const row = await room.when("odd", ({ state, epoch }) => state === "ended" || epoch > asked.epoch + 2);
  expect([row.state, resultsIn(await room.entries("odd")).toSorted()]).toEqual([
    "ended",
    ["__proto__ ok: noted 2", "constructor ok: noted 0", "toString ok: noted 1"],
  ]);
});

test("refuses dates, budgets, retries, versions and folders that a database cannot keep, before it begins", async () => {
  const fleet = await createFleet({ concurrency: 0 });
  onTestFinished(() => fleet.close());
  const refusals = await Promise.all(
    [
      { deadline: 1e20 },
      { deadline: -1 },
      { deadline: new Date(Number.NaN) },
      { budget: { usd: -1 } },
      { retries: 2 ** 40 },
    ].map((options) => fleet.start("clerk", "Go.", options).then(() => "started", codeOf)),
  );
  const places = await Promise.all(
    [
      { version: "a\0b" },
      { version: "a\ud800" },
      { dataDir: "memory://x" },
      { dataDir: "" },
      { databaseUrl: "postgres://me:se cret@[::bad/x" },
    ].map((options) => createFleet({ concurrency: 0, ...options }).then(() => "opened", codeOf)),
  );
  const unlimited = await fleet.start("clerk", "Go.", { budget: { usd: Number.POSITIVE_INFINITY } });
  expect([new Set([...refusals, ...places]), (await unlimited.status()).state]).toEqual([
    new Set(["invalid_argument"]),
    "queued",
  ]);
});

test("takes an approval of a call whose id no database would take as a text", async () => {
  const room = await openRoom();
  await room.add("odd");
  await room.send("odd", { kind: "approve", call: "a\0b\ud800", data: true });
  expect((await room.runs.waitingSignals("odd")).map(({ call }) => call)).toEqual(["a\0b\ud800"]);
});

test("one folder is open in one fleet, and free again behind its close", async () => {
  const folder = mkdtempSync(join(tmpdir(), "nano-agent-folder-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const dataDir = join(folder, "deep", "data");
  const first = await createFleet({ dataDir, concurrency: 0 });
  const second = await createFleet({ dataDir, concurrency: 0 }).then(
    () => "opened",
    (error: Error) => error.message,
  );
  await first.start("clerk", "Go.", { id: "kept" });
  await first.close();
  const third = await createFleet({ dataDir, concurrency: 0 });
  onTestFinished(() => third.close());
  expect([second, (await third.run("kept").status()).state]).toEqual([
    expect.stringContaining(`process ${process.pid} has it open`),
    "queued",
  ]);
});

test("says of a file that it is none of the folders a database is in", async () => {
  const folder = mkdtempSync(join(tmpdir(), "nano-agent-folder-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const dataDir = join(folder, "file");
  writeFileSync(dataDir, "text");
  await expect(createFleet({ dataDir, concurrency: 0 })).rejects.toMatchObject({
    code: "invalid_config",
    message: expect.stringContaining(`in ${dataDir} cannot be opened: it is a file. Name a writable folder`),
  });
});

test("an embedded database hands out at once what a process held that ended without a word", async () => {
  const room = await openRoom();
  await room.add("orphan");
  // As it was left: taken from the queue, claimed, and its worker gone.
  const job = await room.take("orphan");
  await room.database.query(`update ${room.jobs} set heartbeat_on = now() + interval '1 hour'`);
  await room.runs.claim("orphan", { job, worker: "gone", version: "1" });
  await room.work(agentOf([says("Done.")]));
  const row = await room.when("orphan", hasEnded);
  expect([stopReasonOf(row), row.epoch]).toEqual(["completed", 2]);
});

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code;
}

import { expect, it } from "vitest";
import type { DurableRun, Fleet } from "../../src/durable/index.ts";
import { calls, says, waits } from "../../src/testing/script.ts";
import {
  agentOf,
  entriesOf,
  type FleetPlace,
  noteTool,
  openFleet,
  whenStatus,
  wordsOf,
} from "./fleet-room.ts";

/** How runs are started, found, followed and handed out. */
export function describeStarting(place: () => FleetPlace): void {
  it("runs an agent to its end, and says how it stood and ended", async () => {
    const noted: unknown[] = [];
    const agent = agentOf([calls("note", { n: 1 }), says("Done.")], { tools: [noteTool(noted)] });
    const fleet = await openFleet(place(), { agents: { clerk: agent }, version: "7" });
    const run = await fleet.start("clerk", "Go.", { id: "ticket-1", priority: 3 });
    const result = await run.result();
    const entries = await entriesOf(run);
    expect([result.stopReason, result.text, result.iterations, result.sessionId, noted]).toEqual([
      "completed",
      "Done.",
      2,
      "ticket-1",
      [1],
    ]);
    expect(wordsOf(result.messages)).toEqual(["user: Go.", "assistant: Done."]);
    expect(entries.map(({ type }) => type)).toEqual([
      "run_start",
      "user_message",
      "assistant_message",
      "tool_intent",
      "tool_result",
      "assistant_message",
      "run_end",
    ]);
    const status = await run.status();
    expect(status).toEqual({
      id: "ticket-1",
      agent: "clerk",
      state: "ended",
      version: "7",
      priority: 3,
      entries: 7,
      losses: 0,
      pending: [],
      stopReason: "completed",
      createdAt: expect.any(Number),
      changedAt: expect.any(Number),
      endedAt: expect.any(Number),
    });
    expect(status.createdAt).toBeLessThanOrEqual(status.endedAt ?? 0);
  });

  it("takes the same id for the same run, at the same moment and after its end", async () => {
    const where = place();
    const agent = agentOf([says("Once.")]);
    const first = await openFleet(where, { agents: { clerk: agent } });
    const second = where.isShared ? await openFleet(where, { agents: { clerk: agent } }) : first;
    const starts = Array.from({ length: 12 }, (_, at) =>
      (at % 2 === 0 ? first : second).start("clerk", "Go.", { id: "same" }),
    );
    const results = await Promise.all((await Promise.all(starts)).map((run) => run.result()));
    const later = await (await second.start("clerk", "Go.", { id: "same" })).result();
    const { messages: _, ...told } = later;
    expect(results.map(({ text }) => text)).toEqual(Array.from({ length: 12 }, () => "Once."));
    expect([told.text, (await first.list()).length, agent.model.requests.length]).toEqual(["Once.", 1, 1]);
  });

  it("starts many at once, each id one run, and gives them back in order", async () => {
    const agent = agentOf(({ messages }) => says(`Heard ${wordsOf(messages).at(-1) ?? ""}`));
    const fleet = await openFleet(place(), { agents: { clerk: agent } });
    const inputs = Array.from({ length: 60 }, (_, at) => ({ input: `number ${at}`, id: `many-${at % 50}` }));
    const runs = await fleet.startMany("clerk", inputs);
    const texts = await Promise.all(runs.map(async (run) => (await run.result()).text));
    expect(runs.map(({ id }) => id)).toEqual(inputs.map(({ id }) => id));
    expect(texts).toEqual(inputs.map((_, at) => `Heard user: number ${at % 50}`));
    expect(await fleet.startMany("clerk", [])).toEqual([]);
  });

  it("makes ids up that differ", async () => {
    const fleet = await openFleet(place(), { agents: { clerk: agentOf(() => says("Yes.")) } });
    const runs = await fleet.startMany("clerk", [{ input: "a" }, { input: "b" }, { input: "c" }]);
    await Promise.all(runs.map((run) => run.result()));
    expect(new Set(runs.map(({ id }) => id)).size).toBe(3);
  });

  it("shows entries while the run is at work, and from any of them on", async () => {
    const gate = Promise.withResolvers<undefined>();
    const agent = agentOf([calls("note", { n: 1 }), [waits(gate.promise), says("Done.")]], {
      tools: [noteTool([])],
    });
    const fleet = await openFleet(place(), { agents: { clerk: agent } });
    const run = await fleet.start("clerk", "Go.");
    const seen: string[] = [];
    for await (const { type } of run.events()) {
      seen.push(type);
      if (type === "tool_result") gate.resolve(undefined);
    }
    const all = await entriesOf(run);
    const rest = await entriesOf(run, all[3]?.id);
    const none = await entriesOf(run, all.at(-1)?.id);
    expect([seen, rest, none]).toEqual([all.map(({ type }) => type), all.slice(4), []]);
  });

  it("stops showing entries when the reader has enough, and the run goes on", async () => {
    const gate = Promise.withResolvers<undefined>();
    const fleet = await openFleet(place(), {
      agents: { clerk: agentOf([[waits(gate.promise), says("Done.")]]) },
    });
    const run = await fleet.start("clerk", "Go.");
    const enough = new AbortController();
    const seen: string[] = [];
    const read = async (): Promise<void> => {
      for await (const { type } of run.events({ signal: enough.signal })) {
        seen.push(type);
        if (type === "user_message") enough.abort(new Error("enough"));
      }
    };
    await expect(read()).rejects.toThrow("enough");
    for await (const _ of run.events()) break;
    gate.resolve(undefined);
    expect([seen, (await run.result()).text]).toEqual([["run_start", "user_message"], "Done."]);
  });

  describeLists(place);
  describeOrder(place);
}

function describeLists(place: () => FleetPlace): void {
  it("lists runs, the newest first, by state and agent, page by page", async () => {
    const where = place();
    const worker = await openFleet(where, { agents: { a: agentOf(() => says("a")) } });
    for (const id of ["r1", "r2", "r3"]) await (await worker.start("a", "Go.", { id })).result();
    await worker.close();
    const fleet = await openFleet(where, { concurrency: 0 });
    await fleet.start("b", "Nobody works on these.", { id: "r4" });
    const ids = async (options?: Parameters<Fleet["list"]>[0]): Promise<readonly string[]> =>
      (await fleet.list(options)).map(({ id }) => id);
    expect(await ids()).toEqual(["r4", "r3", "r2", "r1"]);
    expect(await ids({ state: "queued" })).toEqual(["r4"]);
    expect(await ids({ state: "ended", limit: 2 })).toEqual(["r3", "r2"]);
    expect(await ids({ agent: "a", before: "r2" })).toEqual(["r1"]);
    expect(await ids({ agent: "nobody" })).toEqual([]);
  });

  it("knows a run by its id alone, and says where there is none", async () => {
    const fleet = await openFleet(place(), { agents: { a: agentOf(() => says("Yes.")) } });
    await fleet.start("a", "Go.", { id: "there" });
    const none = fleet.run("nowhere");
    expect((await fleet.run("there").result()).text).toBe("Yes.");
    for (const asked of actsOn(none))
      await expect(asked()).rejects.toMatchObject({
        code: "invalid_argument",
        message: expect.stringContaining("nowhere"),
      });
  });
}

/** All that can be asked of a run. */
function actsOn(run: DurableRun): readonly (() => Promise<unknown>)[] {
  return [
    () => run.result(),
    () => run.status(),
    () => entriesOf(run),
    () => run.approve("call_1", true),
    () => run.answer("call_1", "x"),
    () => run.steer("x"),
    () => run.cancel(),
    () => run.retry(),
    () => run.export("/nowhere/at/all.jsonl"),
  ];
}

function describeOrder(place: () => FleetPlace): void {
  it("starts and watches only with a concurrency of 0; a later fleet does the work, larger priorities first", async () => {
    const where = place();
    const starter = await openFleet(where, { concurrency: 0 });
    for (const [id, priority] of [
      ["low", -5],
      ["none", 0],
      ["high", 2_000],
      ["middle", 7],
    ] as const)
      await starter.start("clerk", id, { id, priority });
    expect((await starter.list({ state: "queued" })).length).toBe(4);
    if (!where.isShared) await starter.close();
    const agent = agentOf(() => says("Yes."));
    const worker = await openFleet(where, { agents: { clerk: agent }, concurrency: 1 });
    await Promise.all(["low", "none", "high", "middle"].map((id) => worker.run(id).result()));
    expect(agent.model.requests.map(({ messages }) => wordsOf(messages)[0])).toEqual(
      ["high", "middle", "none", "low"].map((id) => `user: ${id}`),
    );
  });

  it("works on as many runs at the same time as it may, and on no more", async () => {
    let now = 0;
    let most = 0;
    const gate = Promise.withResolvers<undefined>();
    const agent = agentOf(async () => {
      most = Math.max(most, ++now);
      if (most === 3) gate.resolve(undefined);
      await gate.promise;
      now -= 1;
      return says("Yes.");
    });
    const fleet = await openFleet(place(), { agents: { clerk: agent }, concurrency: 3 });
    const inputs = Array.from({ length: 12 }, (_, at) => ({ input: `${at}` }));
    const runs = await fleet.startMany("clerk", inputs);
    await Promise.all(runs.map((run) => run.result()));
    expect(most).toBe(3);
  });

  it("leaves the runs of other agents to others, whatever waits before", async () => {
    const where = place();
    const starter = await openFleet(where, { concurrency: 0 });
    await starter.startMany(
      "theirs",
      Array.from({ length: 20 }, () => ({ input: "Go.", priority: 9 })),
    );
    await starter.close();
    const fleet = await openFleet(where, { agents: { mine: agentOf(() => says("Yes.")) }, concurrency: 1 });
    expect((await (await fleet.start("mine", "Go.")).result()).text).toBe("Yes.");
    expect((await fleet.list({ state: "queued", agent: "theirs" })).length).toBe(20);
    await expect(fleet.start("mime", "Go.")).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("Did you mean"),
    });
  });

  it("ends a run whose agent cannot be made, and goes on with others", async () => {
    const broken = (): never => {
      throw new Error("no such department");
    };
    const fleet = await openFleet(place(), { agents: { broken, whole: agentOf(() => says("Yes.")) } });
    const run = await fleet.start("broken", "Go.");
    const result = await run.result();
    expect([result.stopReason, result.error?.message]).toEqual([
      "error",
      expect.stringContaining("no such department"),
    ]);
    expect((await whenStatus(run, ({ state }) => state === "ended")).error).toContain("no such department");
    expect((await (await fleet.start("whole", "Go.")).result()).text).toBe("Yes.");
  });
}

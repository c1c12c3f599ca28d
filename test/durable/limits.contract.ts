import { expect, it } from "vitest";
import { NanoAgentError } from "../../src/core/base/errors.ts";
import { defineTool } from "../../src/core/tool/tool.ts";
import type { Fleet, FleetOptions } from "../../src/durable/index.ts";
import { calls, fails, finishes, says, waits } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import {
  ASK_OUTSIDE,
  agentOf,
  entriesOf,
  type FleetPlace,
  noteTool,
  openFleet,
  whenStatus,
  whenWaiting,
} from "./fleet-room.ts";

/** What a run may use: money, time, requests, tries; and how long it is kept. */
export function describeLimits(place: () => FleetPlace): void {
  it("counts tokens of a run over all the fleets that work on it", async () => {
    const where = place();
    const spends = finishes("tool_use", { inputTokens: 1_000, outputTokens: 0 });
    const agent = agentOf(() => [calls("ask_outside", {}), spends], { tools: [ASK_OUTSIDE] });
    const budget = { tokens: 3_000 };
    const first = await openFleet(where, { agents: { clerk: agent } });
    await first.start("clerk", "Go.", { id: "dear", budget });
    const answerNext = async (fleet: Fleet, before: number): Promise<number> => {
      const { pending, entries } = await whenStatus(
        fleet.run("dear"),
        ({ state, entries }) => state === "waiting" && entries > before,
      );
      await fleet.run("dear").answer(pending[0]?.callId ?? "", "so much");
      return entries;
    };
    const asked = await answerNext(first, 0);
    const askedAgain = await answerNext(first, asked);
    await first.close();
    const second = await openFleet(where, { agents: { clerk: agent } });
    await answerNext(second, askedAgain);
    const result = await second.run("dear").result();
    expect([result.stopReason, result.limit, result.iterations, result.usage.inputTokens]).toEqual([
      "budget",
      "tokens",
      3,
      3_000,
    ]);
  });

  it("lets the limit on requests go on when another fleet does", async () => {
    const where = place();
    const agent = agentOf(() => calls("ask_outside", {}), {
      tools: [ASK_OUTSIDE],
      maxIterations: 2,
      onMaxIterations: "last",
    });
    const first = await openFleet(where, { agents: { clerk: agent } });
    await first.start("clerk", "Go.", { id: "long" });
    const before = await whenWaiting(first.run("long"));
    await first.close();
    const second = await openFleet(where, { agents: { clerk: agent } });
    await second.run("long").answer(before.pending[0]?.callId ?? "", "1");
    const after = await whenStatus(
      second.run("long"),
      ({ state, entries }) => state === "waiting" && entries > before.entries,
    );
    await second.run("long").answer(after.pending[0]?.callId ?? "", "2");
    const result = await second.run("long").result();
    expect([result.stopReason, result.iterations]).toEqual(["max_iterations", 2]);
  });

  it("lets wall time go on over a close, and not while the run waits for somebody", async () => {
    const where = place();
    const hang = agentOf(() => [waits(new Promise(() => undefined)), says("Never.")]);
    const first = await openFleet(where, { agents: { clerk: hang } });
    const run = await first.start("clerk", "Go.", { id: "slow", budget: { wallTimeMs: 1_500 } });
    for await (const { type } of run.events()) if (type === "user_message") break;
    const begun = performance.now();
    await first.close();
    const second = await openFleet(where, { agents: { clerk: hang } });
    const result = await second.run("slow").result();
    const tookMs = performance.now() - begun;
    expect([result.stopReason, result.limit]).toEqual(["budget", "wall_time"]);
    expect(tookMs).toBeGreaterThan(0);
  });

  it("ends a run whose deadline is over, at work, waiting and queued", async () => {
    const where = place();
    const deadline = Date.now() + 4_000;
    const starter = await openFleet(where, { concurrency: 0 });
    await starter.start("nobody", "Go.", { id: "nobody", deadline });
    await starter.close();
    const fleet = await openFleet(where, {
      agents: {
        works: agentOf([[waits(new Promise(() => undefined)), says("Never.")]]),
        waits: agentOf([calls("ask_outside", {}, "out")], { tools: [ASK_OUTSIDE] }),
      },
    });
    const names = ["works", "waits", "nobody"];
    for (const id of ["works", "waits"]) await fleet.start(id, "Go.", { id, deadline });
    await fleet.start("works", "Go.", { id: "past", deadline: new Date(Date.now() - 1_000) });
    const results = await Promise.all([...names, "past"].map((id) => fleet.run(id).result()));
    const early = (await Promise.all(names.map((id) => fleet.run(id).status()))).filter(
      ({ endedAt = 0 }) => endedAt < deadline - 50,
    );
    expect(results.map(({ stopReason, limit }) => [stopReason, limit])).toEqual(
      Array.from({ length: 4 }, () => ["budget", "wall_time"]),
    );
    expect(early).toEqual([]);
  });

  it("ends a run whose agent is never made at its deadline and at a cancel, and lets go of it", async () => {
    const where = place();
    const never = (): Promise<never> => new Promise(() => undefined);
    const fleet = await openFleet(where, { agents: { never } });
    const late = await fleet.start("never", "Go.", { deadline: Date.now() + 2_000 });
    const [cancelled, left] = [await fleet.start("never", "Go."), await fleet.start("never", "Go.")];
    for (const run of [cancelled, left]) await whenStatus(run, ({ state }) => state === "working");
    await cancelled.cancel("no longer needed");
    const results = await Promise.all([late.result(), cancelled.result()]);
    expect(results.map(({ stopReason, limit, detail }) => [stopReason, limit, detail])).toEqual([
      ["budget", "wall_time", expect.stringContaining("Its deadline was")],
      ["aborted", undefined, "no longer needed"],
    ]);
    await fleet.close();
    const next = await openFleet(where, { agents: { never: agentOf([says("Made.")]) } });
    expect((await next.run(left.id).result()).text).toBe("Made.");
  });

  describeRates(place);
  describeTries(place);
}

function describeRates(place: () => FleetPlace): void {
  it("sends no more requests than the limit of a provider, those of subagents counted", async () => {
    const where = place();
    const times: number[] = [];
    const model = new ScriptedModel(({ messages, tools }) => {
      times.push(performance.now());
      return messages.length > 1 || tools === undefined ? says("Yes.") : calls("delegate");
    });
    const free = new ScriptedModel(() => says("Free."), { provider: "other" });
    const delegate = defineTool({
      name: "delegate",
      description: "Asks a subagent.",
      execute: async (_, context) =>
        (await context.runAgent({ agent: "helper", prompt: "Help.", tools: [] })).text,
    });
    const agents = { clerk: agentOf([], { model, tools: [delegate] }), free: agentOf([], { model: free }) };
    const rateLimits = { scripted: { requests: 4, perMs: 700 } };
    const fleets = [await openFleet(where, { agents, rateLimits })];
    if (where.isShared) fleets.push(await openFleet(where, { agents, rateLimits }));
    const [first] = fleets;
    if (first === undefined) throw new Error("no fleet");
    const begun = performance.now();
    const runs = await first.startMany(
      "clerk",
      Array.from({ length: 4 }, () => ({ input: "Go." })),
    );
    const others = await first.startMany(
      "free",
      Array.from({ length: 9 }, () => ({ input: "Go." })),
    );
    const results = await Promise.all([...runs, ...others].map((run) => run.result()));
    expect([new Set(results.map(({ stopReason }) => stopReason)), times.length]).toEqual([
      new Set(["completed"]),
      12,
    ]);
    // The n-th request needs the room of all before it: earlier than this it cannot have been let go.
    const tooEarly = times.filter((time, at) => time - begun < Math.floor(at / 4) * 700);
    expect(tooEarly).toEqual([]);
  });
}

function describeTries(place: () => FleetPlace): void {
  const overloaded = (): NanoAgentError =>
    new NanoAgentError("rate_limit", "Too much to do.", { retryable: true });

  it("begins a run again that failed with what may pass, as often as it was told to", async () => {
    const agent = agentOf([fails(overloaded()), says("Second time.")]);
    const faults = [overloaded()];
    const made = agentOf([says("Made the second time.")]);
    const agents: FleetOptions["agents"] = {
      clerk: agent,
      maker: (...host) => {
        const fault = faults.pop();
        if (fault !== undefined) throw fault;
        return made(...host);
      },
    };
    const fleet = await openFleet(place(), { agents });
    const runs = [
      await fleet.start("clerk", "Go.", { retries: 1 }),
      await fleet.start("maker", "Go.", { retries: 1 }),
    ];
    const results = await Promise.all(runs.map((run) => run.result()));
    expect(results.map(({ text }) => text)).toEqual(["Second time.", "Made the second time."]);
    for (const run of runs) expect((await entriesOf(run)).at(-1)?.type).toBe("run_end");
  });

  it("ends with the error when the tries are used up, and for what does not pass", async () => {
    const passing = agentOf([fails(overloaded()), fails(overloaded())]);
    const lasting = agentOf([fails(new NanoAgentError("authentication", "Wrong key."))]);
    const fleet = await openFleet(place(), { agents: { passing, lasting } });
    const runs = [
      await fleet.start("passing", "Go.", { retries: 1 }),
      await fleet.start("lasting", "Go.", { retries: 5 }),
    ];
    const results = await Promise.all(runs.map((run) => run.result()));
    expect(results.map(({ stopReason, error }) => [stopReason, error?.code, error?.message])).toEqual([
      ["error", "rate_limit", "Too much to do."],
      ["error", "authentication", "Wrong key."],
    ]);
    expect([passing.model.requests.length, lasting.model.requests.length]).toEqual([2, 1]);
  });

  it("goes on with a run that has failed when it is told to, with what it had", async () => {
    const noted: unknown[] = [];
    const agent = agentOf([calls("note", { n: 1 }), fails(overloaded()), says("Done.")], {
      tools: [noteTool(noted)],
    });
    const fleet = await openFleet(place(), { agents: { clerk: agent } });
    const run = await fleet.start("clerk", "Go.");
    expect((await run.result()).stopReason).toBe("error");
    await run.retry();
    const result = await run.result();
    expect([result.stopReason, result.text, noted]).toEqual(["completed", "Done.", [1]]);
    await expect(run.retry()).rejects.toMatchObject({ code: "invalid_argument" });
  });

  it("lets its limits and what it has spent go on when it is begun again", async () => {
    const spends = finishes("tool_use", { inputTokens: 1_000, outputTokens: 0 });
    const call = [calls("note", { n: 1 }), spends];
    const steps = [call, fails(overloaded()), call, says("Never.")];
    const agent = agentOf(steps, { tools: [noteTool([])], maxIterations: 2, onMaxIterations: "last" });
    const fleet = await openFleet(place(), { agents: { clerk: agent } });
    const run = await fleet.start("clerk", "Go.");
    await run.result();
    await run.retry();
    const { stopReason, iterations, usage } = await run.result();
    const kinds = (await entriesOf(run)).flatMap(({ type }) => (type.startsWith("run_") ? [type] : []));
    expect([stopReason, iterations, usage.inputTokens, kinds]).toEqual([
      "max_iterations",
      2,
      2_000,
      ["run_start", "run_end", "run_resume", "run_end"],
    ]);
  });

  it("forgets runs that ended longer ago than they are kept, and no other", async () => {
    const where = place();
    const agents = {
      clerk: agentOf(() => says("Yes.")),
      waits: agentOf(() => calls("ask_outside", {}, "out"), { tools: [ASK_OUTSIDE] }),
    };
    const first = await openFleet(where, { agents });
    await (await first.start("clerk", "Go.", { id: "old" })).result();
    await whenWaiting(await first.start("waits", "Go.", { id: "open" }));
    await first.close();
    const warnings: string[] = [];
    const onWarning = (message: string): unknown => warnings.push(message);
    const long = await openFleet(where, { agents, retentionMs: Number.MAX_SAFE_INTEGER, onWarning });
    await long.close();
    const second = await openFleet(where, { agents, retentionMs: 1 });
    for (let ids: readonly string[] = ["old"]; ids.includes("old"); ) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      ids = (await second.list()).map(({ id }) => id);
    }
    expect([(await second.list()).map(({ id }) => id), warnings]).toEqual([["open"], []]);
    await expect(second.run("old").status()).rejects.toMatchObject({ code: "invalid_argument" });
  });
}

import { expect, it } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import { isNanoAgentError } from "../../src/core/base/errors.ts";
import { createFleet, type FleetOptions, type StartRunOptions } from "../../src/durable/index.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { ASK_OUTSIDE, agentOf, entriesOf, type FleetPlace, openFleet, whenWaiting } from "./fleet-room.ts";

/** Ids that are strange and yet ids. */
const STRANGE_IDS: readonly string[] = [
  "'; drop table runs; --",
  '"quoted"',
  "__proto__",
  "constructor",
  "../../etc/passwd",
  "ticket 4711/äöü 👩‍👩‍👧‍👦",
  "a\\b%_",
];

/** Options of a run that are none. */
const NO_RUNS: readonly (readonly [string, StartRunOptions])[] = [
  ["an empty id", { id: "" }],
  ["an id with NUL", { id: "a\u0000b" }],
  ["half a character as id", { id: "\ud83d" }],
  ["an id of 10,000 characters", { id: "x".repeat(10_000) }],
  ["an id that is no text", { id: 7 as never }],
  ["a priority that is no number", { priority: Number.NaN }],
  ["a priority that is none of a whole number", { priority: 1.5 }],
  ["a priority out of reach", { priority: 1e12 }],
  ["a deadline that is no time", { deadline: new Date("never") }],
  ["a deadline as text", { deadline: "tomorrow" as never }],
  ["a negative budget", { budget: { usd: -1 } }],
  ["a budget that knows nobody", { budget: { euros: 1 } as never }],
  ["negative tries", { retries: -1 }],
  ["half a try", { retries: 0.5 }],
  ["an option nobody knows", { priorty: 1 } as never],
];

/** What a fleet does not take, and what it does with other versions of the code. */
export function describeRefusals(place: () => FleetPlace): void {
  it("takes strange ids and agent names or refuses them; it mixes nothing up", async () => {
    const where = place();
    const fleet = await openFleet(where, { agents: { clerk: agentOf(() => says("Yes.")) } });
    const seen: string[] = [];
    for (const id of STRANGE_IDS) {
      const run = await fleet.start("clerk", "Go.", { id }).catch((error: unknown) => {
        expect([id, error]).toEqual([id, expect.objectContaining({ code: "invalid_argument" })]);
      });
      if (run === undefined) continue;
      expect([run.id, (await run.result()).text, (await entriesOf(run)).length]).toEqual([id, "Yes.", 4]);
      seen.push(id);
    }
    expect((await fleet.list()).map(({ id }) => id).toReversed()).toEqual(seen);
    await fleet.close();
    const starter = await openFleet(where, { concurrency: 0 });
    for (const agent of ["__proto__", "toString", "it's; select 1", "日本語", "a b"]) {
      const run = await starter.start(agent, "Go.").catch((error: unknown) => {
        expect([agent, error]).toEqual([agent, expect.objectContaining({ code: "invalid_argument" })]);
      });
      if (run !== undefined) expect([agent, (await run.status()).state]).toEqual([agent, "queued"]);
    }
  });

  it("refuses to start what is no run, and nothing of a list that holds it", async () => {
    const fleet = await openFleet(place(), { concurrency: 0 });
    const others: unknown[] = [];
    for (const [what, options] of NO_RUNS) {
      const list = [{ input: "Fine." }, { input: "Go.", ...options }];
      for (const start of [
        () => fleet.start("clerk", "Go.", options),
        () => fleet.startMany("clerk", list),
      ]) {
        const outcome = await start().catch((error: unknown) => error);
        if (!isNanoAgentError(outcome, "invalid_argument")) others.push([what, outcome]);
      }
    }
    expect([others, await fleet.list()]).toEqual([[], []]);
  });

  it("refuses an input that is none", async () => {
    const fleet = await openFleet(place(), { concurrency: 0 });
    for (const input of ["", [], undefined, 7])
      await expect(fleet.start("clerk", input as never)).rejects.toMatchObject({ code: "invalid_argument" });
    await expect(fleet.start("", "Go.")).rejects.toMatchObject({ code: "invalid_argument" });
  });

  it.each([
    ["a concurrency below 0", { concurrency: -1 }],
    ["half a concurrency", { concurrency: 1.5 }],
    ["a concurrency that is a text", { concurrency: "4" as never }],
    ["an agent that is no function", { agents: { clerk: {} as never } }],
    ["a schema that is none", { schema: "Drop Table; --" }],
    ["a rate of no requests", { rateLimits: { scripted: { requests: 0, perMs: 1_000 } } }],
    ["a rate of a thousand million", { rateLimits: { scripted: { requests: 1e9, perMs: 1_000 } } }],
    ["a rate of no time", { rateLimits: { scripted: { requests: 1, perMs: 0 } } }],
    ["a rate that is a number", { rateLimits: { scripted: 5 as never } }],
    ["an empty version", { version: "" }],
    ["a retention below 0", { retentionMs: -1 }],
    ["a grace that is no number", { closeGraceMs: Number.NaN }],
    ["a warning that is no function", { onWarning: "loud" as never }],
    ["an option nobody knows", { concurency: 4 } as never],
  ] satisfies readonly (readonly [string, FleetOptions])[])("refuses %s", async (_, options) => {
    const { schema: _unused, ...where } = place().options;
    await expect(createFleet({ ...where, ...options })).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringMatching(/.{20}/),
    });
  });

  it("ends a run with what is wrong when its function gives no agent, or that of another conversation", async () => {
    const agents = {
      nothing: () => undefined as never,
      text: () => "an agent" as never,
      own: () => new Agent({ model: new ScriptedModel([says("From nowhere.")]) }),
    };
    const fleet = await openFleet(place(), { agents });
    const ends = Object.keys(agents).map(async (name) => (await fleet.start(name, "Go.")).result());
    const write = "write (host) => new Agent({ …, ...host }), with host last.";
    expect((await Promise.all(ends)).map(({ error }) => `${error?.code}: ${error?.message}`)).toEqual([
      `invalid_argument: agents.nothing gives nothing instead of an Agent: ${write}`,
      `invalid_argument: agents.text gives something else instead of an Agent: ${write}`,
      `invalid_argument: agents.own gives an agent with its own journal: ${write}`,
    ]);
  });

  it("takes nothing more once it is closed, and tells those who wait for a result", async () => {
    const fleet = await openFleet(place(), { concurrency: 0 });
    const run = await fleet.start("clerk", "Go.", { id: "left" });
    const waiting = run.result();
    const following = entriesOf(run);
    const told = [waiting, following].map((each) => expect(each).rejects.toMatchObject({ code: "aborted" }));
    await Promise.all([fleet.close(), fleet.close()]);
    await Promise.all(told);
    await fleet[Symbol.asyncDispose]();
    await expect(fleet.start("clerk", "Go.")).rejects.toMatchObject({
      code: expect.stringMatching(/aborted|invalid_argument/),
    });
    await expect(run.status()).rejects.toMatchObject({
      code: expect.stringMatching(/aborted|invalid_argument/),
    });
  });

  describeVersions(place);
}

function describeVersions(place: () => FleetPlace): void {
  it("leaves a run that began with other code to workers of that version, and says what to do", async () => {
    const where = place();
    const agents = {
      clerk: agentOf(
        ({ messages }) => (messages.length === 1 ? calls("ask_outside", {}, "o") : says("Done.")),
        {
          tools: [ASK_OUTSIDE],
        },
      ),
    };
    const old = await openFleet(where, { agents, version: "1" });
    for (const id of ["stays", "goes"]) await whenWaiting(await old.start("clerk", "Go.", { id }));
    await old.close();
    const starter = await openFleet(where, { concurrency: 0 });
    await starter.start("clerk", "Go.", { id: "fresh" });
    await starter.close();
    const next = await openFleet(where, { agents, version: "2" });
    expect((await whenWaiting(next.run("fresh"))).version).toBe("2");
    for (const id of ["stays", "goes"]) await next.run(id).answer("o", "x");
    await expect(next.run("stays").result()).rejects.toMatchObject({
      code: "invalid_config",
      message: expect.stringMatching(/"?1"?.*retry/s),
    });
    await next.run("goes").retry();
    expect((await next.run("goes").result()).text).toBe("Done.");
    expect((await next.run("stays").status()).state).toBe("queued");
    await next.close();
    const again = await openFleet(where, { agents, version: "1" });
    expect((await again.run("stays").result()).text).toBe("Done.");
  });
}

import { join } from "node:path";
import { expect, it } from "vitest";
import type { ModelRequest } from "../../src/core/model/model.ts";
import { defineTool } from "../../src/core/tool/tool.ts";
import type { HostOptions } from "../../src/durable/index.ts";
import { PlanAndSolveAgent } from "../../src/patterns/plan-and-solve-agent.ts";
import { ReflectionAgent } from "../../src/patterns/reflection-agent.ts";
import { JsonlJournal } from "../../src/session/jsonl-journal.ts";
import { verifySession } from "../../src/session/read-session.ts";
import { calls, says, waits } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { tempFolder } from "../temp-folder.ts";
import {
  ASK_OUTSIDE,
  agentOf,
  entriesOf,
  type FleetPlace,
  noteTool,
  openFleet,
  resultsIn,
  whenWaiting,
} from "./fleet-room.ts";

/** Texts that databases and JSON have trouble with. */
const HARD_TEXTS: readonly string[] = [
  "nul \u0000 inside",
  "half \ud83d a character",
  "other half \udc00",
  "👩‍👩‍👧‍👦 naïve 日本語 \u202e",
  "quotes ' \" \\ $1 %s ; -- \\u0000 \\N",
  "line\nbreaks\r\n\tand \u2028 others",
];

/** What the journals of runs hold, how they are read again, and how a run goes on from them. */
export function describeJournals(place: () => FleetPlace): void {
  it("keeps every text as it was, and writes it as a session that opens elsewhere", async () => {
    const asking = HARD_TEXTS.map((_, at) => calls("echo", { at }, `c${at}`));
    const echo = defineTool({
      name: "echo",
      description: "Says a text.",
      parameters: { type: "object", properties: { at: { type: "integer" } }, required: ["at"] },
      execute: ({ at }: { readonly at: number }) => HARD_TEXTS[at],
    });
    const agent = agentOf([asking, says(HARD_TEXTS.join("|"))], { tools: [echo] });
    const fleet = await openFleet(place(), { agents: { clerk: agent } });
    const run = await fleet.start("clerk", HARD_TEXTS.join("|"), { id: "hard" });
    const result = await run.result();
    const entries = await entriesOf(run);
    const path = join(tempFolder(), "hard.jsonl");
    await run.export(path);
    const reopened = await JsonlJournal.open(path);
    const again = [...reopened.entries()];
    await reopened.close();
    const told = HARD_TEXTS.map((text) => text.toWellFormed());
    expect(resultsIn(entries).map((line) => line.toWellFormed())).toEqual(
      told.map((text, at) => `c${at} ok: ${text}`),
    );
    expect(result.text.toWellFormed()).toBe(told.join("|"));
    // The first follows the line that names the session.
    expect([again.map(({ parent: _, ...entry }) => entry), reopened.sessionId]).toEqual([
      entries.map(({ parent: _, ...entry }) => entry),
      "hard",
    ]);
    expect(verifySession(path)).toMatchObject({ ok: true });
    const refused = [path, join(path, "below.jsonl"), join(tempFolder(), "none", "a.jsonl")].map((where) =>
      run.export(where).then(
        () => "written",
        (error: Error) => error.message.replace(where, "FILE"),
      ),
    );
    expect(await Promise.all(refused)).toEqual([
      "The session file FILE cannot be opened: it is there already (EEXIST). Choose another name, or remove it first.",
      "The session file FILE cannot be opened: a part of the path is not a folder (ENOTDIR). Put that right.",
      "The session file FILE cannot be opened: it does not exist (ENOENT). Name a file in a folder that is there.",
    ]);
  });

  it("keeps results of five million characters", async () => {
    const long = "0123456789".repeat(500_000);
    const agent = agentOf([calls("note", { n: 1 }, "big"), says("Done.")], {
      tools: [noteTool([], { execute: () => long })],
      maxToolResultChars: 6_000_000,
    });
    const fleet = await openFleet(place(), { agents: { clerk: agent } });
    const run = await fleet.start("clerk", "Go.");
    expect((await run.result()).text).toBe("Done.");
    const [line = ""] = resultsIn(await entriesOf(run));
    expect([line.length, line === `big ok: ${long}`]).toEqual([long.length + 8, true]);
  });

  it("gives the same result again in another fleet, the conversation with it", async () => {
    const where = place();
    const agent = agentOf([calls("note", { n: 1 }), says("Done.")], { tools: [noteTool([])] });
    const first = await openFleet(where, { agents: { clerk: agent } });
    const result = await (await first.start("clerk", "Go.", { id: "r" })).result();
    await first.close();
    const second = await openFleet(where, { concurrency: 0 });
    expect(await second.run("r").result()).toEqual(result);
  });

  it("asks hooks and gate of the agent, and keeps what they decided", async () => {
    const noted: unknown[] = [];
    const agent = agentOf([[calls("note", { n: 1 }, "a"), calls("note", { n: 2 }, "b")], says("Done.")], {
      tools: [noteTool(noted)],
      permission: {
        check: ({ input }) =>
          input["n"] === 1 ? { action: "deny", reason: "one is not allowed" } : { action: "allow" },
      },
      hooks: {
        post_acting: (_, _call, output) => ({ ...output, content: `${String(output.content)}, seen` }),
      },
    });
    const fleet = await openFleet(place(), { agents: { clerk: agent } });
    const run = await fleet.start("clerk", "Go.");
    await run.result();
    const results = resultsIn(await entriesOf(run)).toSorted();
    expect([noted, results]).toEqual([
      [2],
      [expect.stringMatching(/^a denied: .*one is not allowed/), "b ok: noted 2, seen"],
    ]);
  });

  describeCuts(place);
}

function describeCuts(place: () => FleetPlace): void {
  it("goes on after a close where the journal ends, and repeats nothing that has a result", async () => {
    const where = place();
    const noted: unknown[] = [];
    const isOpen = { now: false };
    const agent = agentOf(
      ({ messages }) => {
        const done = messages.filter(({ role }) => role === "assistant").length;
        if (done < 3) return calls("note", { n: done });
        return isOpen.now ? says("Done.") : [waits(new Promise(() => undefined)), says("Never.")];
      },
      { tools: [noteTool(noted)] },
    );
    const first = await openFleet(where, { agents: { clerk: agent } });
    const run = await first.start("clerk", "Go.", { id: "cut" });
    const reader = entriesOf(run).catch(() => undefined);
    for await (const entry of run.events())
      if (entry.type === "tool_result" && entry.result.content === "noted 2") break;
    await first.close();
    await reader;
    isOpen.now = true;
    const second = await openFleet(where, { agents: { clerk: agent } });
    const result = await second.run("cut").result();
    const types = (await entriesOf(second.run("cut"))).map(({ type }) => type);
    expect([result.text, result.iterations, noted]).toEqual(["Done.", 4, [0, 1, 2]]);
    expect(types.filter((type) => type.startsWith("run_"))).toEqual(["run_start", "run_resume", "run_end"]);
  });

  it("lets calls end when it closes, and gives up those that do not", async () => {
    const where = place();
    const gate = Promise.withResolvers<undefined>();
    const slow = noteTool([], { execute: async () => (await gate.promise, "came to its end") });
    const endless = noteTool([], { name: "endless", execute: () => new Promise(() => undefined) });
    const calling =
      (name: string, id: string) =>
      ({ messages }: ModelRequest) =>
        messages.length === 1 ? calls(name, { n: 1 }, id) : says("Done.");
    const agents = {
      slow: agentOf(calling("note", "s"), { tools: [slow] }),
      endless: agentOf(calling("endless", "e"), { tools: [endless] }),
    };
    const first = await openFleet(where, { agents, closeGraceMs: 500 });
    for (const id of ["slow", "endless"]) {
      await first.start(id, "Go.", { id });
      for await (const { type } of first.run(id).events()) if (type === "tool_intent") break;
    }
    const closing = first.close();
    gate.resolve(undefined);
    await closing;
    const second = await openFleet(where, { agents });
    const results = await Promise.all(["slow", "endless"].map((id) => second.run(id).result()));
    expect(results.map(({ text }) => text)).toEqual(["Done.", "Done."]);
    const told = await Promise.all(
      ["slow", "endless"].map(async (id) => resultsIn(await entriesOf(second.run(id)))),
    );
    expect(told).toEqual([
      ["s ok: came to its end"],
      [expect.stringMatching(/^e aborted: .*outcome unknown/)],
    ]);
  });

  it("gives calls as long to end as it is told, also longer than a timer can", async () => {
    const where = place();
    const closed = Promise.withResolvers<undefined>();
    const slow = noteTool([], {
      execute: async (_: never, { signal }) => {
        await closed.promise;
        // A moment in which a grace of nothing would be over.
        await new Promise((resolve) => setTimeout(resolve, 300));
        return signal.aborted ? "cut" : "came to its end";
      },
    });
    const agent = agentOf(
      ({ messages }) => (messages.length === 1 ? calls("note", { n: 1 }, "s") : says("Done.")),
      { tools: [slow] },
    );
    const first = await openFleet(where, { agents: { clerk: agent }, closeGraceMs: 3_000_000_000 });
    const run = await first.start("clerk", "Go.", { id: "slow" });
    for await (const { type } of run.events()) if (type === "tool_intent") break;
    const closing = first.close();
    closed.resolve(undefined);
    await closing;
    const second = await openFleet(where, { agents: { clerk: agent } });
    await second.run("slow").result();
    expect(resultsIn(await entriesOf(second.run("slow")))).toEqual(["s ok: came to its end"]);
  });

  it("runs an idempotent call again that was cut, with the key it had", async () => {
    const where = place();
    const keys: string[] = [];
    const isOpen = { now: false };
    const pay = noteTool([], {
      idempotent: true,
      execute: (_: never, { idempotencyKey }) => {
        keys.push(idempotencyKey);
        return isOpen.now ? "paid" : new Promise(() => undefined);
      },
    });
    const agent = agentOf(
      ({ messages }) => (messages.length === 1 ? calls("note", { n: 1 }, "p") : says("Done.")),
      {
        tools: [pay],
      },
    );
    const first = await openFleet(where, { agents: { clerk: agent }, closeGraceMs: 0 });
    const run = await first.start("clerk", "Go.", { id: "pay" });
    for await (const { type } of run.events()) if (type === "tool_intent") break;
    await first.close();
    isOpen.now = true;
    const second = await openFleet(where, { agents: { clerk: agent } });
    await second.run("pay").result();
    expect([keys.length, new Set(keys).size, resultsIn(await entriesOf(second.run("pay")))]).toEqual([
      2,
      1,
      ["p ok: paid"],
    ]);
  });

  it("goes on inside a pattern that was cut", async () => {
    const where = place();
    const isOpen = { now: false };
    // The second request of each hangs, as long as the first fleet is there.
    const modelOf = (): ScriptedModel =>
      new ScriptedModel(({ tools = [] }, index) => {
        if (!isOpen.now && index > 0) return [waits(new Promise(() => undefined)), says("Never.")];
        return tools.some(({ name }) => name === "generate_plan")
          ? calls("generate_plan", { steps: ["write it"] })
          : says("A line. No need for improvement.");
      });
    const [one, other] = [modelOf(), modelOf()];
    const agents = {
      reflects: (host: HostOptions) => new ReflectionAgent({ model: one, ...host }),
      plans: (host: HostOptions) => new PlanAndSolveAgent({ model: other, ...host }),
    };
    const first = await openFleet(where, { agents, closeGraceMs: 0 });
    for (const id of ["reflects", "plans"]) {
      const run = await first.start(id, "Write a line.", { id });
      for await (const { type } of run.events()) if (type === "assistant_message") break;
    }
    await first.close();
    isOpen.now = true;
    const second = await openFleet(where, { agents });
    const results = await Promise.all(["reflects", "plans"].map((id) => second.run(id).result()));
    expect(results.map(({ stopReason, text }) => [stopReason, text])).toEqual(
      Array.from({ length: 2 }, () => ["completed", "A line. No need for improvement."]),
    );
    for (const id of ["reflects", "plans"]) {
      const own = (await entriesOf(second.run(id))).filter(({ scope }) => scope === undefined);
      expect(own.map(({ type }) => type).filter((type) => type.startsWith("run_"))).toEqual([
        "run_start",
        "run_resume",
        "run_end",
      ]);
    }
  });

  it("ends a run whose value JSON cannot say with what JSON can say of it", async () => {
    const around: { self?: unknown } = {};
    around.self = around;
    const finish = noteTool([], {
      name: "hand_in",
      execute: () => ({ content: "ok", finish: { text: "All.", output: { big: 10n, around } } }),
    });
    const agent = agentOf([calls("hand_in", { n: 5 })], { tools: [finish] });
    const fleet = await openFleet(place(), { agents: { clerk: agent } });
    const { stopReason, output } = await (await fleet.start("clerk", "Go.")).result();
    expect([stopReason, output]).toEqual(["finish_tool", { big: "10", around: { self: "[circular]" } }]);
  });

  it("brings back the value of a run that ends by a tool, after a cut too", async () => {
    const where = place();
    const finish = noteTool([], {
      name: "hand_in",
      execute: ({ n }: { readonly n: number }) => ({
        content: "ok",
        finish: { text: "All.", output: { n, list: [1, "zwei", null] } },
      }),
    });
    const agent = agentOf([calls("ask_outside", {}, "o"), calls("hand_in", { n: 5 })], {
      tools: [ASK_OUTSIDE, finish],
    });
    const first = await openFleet(where, { agents: { clerk: agent } });
    await whenWaiting(await first.start("clerk", "Go.", { id: "value" }));
    await first.close();
    const second = await openFleet(where, { agents: { clerk: agent } });
    await second.run("value").answer("o", "x");
    const { stopReason, output, text } = await second.run("value").result();
    expect([stopReason, output, text]).toEqual(["finish_tool", { n: 5, list: [1, "zwei", null] }, "All."]);
  });
}

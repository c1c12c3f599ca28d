import { expect, it } from "vitest";
import type { Fleet } from "../../src/durable/index.ts";
import { calls, fails, says, waits } from "../../src/testing/script.ts";
import {
  ASK_OUTSIDE,
  agentOf,
  entriesOf,
  type FleetPlace,
  noteTool,
  openFleet,
  resultsIn,
  whenWaiting,
  wordsOf,
} from "./fleet-room.ts";

/** How runs wait for people and answers from outside, and what is said to them meanwhile. */
export function describeWaiting(place: () => FleetPlace): void {
  it("waits for a yes, runs what was approved, and tells the model why what was refused did not", async () => {
    const noted: unknown[] = [];
    const asking = [
      calls("note", { n: 1 }, "one"),
      calls("note", { n: 2 }, "two"),
      calls("note", { n: 3 }, "three"),
      calls("note", { n: 4 }, "four"),
    ];
    const agent = agentOf([asking, says("Done.")], { tools: [noteTool(noted, { needsApproval: true })] });
    const fleet = await openFleet(place(), { agents: { clerk: agent } });
    const run = await fleet.start("clerk", "Go.");
    const status = await whenWaiting(run);
    expect(
      status.pending.map(({ callId, name, input, waitsFor }) => [callId, name, input, waitsFor]),
    ).toEqual(["one", "two", "three", "four"].map((id, at) => [id, "note", { n: at + 1 }, "approval"]));
    expect(status.worker).toBeUndefined();
    await run.approve("two", { approved: false, reason: "not this one" });
    await run.approve("one", true);
    await run.approve("three", { approved: true, input: { n: 33 } });
    await run.approve("four", { approved: true, input: { n: "no number" } });
    expect((await run.result()).text).toBe("Done.");
    const results = resultsIn(await entriesOf(run)).toSorted();
    expect([noted, results]).toEqual([
      expect.toSatisfy(
        (all: readonly unknown[]) => all.length === 2 && [1, 33].every((n) => all.includes(n)),
      ),
      [
        expect.stringMatching(/^four error: .*Invalid arguments for note/),
        "one ok: noted 1",
        "three ok: noted 33",
        expect.stringMatching(/^two denied: .*not this one/),
      ],
    ]);
  });

  it("keeps waiting through the end of every fleet, and goes on with the answer another one brings", async () => {
    const where = place();
    const noted: unknown[] = [];
    const agent = agentOf([calls("note", { n: 1 }, "one"), says("Done.")], {
      tools: [noteTool(noted, { needsApproval: true })],
    });
    const first = await openFleet(where, { agents: { clerk: agent } });
    await whenWaiting(await first.start("clerk", "Go.", { id: "patient" }));
    await first.close();
    const second = await openFleet(where, { concurrency: 0 });
    const asked = (await second.run("patient").status()).pending.map(({ callId }) => callId);
    await second.run("patient").approve("one", true);
    await second.close();
    const third = await openFleet(where, { agents: { clerk: agent } });
    const result = await third.run("patient").result();
    expect([asked, result.text, result.iterations, noted]).toEqual([["one"], "Done.", 2, [1]]);
  });

  it("takes one answer to each call that waits while nobody works, and no second one", async () => {
    const where = place();
    const noted: unknown[] = [];
    const agent = agentOf(
      [[calls("note", { n: 1 }, "yes"), calls("ask_outside", {}, "out")], says("Done.")],
      {
        tools: [noteTool(noted, { needsApproval: true }), ASK_OUTSIDE],
      },
    );
    const first = await openFleet(where, { agents: { clerk: agent } });
    await whenWaiting(await first.start("clerk", "Go.", { id: "asked" }));
    await first.close();
    const second = await openFleet(where, { concurrency: 0 });
    const run = second.run("asked");
    const said = await Promise.allSettled([
      run.approve("yes", true),
      run.approve("yes", false),
      run.answer("out", "one"),
      run.answer("out", "two"),
    ]);
    expect(said.map(({ status }) => status).toSorted()).toEqual([
      "fulfilled",
      "fulfilled",
      "rejected",
      "rejected",
    ]);
    for (const answer of said)
      if (answer.status === "rejected")
        expect(answer.reason).toMatchObject({
          code: "invalid_argument",
          message: expect.stringContaining("answered already"),
        });
    await second.close();
    const third = await openFleet(where, { agents: { clerk: agent } });
    expect((await third.run("asked").result()).text).toBe("Done.");
    expect(noted).toEqual(said[0]?.status === "fulfilled" ? [1] : []);
  });

  it("takes the answer to a call of a tool that somebody outside does, as text or as a value", async () => {
    const asking = [calls("ask_outside", { q: "a" }, "a"), calls("ask_outside", { q: "b" }, "b")];
    const agent = agentOf([asking, says("Done.")], { tools: [ASK_OUTSIDE] });
    const fleet = await openFleet(place(), { agents: { clerk: agent } });
    const run = await fleet.start("clerk", "Go.");
    expect((await whenWaiting(run)).pending.map(({ waitsFor }) => waitsFor)).toEqual(["result", "result"]);
    await run.answer("b", { deep: [1, "zwei", null] });
    await run.answer("a", "forty-two");
    expect((await run.result()).text).toBe("Done.");
    expect(resultsIn(await entriesOf(run)).toSorted()).toEqual([
      "a ok: forty-two",
      'b ok: {"deep":[1,"zwei",null]}',
    ]);
  });

  it("refuses answers to calls that do not wait for them, with what does", async () => {
    const asking = [calls("ask_outside", { q: "a" }, "out"), calls("note", { n: 1 }, "yes")];
    const agent = agentOf([asking, says("Done.")], {
      tools: [ASK_OUTSIDE, noteTool([], { needsApproval: true })],
    });
    const fleet = await openFleet(place(), { agents: { clerk: agent } });
    const run = await fleet.start("clerk", "Go.");
    await whenWaiting(run);
    const misuse = { code: "invalid_argument" };
    await expect(run.approve("nothing", true)).rejects.toMatchObject(misuse);
    await expect(run.approve("out", true)).rejects.toMatchObject(misuse);
    await expect(run.answer("yes", "text")).rejects.toMatchObject(misuse);
    await expect(run.answer("out", undefined)).rejects.toMatchObject(misuse);
    await expect(run.answer("out", () => 1)).rejects.toMatchObject(misuse);
    const choices: readonly (readonly [choice: unknown, message: string])[] = [
      ["perhaps", 'choice is "perhaps"; it must be true, false'],
      [undefined, "choice is undefined; it must be true"],
      [1n, "choice is 1; it must be true"],
      [{ reason: "none" }, "choice.approved is missing; it must be true or false."],
      [{ approved: true, foo: 1 }, 'Unknown field "foo" in choice.'],
      [{ approved: false, reason: 5 }, "choice.reason is 5; it must be a string."],
      [{ approved: false, stop: "x" }, 'choice.stop is "x"; it must be true or false.'],
      [{ approved: true, input: null }, "choice.input is null; it must be an object."],
      [{ approved: true, input: [1] }, "choice.input is a list; it must be an object."],
      [{ approved: true, input: { n: 1n } }, "The choice cannot be written as JSON"],
    ];
    for (const [choice, message] of choices)
      await expect(run.approve("yes", choice as never)).rejects.toMatchObject({
        ...misuse,
        message: expect.stringContaining(message),
      });
    await run.approve("yes", true);
    await run.answer("out", "text");
    expect((await run.result()).text).toBe("Done.");
    await expect(run.approve("yes", true)).rejects.toMatchObject(misuse);
    await expect(run.answer("out", "again")).rejects.toMatchObject(misuse);
  });

  it("loses no answer that comes while a run is laid aside", async () => {
    const asking = [calls("note", { n: 1 }, "one"), calls("ask_outside", { q: "a" }, "two")];
    const agent = agentOf(({ messages }) => (messages.length === 1 ? asking : says("Done.")), {
      tools: [ASK_OUTSIDE, noteTool([], { needsApproval: true })],
    });
    const fleet = await openFleet(place(), { agents: { clerk: agent }, concurrency: 20 });
    const runs = await fleet.startMany(
      "clerk",
      Array.from({ length: 20 }, () => ({ input: "Go." })),
    );
    await Promise.all(
      runs.map(async (run, at) => {
        await whenWaiting(run);
        const approve = run.approve("one", at % 3 > 0);
        if (at % 2 === 0) await approve;
        await Promise.all([approve, run.answer("two", `${at}`)]);
      }),
    );
    expect(await Promise.all(runs.map(async (run) => (await run.result()).text))).toEqual(
      Array.from({ length: 20 }, () => "Done."),
    );
  });

  describeSteering(place);
  describeCancel(place);
}

function describeSteering(place: () => FleetPlace): void {
  it("brings a message to the model at its next request, wherever the run stands", async () => {
    const where = place();
    const gate = Promise.withResolvers<undefined>();
    const tools = [noteTool([], { execute: async () => gate.promise }), ASK_OUTSIDE];
    const agent = agentOf(
      ({ messages }) =>
        messages.some(({ role }) => role === "assistant")
          ? wordsOf(messages).some((line) => line.includes("while it waits"))
            ? says("Done.")
            : calls("ask_outside", {}, "out")
          : calls("note", { n: 1 }),
      { tools },
    );
    const starter = await openFleet(where, { concurrency: 0 });
    const { id } = await starter.start("clerk", "Go.");
    await starter.run(id).steer("before it began");
    if (!where.isShared) await starter.close();
    const fleet = await openFleet(where, { agents: { clerk: agent } });
    const run = fleet.run(id);
    for await (const { type } of run.events()) if (type === "tool_intent") break;
    await run.steer([{ type: "text", text: "while it works" }]);
    gate.resolve(undefined);
    await whenWaiting(run);
    await run.steer("while it waits");
    await run.answer("out", "x");
    const { messages, text } = await run.result();
    const heard = wordsOf(messages).filter((line) => line.startsWith("user: "));
    expect([text, heard.join("\n").match(/before it began|while it works|while it waits/g)]).toEqual([
      "Done.",
      ["before it began", "while it works", "while it waits"],
    ]);
    await expect(run.steer("too late")).rejects.toMatchObject({ code: "invalid_argument" });
    await expect(run.steer("")).rejects.toMatchObject({ code: "invalid_argument" });
  });

  it("brings a message to a phase that begins anew, and once to one that comes to its end", async () => {
    const where = place();
    const heard = Promise.withResolvers<void>();
    const first = agentOf(
      ({ messages }) => {
        if (!wordsOf(messages).includes("user: Another way.")) return calls("note", { n: messages.length });
        heard.resolve();
        return [waits(new Promise(() => undefined)), says("Never.")];
      },
      { tools: [noteTool([])], memory: "final-only", maxIterations: 10_000 },
    );
    const fleet = await openFleet(where, { agents: { clerk: first } });
    const { id } = await fleet.start("clerk", "Go.");
    await fleet.run(id).steer("Another way.");
    await heard.promise;
    await fleet.close();
    const second = agentOf(() => says("Done."), { memory: "final-only" });
    const result = await (await openFleet(where, { agents: { clerk: second } })).run(id).result();
    const asked = second.model.requests.map(({ messages }) => wordsOf(messages));
    expect([result.text, asked]).toEqual(["Done.", [["user: Go.", "user: Another way."]]]);
  });

  it("keeps a message that came before it failed, for when it is begun again", async () => {
    const [isAsked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()];
    const agent = agentOf(({ messages }) => {
      if (wordsOf(messages).includes("user: Another way.")) return says("Another way it is.");
      isAsked.resolve();
      return [waits(gate.promise), fails(new Error("The provider is down."))];
    });
    const fleet = await openFleet(place(), { agents: { clerk: agent } });
    const run = await fleet.start("clerk", "Go.");
    await isAsked.promise;
    await run.steer("Another way.");
    gate.resolve(undefined);
    const failed = await run.result();
    await run.retry();
    const { stopReason, text } = await run.result();
    expect([failed.stopReason, stopReason, text]).toEqual(["error", "completed", "Another way it is."]);
  });

  it("goes on with a run that was cancelled, once it is told to", async () => {
    const isAsked = Promise.withResolvers<void>();
    let asked = 0;
    const agent = agentOf(() => {
      if (++asked > 1) return says("Done.");
      isAsked.resolve();
      return [waits(new Promise(() => undefined)), says("Never.")];
    });
    const fleet = await openFleet(place(), { agents: { clerk: agent } });
    const run = await fleet.start("clerk", "Go.");
    await isAsked.promise;
    await run.cancel();
    const { stopReason } = await run.result();
    await run.retry();
    expect([stopReason, (await run.result()).text]).toEqual(["aborted", "Done."]);
  });

  it("ends with a no that stops it, whatever was said to it before", async () => {
    const agent = agentOf([calls("note", { n: 1 }, "one"), says("Never.")], {
      tools: [noteTool([], { needsApproval: true })],
    });
    const fleet = await openFleet(place(), { agents: { clerk: agent } });
    const run = await fleet.start("clerk", "Go.");
    await whenWaiting(run);
    await run.steer("Another way.");
    await run.approve("one", { approved: false, stop: true });
    const { stopReason } = await run.result();
    expect([stopReason, agent.model.requests.length]).toEqual(["denied", 1]);
  });
}

function describeCancel(place: () => FleetPlace): void {
  async function ended(fleet: Fleet, id: string): Promise<readonly unknown[]> {
    const { stopReason } = await fleet.run(id).result();
    const last = (await entriesOf(fleet.run(id))).at(-1);
    return [stopReason, last?.type];
  }

  it("ends a run with aborted whether it is queued, at work or waiting, and leaves one that has ended", async () => {
    const stopped: unknown[] = [];
    const hanging = noteTool([], {
      execute: (_: never, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            stopped.push("stopped");
            reject(signal.reason as Error);
          });
        }),
    });
    const where = place();
    const starter = await openFleet(where, { concurrency: 0 });
    await starter.start("nobody", "Go.", { id: "nobody" });
    await starter.close();
    const fleet = await openFleet(where, {
      agents: {
        works: agentOf([calls("note", { n: 1 })], { tools: [hanging] }),
        waits: agentOf([calls("ask_outside", {}, "out")], { tools: [ASK_OUTSIDE] }),
        asks: agentOf([[waits(new Promise(() => undefined)), says("Never.")]]),
        ends: agentOf([says("Done.")]),
      },
    });
    for (const id of ["works", "waits", "asks", "ends"]) await fleet.start(id, "Go.", { id });
    for await (const { type } of fleet.run("works").events()) if (type === "tool_intent") break;
    for await (const { type } of fleet.run("asks").events()) if (type === "user_message") break;
    await whenWaiting(fleet.run("waits"));
    await fleet.run("ends").result();
    for (const id of ["works", "waits", "asks", "ends", "nobody"])
      await fleet.run(id).cancel("no longer needed");
    const how = await Promise.all(["works", "waits", "asks", "ends", "nobody"].map((id) => ended(fleet, id)));
    expect(how.map(([reason]) => reason)).toEqual(["aborted", "aborted", "aborted", "completed", "aborted"]);
    expect(how.slice(0, 4).map(([, type]) => type)).toEqual(Array.from({ length: 4 }, () => "run_end"));
    expect(stopped).toEqual(["stopped"]);
    await expect(fleet.run("waits").answer("out", "late")).rejects.toMatchObject({
      code: "invalid_argument",
    });
  });
}

import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import { MessageHub } from "../../src/patterns/message-hub.ts";
import { fanoutPipeline, sequentialPipeline } from "../../src/patterns/pipelines.ts";
import { ReflectionAgent } from "../../src/patterns/reflection-agent.ts";
import { SimpleAgent } from "../../src/patterns/simple-agent.ts";
import { UserAgent } from "../../src/patterns/user-agent.ts";
import { fails, type ScriptStep, says, waits } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { lines } from "./conversation.ts";

const agent = (...steps: readonly ScriptStep[]): Agent => new Agent({ model: new ScriptedModel(steps) });
const heard = (each: Agent): readonly string[] => lines(each.getState().messages);

test("a sequential pipeline hands the answer of each agent to the next", async () => {
  const person = new UserAgent({ input: () => "Tell me of Oslo." });
  const writer = agent(says("Oslo is grey."));
  const critic = new ReflectionAgent({
    model: new ScriptedModel([says("Oslo is green."), says("无需改进")]),
  });
  const seen: string[] = [];
  const result = await sequentialPipeline([person, writer, critic], undefined, {
    onEvent: (event, at) => {
      if (event.type === "done") seen.push(`${at}: ${event.result.text}`);
    },
  });
  expect([result.text, result.completed, result.results.length]).toEqual(["Oslo is green.", true, 3]);
  expect(seen).toEqual(["0: Tell me of Oslo.", "1: Oslo is grey.", "2: Oslo is green."]);
  expect(heard(critic)[0]).toBe("user: Oslo is grey.");
});

test("a sequential pipeline stops at an agent without an answer, and its result says why", async () => {
  const last = agent();
  for (const step of [fails("down"), says("")]) {
    const { completed, results } = await sequentialPipeline([agent(says("a")), agent(step), last], "go");
    expect([completed, results.length]).toEqual([false, 2]);
  }
  expect(heard(last)).toEqual([]);
  await expect(sequentialPipeline([], "go")).rejects.toThrow("at least one agent");
});

test("a fan-out asks all at once, and the results come in the order of the agents", async () => {
  const second = Promise.withResolvers<void>();
  const slow = agent([waits(second.promise), says("slow")]);
  const fast = agent(says("fast"));
  const results = await fanoutPipeline([slow, fast], "go", {
    onEvent: (event, at) => {
      if (event.type === "done" && at === 1) second.resolve();
    },
  });
  expect(results.map(({ text }) => text)).toEqual(["slow", "fast"]);
});

test("a fan-out reports failures as results, refuses the same agent twice, and stops with its signal", async () => {
  expect(
    (await fanoutPipeline([agent(fails("down")), agent(says("ok"))], "go")).map((each) => each.stopReason),
  ).toEqual(["error", "completed"]);
  const one = agent();
  await expect(fanoutPipeline([one, one], "go")).rejects.toThrow("stands twice");
  const aborted = await fanoutPipeline([agent(), agent()], "go", { signal: AbortSignal.abort() });
  expect(aborted.map(({ stopReason }) => stopReason)).toEqual(["aborted", "aborted"]);
});

test("a fan-out lets the others end before it throws", async () => {
  const busy = agent([waits(new Promise(() => undefined))]);
  const stop = new AbortController();
  const first = busy.run("at work", { signal: stop.signal });
  const other = agent(says("done"));
  await expect(fanoutPipeline([busy, other], "go")).rejects.toThrow("already running");
  expect(heard(other)).toEqual(["user: go", "assistant: done"]);
  stop.abort();
  await first;
});

test("members of a hub hear each other by name, each in a conversation of its own", async () => {
  const [ann, bob] = [agent(says("Tea.")), agent(says("Coffee."))];
  const hub = new MessageHub({ ann, bob });
  const result = await hub.discuss("What do you drink?");
  expect(result.turns.map(({ name, result: { text } }) => [name, text])).toEqual([
    ["ann", "Tea."],
    ["bob", "Coffee."],
  ]);
  expect([result.text, result.stopReason]).toEqual(["Coffee.", "completed"]);
  expect(heard(ann)).toEqual(["user: What do you drink?", "assistant: Tea.", "user: bob: Coffee."]);
  expect(heard(bob)).toEqual(["user: What do you drink?", "user: ann: Tea.", "assistant: Coffee."]);
  expect(bob.getState().messages[1]).toMatchObject({ name: "ann" });
});

test("members that answer each other in a circle are stopped, and the result says so", async () => {
  let turns = 0;
  const parrot = () => new Agent({ model: new ScriptedModel(() => says(`turn ${++turns}`)) });
  const hub = new MessageHub({ ann: parrot(), bob: parrot() });
  const result = await hub.discuss("go", {
    next: (done) => (done.at(-1)?.name === "ann" ? "bob" : "ann"),
    maxTurns: 5,
  });
  expect([result.stopReason, result.turns.length, result.text, turns]).toEqual(["max_turns", 5, "turn 5", 5]);
  const bounded = await hub.discuss("again", {
    next: (done) => (done.at(-1)?.name === "ann" ? "bob" : "ann"),
  });
  expect([bounded.stopReason, bounded.turns.length]).toEqual(["max_turns", 20]);
});

test("a member that gives no answer ends the discussion, and the others hear nothing of it", async () => {
  const bob = agent();
  const hub = new MessageHub({ ann: agent(fails("down")), bob });
  const result = await hub.discuss("go");
  expect([result.stopReason, result.turns[0]?.result.error?.message]).toEqual(["error", "down"]);
  expect(heard(bob)).toEqual(["user: go"]);
});

test("patterns and people can be members, and one can be asked directly", async () => {
  const asked: string[] = [];
  const person = new UserAgent({ input: (question) => (asked.push(question), "Shorter, please.") });
  const writer = new SimpleAgent({ model: new ScriptedModel([says("A very long text."), says("Text.")]) });
  const hub = new MessageHub({ writer, person });
  await hub.reply("writer", "Write.");
  await hub.reply("person");
  expect((await hub.reply("writer")).text).toBe("Text.");
  expect(asked).toEqual(["writer: A very long text."]);
  expect(heard(writer)).toContain("user: person: Shorter, please.");
});

test("members come and go; misuse is refused", async () => {
  const ann = agent(says("x"));
  const hub = new MessageHub({ ann });
  expect(() => hub.add("ann", agent())).toThrow('"ann" is in the hub already');
  expect(() => hub.add("bob", ann)).toThrow('"bob" and "ann" are the same agent');
  await expect(hub.reply("eve")).rejects.toThrow('There is no "eve" in the hub. Members: ann.');
  await expect(hub.reply("ann")).rejects.toThrow("nothing for the model to answer");
  await expect(hub.discuss("go", { maxTurns: 0 })).rejects.toThrow("maxTurns is 0");
  const bob = agent();
  hub.add("bob", bob);
  await hub.broadcast("hi", "ann");
  expect([heard(ann), heard(bob)]).toEqual([[], ["user: ann: hi"]]);
  expect([hub.remove("bob"), hub.remove("bob"), hub.names]).toEqual([true, false, ["ann"]]);
});

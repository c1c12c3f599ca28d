import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, says, waits } from "../../src/testing/script.ts";
import { until } from "../faults/until.ts";
import { place } from "./open.ts";

test("a message steers the run at work, and begins one between runs", async () => {
  const { open } = place();
  const gate = Promise.withResolvers<void>();
  await using session = await open([
    [calls("read", { path: "none" }), waits(gate.promise)],
    says("Two."),
    says("Three."),
  ]);
  const run = session.send("first");
  session.steer("also this");
  const id = session.steer("not this");
  const waiting = session.view.steering.map(({ text }) => text);
  const taken = session.unsteer(id);
  gate.resolve();
  await run;
  const ended = Promise.withResolvers<void>();
  session.onEvent(({ type }) => {
    if (type === "done") ended.resolve();
  });
  session.steer("and that");
  await ended.promise;
  const users = session.view.items.flatMap((item) =>
    item.type === "user" ? [[item.source, item.text]] : [],
  );
  expect([waiting, taken, users]).toEqual([
    ["also this", "not this"],
    "not this",
    [
      ["input", "first"],
      ["steering", "also this"],
      ["input", "and that"],
    ],
  ]);
});

test("a command that is sent during a run waits for its end, and is never sent as its text", async () => {
  const { open, home } = place();
  const commands = join(home, ".config/nano-agent/commands");
  mkdirSync(commands, { recursive: true });
  writeFileSync(join(commands, "greet.md"), "Greet $ARGUMENTS kindly.");
  const gate = Promise.withResolvers<void>();
  await using session = await open([
    [calls("read", { path: "none" }), waits(gate.promise)],
    says("One."),
    says("Two."),
    says("Three."),
  ]);
  const run = session.send("first");
  session.steer("/greet Ada");
  const [waiting] = session.queue.items;
  session.queue.sendNow(waiting?.id ?? "");
  const still = session.queue.items.map(({ text }) => text);
  gate.resolve();
  await run;
  await until(() => session.view.state === "idle" && session.queue.items.length === 0);
  session.queue.hold();
  session.queue.sendNow(session.queue.add("/greet Bob"));
  await until(() => session.lastOutcome?.text === "Three.");
  const users = session.view.items.flatMap((item) => (item.type === "user" ? [item.text] : []));
  expect([still, users]).toEqual([["/greet Ada"], ["first", "Greet Ada kindly.", "Greet Bob kindly."]]);
});

test("a queue that was held and emptied sends again from the next run on", async () => {
  const { open } = place();
  await using session = await open([says("One.")]);
  session.queue.hold();
  session.queue.remove(session.queue.add("dropped"));
  await session.send("first");
  expect(session.queue.held).toBe(false);
});

test("a command that was stopped before its prompt was stored waits again", async () => {
  const { open, home } = place();
  const commands = join(home, ".config/nano-agent/commands");
  mkdirSync(commands, { recursive: true });
  writeFileSync(join(commands, "slow.md"), "It says !`sleep 600`");
  await using session = await open([], { settings: { permissionMode: "bypassPermissions" } });
  session.steer("/slow");
  await session.stop();
  await until(() => session.queue.items.length > 0);
  expect([session.queue.items.map(({ text }) => text), session.queue.held]).toEqual([["/slow"], true]);
});

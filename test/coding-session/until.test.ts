import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CodingSession } from "../../src/coding/session/coding-session.ts";
import { type Message, textOf } from "../../src/core/message/message.ts";
import { calls, says } from "../../src/testing/script.ts";
import type { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { missingForSandbox } from "../sandbox-room.ts";
import { place } from "./open.ts";

type ScriptedSession = CodingSession & { readonly model: ScriptedModel };

const write = (content: string) => calls("write", { path: "a.txt", content });
const FREE = { permissionMode: "acceptEdits" } as const;

/** The texts that the model was sent by the run itself. */
function told({ model }: ScriptedSession): readonly string[] {
  const messages: readonly Message[] = model.requests.at(-1)?.messages ?? [];
  return messages
    .map((message) => textOf(message.content))
    .filter((text) => text.startsWith("This run is done when"));
}

test("a run goes on until its command passes, and its evidence says so", async () => {
  const { open } = place();
  const steps = [write("bad"), says("done"), calls("edit", EDIT), says("really done")];
  await using session = await open(steps, FREE);
  const outcome = await session.send("go", { until: "grep -q good a.txt || { echo no good; false; }" });
  const notes = session.view.items.flatMap((item) => (item.type === "notice" ? [item.notice.level] : []));
  expect({
    exit: outcome.exitCode,
    text: outcome.text,
    evidence: { ...outcome.evidence, checks: outcome.evidence.checks.map(({ ms: _, ...rest }) => rest) },
    told: told(session).map((text) => text.includes("exit code 1") && text.includes("no good")),
    notes,
    said: session.view.items.filter(({ type }) => type === "user").length,
  }).toEqual({
    exit: 0,
    text: "really done",
    evidence: {
      changed: ["a.txt"],
      checks: [
        { command: UNTIL, exitCode: 1, afterLastChange: false },
        { command: UNTIL, exitCode: 0, afterLastChange: true },
      ],
    },
    told: [true],
    notes: ["warning", "info"],
    said: 1,
  });
});

const UNTIL = "grep -q good a.txt || { echo no good; false; }";
const EDIT = { path: "a.txt", edits: [{ old_string: "bad", new_string: "good" }] };

test("a command that never passes ends the run with exit 1 after its rounds, and says what is wrong", async () => {
  const { open } = place();
  await using session = await open([says("1"), says("2"), says("3")], { ...FREE, settings: { untilMax: 2 } });
  session.setUntil("echo still broken; exit 4");
  const { exitCode, code, advice, text } = await session.send("go");
  expect({ exitCode, code, text, rounds: told(session).length }).toEqual({
    exitCode: 1,
    code: "error_until",
    text: "3",
    rounds: 2,
  });
  expect(advice?.text).toMatch(
    /^echo still broken; exit 4 still fails after 2 rounds: exit code 4\. It says: still broken\. /,
  );
});

test("a command that is not there, or not allowed, ends the run at once with a clear word", async () => {
  const { open } = place();
  await using lost = await open([says("done")], FREE);
  const outcome = await lost.send("go", { until: "npmm test" });
  await using refused = await open([says("done")], {
    ...FREE,
    settings: { permissions: { deny: ["bash(make *)"] } },
  });
  const denied = await refused.send("go", { until: "make test" });
  expect([outcome.exitCode, outcome.advice?.text, denied.exitCode, denied.denials.length]).toEqual([
    1,
    expect.stringMatching(/^npmm test was not found \(exit code 127\), so nothing was checked/),
    3,
    1,
  ]);
  expect(() => lost.send("go", { until: " " })).toThrow("pass a shell command");
});

test("a command that never ends is stopped with the time of the run", async () => {
  const { open } = place();
  await using session = await open([says("done")], { ...FREE, settings: { maxWallTime: "2s" } });
  const { exitCode, limit } = await session.send("go", { until: "exec tail -f /dev/null" });
  expect({ exitCode, limit }).toEqual({ exitCode: 124, limit: "wall_time" });
});

test("a command that floods sends the model no more than its end", async () => {
  const { open } = place();
  await using session = await open([says("1"), says("2")], { ...FREE, settings: { untilMax: 1 } });
  const { exitCode } = await session.send("go", {
    until: "yes flood | head -c 3000000; echo the end; false",
  });
  const [text = ""] = told(session);
  expect({ exitCode, isShort: text.length < 5_000, hasEnd: text.includes("the end") }).toEqual({
    exitCode: 1,
    isShort: true,
    hasEnd: true,
  });
});

test("files that the command changes itself are told, counted and taken back by undo", async () => {
  const { open, cwd } = place();
  writeFileSync(join(cwd, "b.txt"), "before");
  await using session = await open([write("x"), says("done")], FREE);
  const outcome = await session.send("go", { until: "echo after > b.txt" });
  const words = session.view.items.flatMap((item) =>
    item.type === "notice" && "message" in item.notice ? [item.notice.message] : [],
  );
  expect({ exit: outcome.exitCode, changed: outcome.evidence.changed, words }).toEqual({
    exit: 0,
    changed: ["a.txt", "b.txt"],
    words: [
      "2 files changed · echo after > b.txt passed after the last change · the command itself changed 1 file",
    ],
  });
  await session.undo();
  expect(readFileSync(join(cwd, "b.txt"), "utf8")).toBe("before");
});

test("the limit of turns holds over all rounds", async () => {
  const { open } = place();
  await using session = await open([says("1"), says("2")], { ...FREE, settings: { maxTurns: 2 } });
  const { exitCode, turns } = await session.send("go", { until: "false" });
  expect({ exitCode, turns }).toEqual({ exitCode: 53, turns: 2 });
});

test.skipIf(missingForSandbox() !== "")(
  "a command that needs the network fails in the sandbox, and the end says how it runs outside",
  async () => {
    const { open } = place();
    const settings = { permissionMode: "auto", untilMax: 1 } as const;
    await using session = await open([says("1"), says("2")], { settings });
    const until = "exec 3<>/dev/tcp/127.0.0.1/9 || { echo connect: network is unreachable; exit 1; }";
    const { exitCode, advice } = await session.send("go", { until });
    expect([exitCode, advice?.text]).toEqual([
      1,
      expect.stringContaining("The sandbox limits it; --sandbox off runs it outside."),
    ]);
  },
);

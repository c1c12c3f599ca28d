import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defineTool } from "../../src/core/tool/tool.ts";
import { calls, says, waits } from "../../src/testing/script.ts";
import { isAlive, pidsIn, until } from "../faults/until.ts";
import { place } from "./open.ts";

function hooks(commands: Readonly<Record<string, string>>): {
  readonly hooks: Readonly<Record<string, unknown>>;
} {
  return {
    hooks: Object.fromEntries(
      Object.entries(commands).map(([event, command]) => [
        event,
        [{ hooks: [{ type: "command", command }] }],
      ]),
    ),
  };
}

const decide = (behavior: string): string =>
  `echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"${behavior}","message":"by the hook"}}}'`;

test("a hook answers a question before a person is asked: deny, allow, or nothing", async () => {
  for (const [behavior, made, asked] of [
    ["deny", false, 0],
    ["allow", true, 0],
    ["none", false, 1],
  ] as const) {
    const { open, cwd } = place();
    const settings = hooks({ PermissionRequest: decide(behavior), Notification: "cat >> notified" });
    await using session = await open([calls("bash", { command: "touch made" }), says("end")], { settings });
    let count = 0;
    session.onQuestion(({ id }) => {
      count++;
      queueMicrotask(() => session.answer(id, { choice: "no" }));
    });
    await session.send("go");
    const told = existsSync(join(cwd, "notified"));
    expect([behavior, existsSync(join(cwd, "made")), count, told]).toEqual([
      behavior,
      made,
      asked,
      asked === 1,
    ]);
  }
});

test("an allow of a hook does not answer a question that a rule asks", async () => {
  const { open, cwd } = place();
  const settings = {
    ...hooks({ PermissionRequest: decide("allow") }),
    permissions: { ask: ["bash(touch *)"] },
  };
  await using session = await open([calls("bash", { command: "touch made" }), says("end")], { settings });
  session.onQuestion(({ id }) => queueMicrotask(() => session.answer(id, { choice: "no" })));
  await session.send("go");
  expect(existsSync(join(cwd, "made"))).toBe(false);
});

test("an allow of a hook does not answer what a tool itself asks", async () => {
  const paid: unknown[] = [];
  const pay = defineTool({
    name: "pay",
    description: "Pays.",
    needsApproval: true,
    execute: () => {
      paid.push("paid");
      return "paid";
    },
  });
  await using session = await place().open([calls("pay"), says("end")], {
    settings: hooks({ PermissionRequest: decide("allow") }),
    tools: [pay],
  });
  const asked: string[] = [];
  session.onQuestion(({ id, reason }) => {
    asked.push(reason);
    queueMicrotask(() => session.answer(id, { choice: "no" }));
  });
  await session.send("go");
  expect({ asked, paid }).toEqual({ asked: ["pay needs approval"], paid: [] });
});

test("a subagent that has ended, a compaction and the end of the session are told; what is missing reaches the model", async () => {
  const { open, cwd } = place();
  const settings = hooks({
    SubagentStop: "echo 'no tests were run' >&2; exit 2",
    PreCompact: "cat > compacted",
    SessionEnd: "cat > ended",
  });
  const session = await open(
    [
      calls("task", { agent: "explore", prompt: "Look." }),
      says("I looked."),
      says("Done."),
      says("Summary."),
    ],
    { settings, permissionMode: "bypassPermissions" },
  );
  await session.send("go");
  const last = JSON.stringify(session.model.requests.at(-1)?.messages.at(-1));
  expect(last).toContain("no tests were run");
  await session.compact();
  await session.close();
  const compacted: unknown = JSON.parse(readFileSync(join(cwd, "compacted"), "utf8"));
  const ended: unknown = JSON.parse(readFileSync(join(cwd, "ended"), "utf8"));
  expect([compacted, ended]).toMatchObject([
    { hook_event_name: "PreCompact", trigger: "manual" },
    { hook_event_name: "SessionEnd", session_id: session.id },
  ]);
});

test("what a hook adds before a call reaches the model with the result, whether the call ran or was refused", async () => {
  const { open } = place();
  const added = JSON.stringify({ hookSpecificOutput: { additionalContext: "Mind the step." } });
  const settings = {
    ...hooks({ PreToolUse: `echo '${added}'` }),
    permissions: { allow: ["bash(echo *)"], deny: ["bash(rm *)"] },
  };
  const steps = [calls("bash", { command: "echo hi" }), calls("bash", { command: "rm x" }), says("end")];
  await using session = await open(steps, { settings });
  await session.send("go");
  const results = session.model.requests.slice(1).map(({ messages }) => JSON.stringify(messages.at(-1)));
  expect(results).toEqual([
    expect.stringMatching(/hi.*exit code 0.*Mind the step\./),
    expect.stringMatching(/forbids rm x.*Mind the step\./),
  ]);
});

test("a hook keeps a conversation from being compacted, and says why", async () => {
  const { open } = place();
  const settings = hooks({ PreCompact: "echo 'not during the audit' >&2; exit 2" });
  await using session = await open([says("one")], { settings });
  const warnings: string[] = [];
  session.onEvent((event) => {
    if (event.type === "warning") warnings.push(event.message);
  });
  await session.send("go");
  expect([await session.compact(), warnings]).toEqual([
    undefined,
    ["The conversation was not compacted: not during the audit"],
  ]);
});

test("a hook that blocks where nothing can be blocked is heard all the same", async () => {
  const { open } = place();
  const settings = hooks({ SessionStart: "echo 'no licence' >&2; exit 2" });
  await using session = await open([says("one")], { settings });
  const { exitCode } = await session.send("go");
  expect([exitCode, session.notices.map((notice) => ("message" in notice ? notice.message : ""))]).toEqual([
    0,
    expect.arrayContaining(["a SessionStart hook has nothing to block, and says: no licence"]),
  ]);
});

test("a hook judges messages that are sent during a run before they steer it", async () => {
  const { open } = place();
  const judge = "grep -q secret && { echo 'no secrets' >&2; exit 2; }; echo 'it is Monday'";
  const gate = Promise.withResolvers<void>();
  await using session = await open([[calls("read", { path: "none" }), waits(gate.promise)], says("Two.")], {
    settings: hooks({ UserPromptSubmit: judge }),
  });
  const run = session.send("go");
  session.steer("the secret is 42");
  session.steer("be brief");
  await until(() => session.queue.items.length === 0);
  gate.resolve();
  await run;
  const sent = JSON.stringify(session.model.requests.at(-1)?.messages);
  const told = session.notices.map((notice) => ("message" in notice ? notice.message : ""));
  expect([sent.includes("42"), sent.includes("be brief"), sent.split("it is Monday").length, told]).toEqual([
    false,
    true,
    3,
    expect.arrayContaining([expect.stringContaining("was not sent: no secrets")]),
  ]);
});

test("messages that hooks judge keep their order, and come back as they were said", async () => {
  const { open } = place();
  const judge = "grep -q slow && sleep 0.3; echo context";
  await using session = await open([[says("One."), waits(new Promise(() => undefined))]], {
    settings: hooks({ UserPromptSubmit: judge }),
  });
  void session.send("go");
  const ids = ["slow one", "two", "three"].map((text) => session.steer(text));
  session.queue.edit(ids[2] ?? "", "three, as edited");
  await until(() => session.view.steering.length === 2);
  const waiting = session.view.steering.map(({ text }) => text);
  const taken = session.unsteer(ids[1] ?? "");
  await session.stop();
  await until(() => session.queue.items.length === 2);
  expect([waiting, taken, session.queue.items.map(({ text }) => text)]).toEqual([
    ["slow one", "two"],
    "two",
    ["slow one", "three, as edited"],
  ]);
});

test("stopping a run ends the hook it waits for, and what that has started", async () => {
  const { open, cwd } = place();
  const settings = hooks({ PreToolUse: "sleep 600 & echo $! > pid; sleep 600" });
  await using session = await open([calls("bash", { command: "true" }), says("end")], { settings });
  const run = session.send("go");
  const pids = (): readonly number[] => pidsIn(join(cwd, "pid"));
  await until(() => pids().length > 0);
  await session.stop();
  await until(() => !pids().some(isAlive));
  expect((await run).stopReason).toBe("aborted");
});

test("a hook can end the run, and the person reads why", async () => {
  const { open } = place();
  const settings = hooks({ PreToolUse: `echo '{"continue":false,"stopReason":"enough for today"}'` });
  await using session = await open([calls("bash", { command: "true" }), says("end")], { settings });
  const { stopReason, exitCode } = await session.send("go");
  expect([stopReason, exitCode]).toEqual(["aborted", 1]);
  expect(session.notices.map((notice) => ("message" in notice ? notice.message : ""))).toContain(
    "enough for today",
  );
});

test("status texts of extensions are asked for, and one that throws is asked no more", async () => {
  const { open, home } = place();
  const folder = join(home, ".config/nano-agent/extensions");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "a.mjs"),
    "export default (agent) => { agent.status(() => 'ready'); agent.status(() => undefined); };",
  );
  writeFileSync(
    join(folder, "b.mjs"),
    "export default (agent) => agent.status(() => { throw new Error('no'); });",
  );
  await using session = await open([]);
  expect([session.status(), session.status()]).toEqual([["ready"], ["ready"]]);
  const said = session.notices.filter(({ code }) => code === "extension");
  expect(said).toHaveLength(1);
});

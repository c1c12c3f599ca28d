import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { NanoAgentError } from "../../src/core/base/errors.ts";
import { calls, fails, finishes, says } from "../../src/testing/script.ts";
import { replies, type ServerReply } from "../../src/testing/server-step.ts";
import { modelServer } from "./command.ts";
import { checkedLines } from "./event-schema.ts";
import { lastMessages, type SessionPlace, sessionPlace } from "./session-place.ts";

const LONG = Array.from({ length: 150 }, (_, at) => `line ${at} of a file that is rather long`).join("\n");
const SUMMARY = "## Goal: read the files\n## Pending: say what they hold";

function place(config: object = {}): SessionPlace {
  return sessionPlace({ "a.txt": LONG, "b.txt": LONG }, { compaction: config });
}

/** Two files read; the second answer came near the end of the window. */
const READING = [
  [calls("read", { path: "a.txt" }), finishes("tool_use", { inputTokens: 1_500, outputTokens: 20 })],
  [calls("read", { path: "b.txt" }), finishes("tool_use", { inputTokens: 6_900, outputTokens: 20 })],
];

test("near the end of the window a summary takes the place of the older part, and a line says so", async () => {
  const server = await modelServer([...READING, says(SUMMARY), says("done")]);
  const { run, types } = place({ window: 8_000, at: 0.9 });
  const { code, stdout, stderr } = await run(["-p", "--json", "What do they hold?"], server);
  const lines = checkedLines(stdout);
  expect(code).toBe(0);
  expect(lines.find((line) => line.type === "system" && line.subtype === "compact_boundary")).toMatchObject({
    compact_metadata: { trigger: "auto", reason: "threshold", method: "summary" },
  });
  expect(lines.at(-1)).toMatchObject({ result: "done", num_turns: 3 });
  expect(stderr).toContain("nano-agent: Compacted from ");
  expect(types().slice(-4)).toEqual(["model_usage", "compaction", "assistant_message", "run_end"]);
  const sent = lastMessages(server);
  expect(sent[0]).toBe("user: What do they hold?");
  expect(sent[1]).toContain("## Pending: say what they hold");
  expect(sent[1]).toContain("- read: a.txt");
});

test("a request that the provider refuses as too long is made again after one compaction", async () => {
  const tooLong = fails(new NanoAgentError("context_overflow", "too long"));
  const server = await modelServer([...READING, tooLong, says(SUMMARY), says("done")]);
  const { run } = place();
  const { code, stdout } = await run(["-p", "--json", "go"], server);
  expect(code).toBe(0);
  expect(
    checkedLines(stdout).find((line) => line.type === "system" && line.subtype !== "init"),
  ).toMatchObject({
    subtype: "compact_boundary",
    compact_metadata: { reason: "overflow" },
  });
});

test("with compaction switched off such a request ends the run", async () => {
  const server = await modelServer([fails(new NanoAgentError("context_overflow", "too long"))]);
  const { run } = sessionPlace({}, { compaction: false });
  expect((await run(["-p", "go"], server)).code).toBe(1);
});

test("a session is looked at, compacted on request, and taken back", async () => {
  const server = await modelServer([...READING, says("done"), says(SUMMARY), says("on")]);
  const { run, files } = place();
  await run(["-p", "--session-id", "s1", "go"], server);
  const before = readFileSync(files()[0] ?? "", "utf8");
  const preview = await run(["sessions", "compact", "s1", "--preview", "--json"], server);
  expect(JSON.parse(preview.stdout)).toMatchObject({
    session_id: "s1",
    needed: false,
    method: "summary",
    pinned: { user_messages: 1, files: 2, todo: false },
  });
  expect(readFileSync(files()[0] ?? "", "utf8")).toBe(before);
  expect(server.requests).toHaveLength(3);
  const compacted = await run(["sessions", "compact", "s1"], server);
  expect([compacted.code, compacted.stdout]).toEqual([
    0,
    expect.stringContaining("the older part was summarized"),
  ]);
  expect(readFileSync(files()[0] ?? "", "utf8").startsWith(before)).toBe(true);
  const undone = await run(["sessions", "compact", "s1", "--undo"], server);
  expect([undone.code, undone.stdout]).toEqual([0, expect.stringContaining("has 6 messages")]);
  expect((await run(["sessions", "compact", "s1", "--undo"], server)).code).toBe(2);
  await run(["-p", "-r", "s1", "and?"], server);
  expect(lastMessages(server)).toHaveLength(7);
});

test("what a summary could not make smaller is said to stay as it is, and stays", async () => {
  const server = await modelServer([says("done"), says(SUMMARY)]);
  const { run } = sessionPlace();
  await run(["-p", "go"], server);
  const preview = await run(["sessions", "compact", "--preview"], server);
  expect(preview.stdout).toMatch(/^after +about \d+ tokens: no less, so it would stay as it is$/m);
  const compacted = await run(["sessions", "compact"], server);
  expect([compacted.code, compacted.stdout]).toEqual([1, ""]);
});

test("a disk that is full at the record of a compaction ends the run with 60, and nothing before it is lost", async () => {
  const long = `${SUMMARY}\n${"what was found out, in many words. ".repeat(90)}`;
  const steps = [...READING, says(long), says("done")];
  const free = place({ window: 8_000, at: 0.9 });
  await free.run(["-p", "--session-id", "s1", "go"], await modelServer(steps));
  const whole = readFileSync(free.files()[0] ?? "", "utf8");
  const before = whole.slice(0, whole.indexOf('"type":"compaction"'));
  const full = place({ window: 8_000, at: 0.9 });
  const server = await modelServer(steps);
  const end = await full.run(["-p", "--session-id", "s1", "go"], server, {
    fileBlocks: Math.ceil(Buffer.byteLength(before) / 1_024),
  });
  expect([end.code, end.stderr]).toEqual([60, expect.stringContaining("compaction record")]);
  expect(server.requests).toHaveLength(3);
  const next = await modelServer([says(long), says("done after all")]);
  const again = await full.run(["-p", "-c", "go on"], next);
  expect([again.code, again.stdout]).toEqual([0, "done after all\n"]);
});

test("Ctrl-C while a summary is written ends the run, and the session goes on as it was", async () => {
  const reached = Promise.withResolvers<void>();
  const stalls = (): ServerReply => {
    reached.resolve();
    return replies({ stall: "before_headers" });
  };
  const { start, run, types } = place({ window: 8_000, at: 0.9 });
  const { child, end } = start(["-p", "--session-id", "s1", "go"], await modelServer([...READING, stalls]));
  await reached.promise;
  child.kill("SIGINT");
  expect((await end).code).toBe(130);
  expect(types().slice(-2)).toEqual(["tool_result", "run_end"]);
  const server = await modelServer([says(SUMMARY), says("on")]);
  expect((await run(["-p", "-c", "go on"], server)).stdout).toBe("on\n");
});

test.each([
  ['{ "compaction": { "at": 80 } }', "compaction.at is 80; it must be a number above 0 up to 1."],
  ['{ "compaction": true }', "compaction is true; it must be an object or false."],
])("a config file with %s is refused with what is expected", async (text, message) => {
  const { run } = sessionPlace({ "nano-agent.json": text });
  const { code, stderr } = await run(["config"]);
  expect([code, stderr]).toEqual([52, expect.stringContaining(message)]);
});

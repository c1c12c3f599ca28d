import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { createCodingSession } from "../../src/coding/session/prepare-coding-session.ts";
import { calls, says } from "../../src/testing/script.ts";
import { replies } from "../../src/testing/server-step.ts";
import { withVariables } from "../hermetic-command.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv } from "./command.ts";
import { checkedLines } from "./event-schema.ts";
import { lastMessages, sessionPlace } from "./session-place.ts";

test("a run is kept in a file of the user's alone", async () => {
  const place = sessionPlace();
  const server = await modelServer([calls("read", { path: "." }), says("done")]);
  const end = await place.run(["-p", "--json", "go"], server);
  const [file = ""] = place.files();
  expect(end.code).toBe(0);
  expect(place.types()).toEqual([
    "session",
    "run_start",
    "user_message",
    "assistant_message",
    "tool_intent",
    "tool_result",
    "assistant_message",
    "run_end",
  ]);
  expect([file, dirname(file), place.sessions].map((path) => statSync(path).mode & 0o777)).toEqual([
    0o600, 0o700, 0o700,
  ]);
  expect(basename(file, ".jsonl")).toBe(checkedLines(end.stdout)[0]?.session_id);
  expect(existsSync(file.replace(".jsonl", ".lock"))).toBe(false);
});

test("-c goes on with the newest session of the folder, also when the clock was set back", async () => {
  const place = sessionPlace();
  const server = await modelServer([says("one"), says("two"), says("three")]);
  await place.run(["-p", "--session-id", "older", "first"], server);
  await place.run(["-p", "--session-id", "newer", "second"], server);
  for (const file of place.files())
    if (file.includes("older")) utimesSync(file, new Date("2090-01-01"), new Date("2090-01-01"));
  const end = await place.run(["-p", "--json", "-c", "third"], server);
  expect([end.code, checkedLines(end.stdout)[0]?.session_id]).toEqual([0, "newer"]);
  expect(lastMessages(server)).toEqual(["user: second", "assistant: two", "user: third"]);
});

test("-c takes no session of another folder", async () => {
  const place = sessionPlace();
  const server = await modelServer([says("one")]);
  await place.run(["-p", "first"], server);
  const end = await place.run(["-p", "-c", "-C", tempFolder(), "second"], server);
  expect(end).toMatchObject({
    code: 60,
    stdout: "",
    stderr: expect.stringContaining("There is no session of"),
  });
});

test("-r takes an id or the beginning of one, and refuses what is not there or not clear", async () => {
  const place = sessionPlace();
  const server = await modelServer([says("one"), says("two"), says("three"), says("four")]);
  await place.run(["-p", "--session-id", "abc1", "first"], server);
  await place.run(["-p", "--session-id", "abd2", "second"], server);
  expect((await place.run(["-p", "-r", "abc1", "more"], server)).code).toBe(0);
  expect((await place.run(["-p", "-r", "abd", "more"], server)).code).toBe(0);
  expect(lastMessages(server)).toEqual(["user: second", "assistant: two", "user: more"]);
  expect(await place.run(["-p", "-r", "ab", "more"], server)).toMatchObject({
    code: 60,
    stderr: expect.stringContaining("2 sessions begin with ab"),
  });
  expect((await place.run(["-p", "-r", "zzz", "more"], server)).code).toBe(60);
  expect((await place.run(["-p", "--session-id", "abc1", "x"], server)).code).toBe(60);
  expect(server.requests).toHaveLength(4);
});

test("-r moves a session whose folder was renamed: then -c and undo find it", async () => {
  const place = sessionPlace({ "old/a.txt": "one\n" });
  const [old, renamed] = [join(place.cwd, "old"), join(place.cwd, "renamed")];
  const server = await modelServer([
    says("one"),
    calls("read", { path: "a.txt" }),
    calls("write", { path: "a.txt", content: "two\n" }),
    says("two"),
    says("three"),
  ]);
  const run = (...args: string[]) =>
    place.run(["-p", "-C", renamed, "--permission-mode", "acceptEdits", ...args], server);
  await place.run(["-p", "-C", old, "--session-id", "abc", "first"], server);
  renameSync(old, renamed);
  const codes = [(await run("-r", "abc", "second")).code, (await run("-c", "third")).code];
  expect([codes, lastMessages(server)[0], place.files().length]).toEqual([[0, 0], "user: first", 1]);
  const undone = await runCommand(["undo"], { cwd: renamed, env: { XDG_STATE_HOME: place.state } });
  expect([undone.code, readFileSync(join(renamed, "a.txt"), "utf8")]).toEqual([0, "one\n"]);
});

test("--fork-session goes on in a copy and leaves the session as it is", async () => {
  const place = sessionPlace();
  const server = await modelServer([says("one"), says("two")]);
  await place.run(["-p", "--session-id", "origin", "first"], server);
  const [origin = ""] = place.files();
  const before = readFileSync(origin);
  const end = await place.run(["-p", "-c", "--fork-session", "--session-id", "copy", "second"], server);
  expect(end.code).toBe(0);
  expect(lastMessages(server)).toEqual(["user: first", "assistant: one", "user: second"]);
  expect(readFileSync(origin)).toEqual(before);
  expect(
    place
      .files()
      .map((file) => basename(file))
      .sort(),
  ).toEqual(["copy.jsonl", "origin.jsonl"]);
});

test("--no-session keeps nothing", async () => {
  const place = sessionPlace();
  const server = await modelServer([says("one")]);
  expect((await place.run(["-p", "--no-session", "go"], server)).code).toBe(0);
  expect(existsSync(join(place.state, "nano-agent"))).toBe(false);
});

test("a run that never began leaves no session", async () => {
  const place = sessionPlace();
  expect((await place.run(["-p", "-m", "anthropic/claude-sonnet-4-5", "go"])).code).toBe(41);
  expect(existsSync(join(place.state, "nano-agent"))).toBe(false);
});

test("an unfinished run says how to go on, and that works", async () => {
  const place = sessionPlace();
  const server = await modelServer([calls("read", { path: "." }), says("went on")]);
  const cut = await place.run(["-p", "--max-turns", "1", "go"], server);
  expect(cut).toMatchObject({
    code: 53,
    stderr: expect.stringContaining('continue with nano-agent -p -c "…"'),
  });
  expect(await place.run(["-p", "-c", "go on"], server)).toMatchObject({ code: 0, stdout: "went on\n" });
  server.assertFinished();
});

test("a call that was cut is reported, answered and not run again", async () => {
  const place = sessionPlace();
  const server = await modelServer([
    [
      calls("bash", { command: "echo ran >> ran.txt; kill -9 $PPID" }, "first"),
      calls("bash", { command: "echo ran >> never.txt" }, "second"),
    ],
    says("I see."),
  ]);
  const killed = await place.run(["-p", "--yolo", "go"], server);
  expect(killed.code).toBe(null);
  const end = await place.run(["-p", "-c", "--json", "go on"], server);
  const lines = checkedLines(end.stdout);
  expect([end.code, lines[1]]).toMatchObject([
    0,
    {
      subtype: "journal_repair",
      damaged: [],
      dropped_results: [],
      interrupted: [
        { tool_use_id: "first", name: "bash", outcome: "unknown" },
        { tool_use_id: "second", name: "bash", outcome: "never_ran" },
      ],
    },
  ]);
  expect(end.stderr).toContain("2 tool calls were interrupted (bash, outcome unknown, bash, never ran)");
  expect(lastMessages(server).slice(2)).toEqual([
    "tool: Error: interrupted, outcome unknown",
    "tool: Error: interrupted before it ran",
    "user: go on",
  ]);
  expect([
    readFileSync(join(place.cwd, "ran.txt"), "utf8"),
    existsSync(join(place.cwd, "never.txt")),
  ]).toEqual(["ran\n", false]);
});

test("damage is reported, left in the file, and what is whole is used", async () => {
  const place = sessionPlace();
  const server = await modelServer([says("one"), says("two")]);
  await place.run(["-p", "--session-id", "s", "first"], server);
  const [file = ""] = place.files();
  const torn = '{"v":1,"id":"torn","parent":null,"time":1,"ty';
  appendFileSync(file, torn);
  const before = readFileSync(file, "utf8");
  const line = before.split("\n").length;
  const end = await place.run(["-p", "-c", "--json", "second"], server);
  expect([end.code, checkedLines(end.stdout)[1]]).toMatchObject([
    0,
    { subtype: "journal_repair", file, damaged: [{ line, reason: "cut short" }] },
  ]);
  expect(end.stderr).toContain(`line ${line}: cut short`);
  expect(lastMessages(server)).toEqual(["user: first", "assistant: one", "user: second"]);
  expect(readFileSync(file, "utf8").startsWith(`${before}\n`)).toBe(true);
});

test("60: a second writer, naming the process and the way out, which works", async () => {
  const place = sessionPlace();
  const server = await modelServer([
    replies({ answer: says("Partial words that never go on."), stall: 900 }),
    says("copy"),
  ]);
  const first = place.start(
    ["-p", "--session-id", "s", "--json", "--include-partial-messages", "go"],
    server,
  );
  await first.says("content_block_delta");
  const second = await place.run(["-p", "-r", "s", "more"], server);
  expect(second.code).toBe(60);
  expect(second.stderr).toContain(`process ${first.child.pid}`);
  expect(second.stderr).toContain("nano-agent --resume s --fork-session");
  const preview = await place.run(["sessions", "compact", "s", "--preview"], server);
  expect([preview.code, preview.stderr]).toEqual([60, second.stderr]);
  expect(await place.run(["-p", "-r", "s", "--fork-session", "more"], server)).toMatchObject({
    code: 0,
    stdout: "copy\n",
  });
  first.child.kill("SIGINT");
  expect((await first.end).code).toBe(130);
});

test("60: a newer version, the file untouched", async () => {
  const place = sessionPlace();
  const server = await modelServer([says("one")]);
  await place.run(["-p", "go"], server);
  const [file = ""] = place.files();
  writeFileSync(file, readFileSync(file, "utf8").replace('{"v":1,', '{"v":2,'));
  const before = readFileSync(file);
  const end = await place.run(["-p", "-c", "more"], server);
  expect(end).toMatchObject({ code: 60, stderr: expect.stringContaining("is of version 2") });
  expect(readFileSync(file)).toEqual(before);
  expect(server.requests).toHaveLength(1);
});

test("60: linked session files and folders, which are not followed", async () => {
  const place = sessionPlace();
  const server = await modelServer([says("one")]);
  await place.run(["-p", "--session-id", "s", "go"], server);
  const [file = ""] = place.files();
  const away = join(tempFolder(), "away");
  renameSync(file, away);
  symlinkSync(away, file);
  const before = readFileSync(away);
  expect((await place.run(["-p", "-c", "more"], server)).code).toBe(60);
  rmSync(file);
  renameSync(away, file);
  const folder = dirname(file);
  renameSync(folder, away);
  symlinkSync(away, folder);
  for (const args of [["-c"], ["-r", "s"], []])
    expect((await place.run(["-p", ...args, "more"], server)).code).toBe(60);
  expect(readFileSync(join(away, "s.jsonl"))).toEqual(before);
  expect(server.requests).toHaveLength(1);
});

test("60: no place for sessions, unless none is wanted", async () => {
  const place = sessionPlace();
  writeFileSync(join(place.state, "nano-agent"), "a file");
  const server = await modelServer([says("one")]);
  const end = await place.run(["-p", "go"], server);
  expect(end).toMatchObject({ code: 60, stdout: "", stderr: expect.stringContaining("--no-session") });
  expect(await place.run(["-p", "--no-session", "go"], server)).toMatchObject({ code: 0, stdout: "one\n" });
});

test("60: the file goes away while the run is at work; what is left undone is said", async () => {
  const place = sessionPlace();
  const server = await modelServer([
    calls("bash", { command: 'rm "$XDG_STATE_HOME"/nano-agent/sessions/*/*.jsonl' }),
    says("never asked"),
  ]);
  const end = await place.run(["-p", "--yolo", "--json", "go"], server);
  expect([end.code, checkedLines(end.stdout).at(-1)]).toMatchObject([
    60,
    { type: "result", is_error: true, error: { code: "journal" } },
  ]);
  expect(end.stderr).toContain("Nothing of the session is left.");
  expect(server.requests).toHaveLength(1);
});

test("lists show times by the clock of the place they are read in", async () => {
  const place = sessionPlace();
  await place.run(["-p", "--session-id", "s1", "go"], await modelServer([says("one")]));
  utimesSync(place.files()[0] ?? "", new Date("2026-01-31T12:34:56Z"), new Date("2026-01-31T12:34:56Z"));
  const listIn = async (TZ: string): Promise<string> => {
    const env = { XDG_STATE_HOME: place.state, TZ };
    return (await runCommand(["sessions", "list"], { env, cwd: place.cwd })).stdout;
  };
  expect([await listIn("Pacific/Kiritimati"), await listIn("America/St_Johns")]).toEqual([
    "2026-02-01 02:34  s1  go\n",
    "2026-01-31 09:04  s1  go\n",
  ]);
});

test("session folders of other modes are made private again", async () => {
  const place = sessionPlace();
  mkdirSync(place.sessions, { recursive: true, mode: 0o755 });
  chmodSync(place.sessions, 0o755);
  const server = await modelServer([says("one")]);
  await place.run(["-p", "go"], server);
  expect(statSync(place.sessions).mode & 0o777).toBe(0o700);
});

test("sessions list, show, export and rm tell of what is kept", async () => {
  const place = sessionPlace();
  const server = await modelServer([[says("Looking."), calls("read", { path: "." })], says("done")]);
  await place.run(["-p", "--session-id", "s1", "What is here?"], server);
  expect((await place.run(["sessions", "list"])).stdout).toMatch(
    /^\d{4}-\d\d-\d\d \d\d:\d\d {2}s1 {2}What is here\?\n$/,
  );
  expect(JSON.parse((await place.run(["sessions", "list", "--json"])).stdout)).toMatchObject([
    { session_id: "s1", title: "What is here?", file: place.files()[0] },
  ]);
  expect(JSON.parse((await place.run(["sessions", "show", "s1", "--json"])).stdout)).toMatchObject({
    session_id: "s1",
    cwd: place.cwd,
    records: 8,
    damaged: [],
    runs: 1,
    stop_reason: "completed",
    tools: { read: { calls: 1, failed: 0, refused: 0 } },
  });
  expect((await place.run(["sessions", "show"])).stdout).toContain("runs      1, the last one: completed");
  const markdown = (await place.run(["sessions", "export"])).stdout;
  expect(markdown).toMatch(
    /## User\n\nWhat is here\?\n\n## Assistant\n\nLooking\.\n\n\*\*read\*\*\n\n```json/,
  );
  const exported: unknown = JSON.parse((await place.run(["sessions", "export", "s1", "--json"])).stdout);
  expect(exported).toMatchObject({
    session_id: "s1",
    messages: [{ role: "user" }, { role: "assistant" }, { role: "user" }, { role: "assistant" }],
  });
  // A full disk is a reason to remove something, and none against it.
  expect(await place.run(["sessions", "rm", "s1"], undefined, { fileBlocks: 0 })).toMatchObject({
    code: 0,
    stdout: "Removed s1\n",
  });
  expect(place.files()).toEqual([]);
  expect((await place.run(["sessions", "show", "s1"])).code).toBe(60);
});

test("sessions verify says for each file whether it is whole", async () => {
  const place = sessionPlace();
  const server = await modelServer([says("one")]);
  await place.run(["-p", "--session-id", "s", "go"], server);
  const [file = ""] = place.files();
  const good = await place.run(["sessions", "verify", file]);
  expect(good).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(good.stdout)).toEqual({ file, ok: true, records: 5, damaged: [], session_id: "s" });
  expect((await place.run(["sessions", "verify", "s"])).stdout).toBe(good.stdout);
  const bad = join(tempFolder(), "bad.jsonl");
  writeFileSync(bad, readFileSync(file, "utf8").replace('"one"', '"two"'));
  const mixed = await place.run(["sessions", "verify", file, bad]);
  expect(mixed.code).toBe(1);
  expect(
    mixed.stdout
      .trimEnd()
      .split("\n")
      .map((line): unknown => JSON.parse(line)),
  ).toMatchObject([
    { ok: true },
    { file: bad, ok: false, records: 4, damaged: [{ line: 4, reason: "wrong checksum" }], session_id: "s" },
  ]);
  for (const nowhere of [join(place.state, "nowhere"), "nowhere"])
    expect((await place.run(["sessions", "verify", file, nowhere])).code).toBe(2);
});

test("a model that the session was changed to is told, and that the session speaks for it", async () => {
  const { cwd, state, run } = sessionPlace();
  const server = await modelServer([says("One."), says("Two.")]);
  await using session = await createCodingSession({
    cwd,
    environment: withVariables({ ...serverEnv(server), XDG_STATE_HOME: state, HOME: tempFolder() }),
  });
  await session.send("first");
  await session.setModel("openai/gpt-5-mini");
  await session.close();
  const { stdout, stderr } = await run(["-p", "-c", "--json", "second"], server);
  expect(checkedLines(stdout)[0]).toMatchObject({ model: "openai/gpt-5-mini", model_source: "the session" });
  expect(stderr).toBe("nano-agent: model openai/gpt-5-mini, because of the session\n");
});

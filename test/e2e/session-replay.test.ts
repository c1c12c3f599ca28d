import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv } from "./command.ts";
import { lastMessages, type SessionPlace, sessionPlace } from "./session-place.ts";

/** A session of two runs that reads, writes, and is refused something. */
async function workedPlace(): Promise<SessionPlace> {
  const place = sessionPlace({ "notes.txt": "remember the milk\n" });
  const server = await modelServer([
    [calls("read", { path: join(place.cwd, "notes.txt") }), calls("bash", { command: "touch forbidden" })],
    says("It says milk."),
    calls("write", { path: "list.txt", content: "milk\n" }),
    says("Written."),
  ]);
  await place.run(["-p", "--session-id", "s", "What do the notes say?"], server);
  await place.run(["-p", "-r", "s", "--permission-mode", "acceptEdits", "Make a list"], server);
  server.assertFinished();
  return place;
}

/** What a replay may not change: workspace and sessions. */
function snapshot(place: SessionPlace): readonly string[] {
  return [...readdirSync(place.cwd).sort(), ...place.files().map((file) => readFileSync(file, "utf8"))];
}

test("sessions replay finds nothing in a session as it was, needs no model and writes nothing", async () => {
  const place = await workedPlace();
  const before = snapshot(place);
  const end = await place.run(["sessions", "replay", "s"]);
  expect(end).toEqual({
    code: 0,
    stdout: "s: the same\n2 runs, 4 requests, 3 tool calls compared\n",
    stderr: "",
  });
  expect(snapshot(place)).toEqual(before);
});

test("sessions replay --live-tools works in a copy, which goes, and compares what the tools give now", async () => {
  const place = await workedPlace();
  const same = await place.run(["sessions", "replay", "s", "--live-tools", "--json"]);
  expect([same.code, JSON.parse(same.stdout)]).toMatchObject([
    1,
    {
      same: false,
      calls: 3,
      calls_run: 2,
      differences: [{ aspect: "tool_result", step: 3, call: { name: "write" } }],
    },
  ]);
  writeFileSync(join(place.cwd, "notes.txt"), "remember the bread\n");
  const before = snapshot(place);
  const temporary = tempFolder();
  const changed = await runCommand(["sessions", "replay", "s", "--live-tools"], {
    cwd: place.cwd,
    env: { XDG_STATE_HOME: place.state, TMPDIR: temporary },
  });
  expect(changed.code).toBe(1);
  expect(changed.stdout).toMatch(
    /run 1, step 1, read \(call_\w+\): tool result differs at content\n {2}recorded .*milk.*\n {2}now .*bread/,
  );
  expect(snapshot(place)).toEqual(before);
  expect(existsSync(join(place.cwd, "forbidden"))).toBe(false);
  const copies = readdirSync(temporary).filter((name) => name.startsWith("nano-agent-replay-"));
  expect(copies.flatMap((name) => readdirSync(join(temporary, name)))).toEqual([]);
});

test("a session with subagents is the same; what they did stays as it is recorded", async () => {
  const place = sessionPlace({ "a.txt": "x\n" });
  const explore = (prompt: string) => calls("task", { agent: "explore", prompt });
  const server = await modelServer([
    [explore("one"), calls("read", { path: "a.txt" })],
    calls("read", { path: "a.txt" }),
    says("x"),
    says("It is x."),
  ]);
  await place.run(["-p", "--session-id", "s", "go"], server);
  const end = await place.run(["sessions", "replay", "s"]);
  expect(end).toEqual({
    code: 0,
    stdout:
      "s: the same\n1 run, 2 requests, 2 tool calls compared\nnot run again: requests of subagents (2)\n",
    stderr: "",
  });
});

test("commands that are not allowed do not run in the copy either", async () => {
  const place = sessionPlace();
  const outside = join(tempFolder(), "outside");
  const server = await modelServer([calls("bash", { command: `echo x >> ${outside}; pwd` }), says("ok")]);
  await place.run(["-p", "--yolo", "--session-id", "s", "go"], server);
  const before = readFileSync(outside, "utf8");
  const end = await place.run(["sessions", "replay", "s", "--live-tools"]);
  expect([end.code, readFileSync(outside, "utf8")]).toEqual([0, before]);
  expect(end.stdout).toContain("from the record: 1 call (bash: ");
  const all = await place.run(["sessions", "replay", "s", "--live-tools", "--yolo", "--json"]);
  expect(JSON.parse(all.stdout)).toMatchObject({ differences: [], calls_run: 1 });
});

test("live tools keep to the rules of the user, whose hooks do not run", async () => {
  const [cwd, state, config, marks] = [tempFolder(), tempFolder(), tempFolder(), tempFolder()];
  const server = await modelServer([calls("bash", { command: `touch ${marks}/call` }), says("ok")]);
  const env = { XDG_STATE_HOME: state, XDG_CONFIG_HOME: config, ...serverEnv(server) };
  await runCommand(["-p", "--yolo", "--session-id", "s", "go"], { cwd, env });
  expect(readdirSync(marks)).toEqual(["call"]);
  rmSync(join(marks, "call"));
  const hooks = { SessionStart: [{ hooks: [{ type: "command", command: `touch ${marks}/hook` }] }] };
  mkdirSync(join(config, "nano-agent"));
  writeFileSync(
    join(config, "nano-agent/config.json"),
    JSON.stringify({ permissions: { deny: ["bash(touch *)"] }, hooks }),
  );
  const { code, stdout } = await runCommand(["sessions", "replay", "s", "--live-tools", "--yolo"], {
    cwd,
    env,
  });
  expect([code, readdirSync(marks)]).toEqual([0, []]);
  expect(stdout).toContain("The rule bash(touch *) forbids");
});

test("sessions replay says where a journal differs from what the loop makes of it", async () => {
  const place = await workedPlace();
  const [file = ""] = place.files();
  const lines = readFileSync(file, "utf8").split("\n");
  const at = lines.findIndex((line) => line.includes('"type":"tool_result"') && line.includes("milk"));
  writeFileSync(file, lines.toSpliced(at, 1).join("\n"));
  const end = await place.run(["sessions", "replay", "s", "--json"]);
  expect([end.code, JSON.parse(end.stdout)]).toMatchObject([
    0,
    { same: true, not_replayed: { "interrupted calls": 1 }, damaged: [{ line: at + 1 }] },
  ]);
});

test("--from N forks before a step, with and without a prompt, and leaves the session as it is", async () => {
  const place = await workedPlace();
  const before = snapshot(place);
  const server = await modelServer([says("Other."), says("Told.")]);
  const bare = await place.run(
    ["-p", "-r", "s", "--fork-session", "--session-id", "fork", "--from", "4"],
    server,
  );
  expect(bare).toMatchObject({ code: 0, stdout: "Other.\n" });
  expect(lastMessages(server).at(-1)).toMatch(/^tool: .*list\.txt/);
  const told = await place.run(
    ["-p", "-r", "s", "--fork-session", "--from", "3", "-m", "openai/gpt-5-mini", "In upper case"],
    server,
  );
  expect(told).toMatchObject({ code: 0, stdout: "Told.\n" });
  expect(lastMessages(server).slice(-2)).toEqual(["user: Make a list", "user: In upper case"]);
  expect(server.requests.at(-1)?.body).toMatchObject({ model: "gpt-5-mini" });
  for (const kept of before) expect(snapshot(place)).toContain(kept);
  expect(JSON.parse((await place.run(["sessions", "show", "fork", "--json"])).stdout)).toMatchObject({
    forked_from: "s",
    steps: [{ step: 1 }, { step: 2 }, { step: 3 }, { step: 4, text: "Other." }],
  });
});

test("--from N without a fork sets aside what came later, and -c goes on from there", async () => {
  const place = await workedPlace();
  const [file = ""] = place.files();
  const before = readFileSync(file, "utf8");
  const server = await modelServer([says("Again."), says("And on.")]);
  expect(await place.run(["-p", "-c", "--from", "2"], server)).toMatchObject({ code: 0, stdout: "Again.\n" });
  expect(await place.run(["-p", "-c", "more"], server)).toMatchObject({ code: 0, stdout: "And on.\n" });
  expect(lastMessages(server).slice(-2)).toEqual(["assistant: Again.", "user: more"]);
  expect(readFileSync(file, "utf8").startsWith(before)).toBe(true);
  expect(await place.run(["sessions", "verify", file])).toMatchObject({ code: 0 });
  expect(await place.run(["sessions", "replay", "s"])).toMatchObject({ code: 0 });
});

test("2: a step that is not a number or not there, before anything is asked or written", async () => {
  const place = await workedPlace();
  const before = snapshot(place);
  const server = await modelServer([]);
  for (const args of [
    ["-p", "-r", "s", "--fork-session", "--from", "9", "go"],
    ["-p", "-c", "--from", "9", "go"],
    ["-p", "-c", "--from", "zero", "go"],
    ["-p", "-c", "--from", "0"],
    ["-p", "--from", "1", "go"],
    ["sessions", "replay", "s", "--from", "9"],
    ["sessions", "replay", "s", "--from", "x"],
    ["sessions", "replay", "s", "--yolo"],
    ["sessions", "replay", "s", "--nonsense"],
  ]) {
    const end = await place.run(args, server);
    expect([args.join(" "), end.code, end.stdout]).toEqual([args.join(" "), 2, ""]);
  }
  expect((await place.run(["-p", "-c", "--from", "9", "go"], server)).stderr).toContain(
    "Step 9: the session has the steps 1 to 4.",
  );
  expect(snapshot(place)).toEqual(before);
  expect(server.requests).toEqual([]);
});

test("sessions show prints the numbers of the steps; --stats adds up time, tokens, cache and cost", async () => {
  const place = await workedPlace();
  const shown = (await place.run(["sessions", "show", "s"])).stdout;
  expect(shown).toMatch(
    /\n❯ What do the notes say\?\n\nstep 1\n✓ read .*\n✗ bash touch forbidden {2}refused\n.*\n\nstep 2\nIt says milk\.\n/s,
  );
  expect(shown).toMatch(
    /\n❯ Make a list\n\nstep 3\n✓ write list\.txt {2}.*\n\nstep 4\nWritten\.\n✓ Done {2}[^\n]*\n {2}1 file changed · nothing was run since the last change\n$/s,
  );
  const stats: unknown = JSON.parse((await place.run(["sessions", "show", "s", "--stats", "--json"])).stdout);
  expect(stats).toMatchObject({
    session_id: "s",
    runs: 2,
    stop_reason: "completed",
    time: { run_ms: expect.any(Number), model_ms: expect.any(Number), tool_ms: expect.any(Number) },
    total: { requests: 4, interrupted: 0, cache_hit_rate: expect.any(Number), cost_usd: expect.any(Number) },
    models: { "openai/gpt-5": { requests: 4 } },
    tools: {
      read: { calls: 1, errors: 0, refused: 0 },
      bash: { calls: 1, errors: 0, refused: 1 },
      write: { calls: 1 },
    },
  });
  expect((await place.run(["sessions", "show", "s", "--stats"])).stdout).toMatch(
    /^s: 2 runs, .*\n\nmodel +requests +input +cached +hits +output +cost +time\n/,
  );
});

test("sessions export --format html writes a page, into a file of the user's alone and through no link", async () => {
  const place = await workedPlace();
  const printed = await place.run(["sessions", "export", "s", "--format", "html"]);
  expect([printed.code, printed.stdout.slice(0, 15)]).toEqual([0, "<!doctype html>"]);
  const file = join(tempFolder({ victim: "keep" }), "page.html");
  expect(await place.run(["sessions", "export", "s", "--format", "html", "--output", file])).toMatchObject({
    code: 0,
    stdout: "",
  });
  expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual([printed.stdout, 0o600]);
  const link = file.replace("page", "link");
  symlinkSync(file.replace("page.html", "victim"), link);
  expect((await place.run(["sessions", "export", "s", "-o", link])).code).toBe(2);
  expect(readFileSync(file.replace("page.html", "victim"), "utf8")).toBe("keep");
  expect((await place.run(["sessions", "export", "s", "--format", "pdf"])).code).toBe(2);
  expect((await place.run(["sessions", "export", "s", "--json", "--format", "html"])).code).toBe(2);
});

test("sessions find finds sessions of the folder by text", async () => {
  const place = await workedPlace();
  const found = await place.run(["sessions", "find", "milk", "notes"]);
  expect(found).toMatchObject({ code: 0, stderr: "" });
  expect(found.stdout).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d {2}s {2}step \d+.*\n {4}.*(?:milk|notes)/);
  expect(JSON.parse((await place.run(["sessions", "find", "milk", "--json"])).stdout)).toMatchObject([
    { session_id: "s", by: "index" },
  ]);
  expect((await place.run(["sessions", "find", "牛奶"])).stdout).toContain("No session holds");
  expect((await place.run(["sessions", "find"])).code).toBe(2);
});

test("sessions import makes a session that goes on; what is not a session is refused", async () => {
  const place = sessionPlace({
    "pi.jsonl":
      '{"type":"session","id":"x","timestamp":"2026-01-01T00:00:00Z"}\n{"type":"message","message":{"role":"user","content":"Hello"}}\n{torn\n',
    "other.txt": "no session",
  });
  const made = await place.run(["sessions", "import", "pi.jsonl", "--json"]);
  const report = JSON.parse(made.stdout) as { readonly session_id: string };
  expect([made.code, report]).toMatchObject([
    0,
    { program: "pi", inputs: 1, damaged: [{ line: 3, reason: "no JSON" }] },
  ]);
  expect(place.files().map((file) => basename(file, ".jsonl"))).toEqual([report.session_id]);
  const twice = await place.run(["sessions", "import", "pi.jsonl"]);
  expect([twice.code, twice.stdout, twice.stderr.replaceAll(/\s+/g, " "), place.files().length]).toEqual([
    2,
    "",
    expect.stringContaining(`was imported already, as the session ${report.session_id}.`),
    1,
  ]);
  const again = await place.run(["sessions", "import", "pi.jsonl", "--again"]);
  expect([again.code, place.files().length]).toEqual([0, 2]);
  const server = await modelServer([says("Hello again.")]);
  expect(await place.run(["-p", "-r", report.session_id, "And?"], server)).toMatchObject({
    code: 0,
    stdout: "Hello again.\n",
  });
  expect(lastMessages(server)).toEqual(["user: Hello", "user: And?"]);
  const bad = await place.run(["sessions", "import", "other.txt", "nowhere.jsonl"]);
  expect([bad.code, bad.stdout, bad.stderr.split("\n").length]).toEqual([2, "", 3]);
});

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { treeOf } from "../undo-room.ts";
import { modelServer } from "./command.ts";
import { lastMessages, sessionPlace } from "./session-place.ts";

test("a run is taken back and brought again, and the model is told", async () => {
  const place = sessionPlace({ "a.txt": "one\n", "sub/b.txt": "two\n" });
  const server = await modelServer([
    [calls("read", { path: "a.txt" })],
    [calls("edit", { path: "a.txt", edits: [{ old_string: "one", new_string: "ONE" }] })],
    [calls("bash", { command: "mkdir gen && seq 3 > gen/out.txt && rm sub/b.txt && chmod 755 a.txt" })],
    [
      calls("batch", {
        calls: [
          { tool: "write", input: { path: "c/new.txt", content: "new" } },
          { tool: "bash", input: { command: "ln -s a.txt link" } },
        ],
      }),
    ],
    says("done"),
    says("I see."),
  ]);
  const before = treeOf(place.cwd);
  expect((await place.run(["-p", "--yolo", "change things"], server)).code).toBe(0);
  const after = treeOf(place.cwd);
  const list = await place.run(["undo", "--list"]);
  expect(list.stdout.replace(/\d{4}-\d\d-\d\d \d\d:\d\d/, "TIME")).toBe(
    [
      "1     TIME  change things",
      "  1.2     edit: a.txt",
      "  1.3     bash: a.txt, gen, gen/out.txt, sub/b.txt",
      "  1.4     write, bash: c, c/new.txt, link",
      "",
    ].join("\n"),
  );
  const undone = await place.run(["undo"]);
  expect([undone.code, undone.stdout]).toEqual([
    0,
    expect.stringContaining("Undone, back to before turn 1:"),
  ]);
  expect(treeOf(place.cwd)).toEqual(before);
  expect((await place.run(["redo"])).code).toBe(0);
  expect(treeOf(place.cwd)).toEqual(after);
  expect((await place.run(["undo", "1.4"])).code).toBe(0);
  expect(existsSync(join(place.cwd, "c"))).toBe(false);
  expect(existsSync(join(place.cwd, "gen"))).toBe(true);
  expect((await place.run(["undo", "--", "sub"])).code).toBe(0);
  expect(readFileSync(join(place.cwd, "sub/b.txt"), "utf8")).toBe("two\n");
  expect((await place.run(["undo"])).code).toBe(0);
  expect(treeOf(place.cwd)).toEqual(before);
  await place.run(["-p", "-c", "and now?"], server);
  expect(lastMessages(server).filter((message) => message.includes("sub/b.txt: back again"))).toHaveLength(2);
});

test("a command that removed the whole working folder is taken back into a new one", async () => {
  const place = sessionPlace({ "a.txt": "one\n", "sub/b.txt": "two\n" });
  const before = treeOf(place.cwd);
  const server = await modelServer([calls("bash", { command: 'rm -rf "$PWD"' }), says("done")]);
  expect((await place.run(["-p", "--yolo", "clean up"], server)).code).toBe(0);
  mkdirSync(place.cwd);
  expect((await place.run(["undo"])).code).toBe(0);
  expect(treeOf(place.cwd)).toEqual(before);
});

test("what a subagent changed belongs to the turn that started it", async () => {
  const place = sessionPlace({ "a.txt": "one\n" });
  const server = await modelServer([
    calls("task", { agent: "general", prompt: "Write." }),
    calls("write", { path: "b.txt", content: "b" }),
    calls("bash", { command: "echo c > c.txt" }),
    says("Written."),
    calls("write", { path: "d.txt", content: "d" }),
    says("done"),
  ]);
  const before = treeOf(place.cwd);
  expect((await place.run(["-p", "--yolo", "go"], server)).code).toBe(0);
  const list = await place.run(["undo", "--list"]);
  expect(list.stdout.replace(/\d{4}-\d\d-\d\d \d\d:\d\d/, "TIME")).toBe(
    ["1     TIME  go", "  1.1     write, bash: b.txt, c.txt", "  1.2     write: d.txt", ""].join("\n"),
  );
  expect((await place.run(["undo", "1.2"])).code).toBe(0);
  expect(Object.keys(treeOf(place.cwd))).toEqual(["a.txt", "b.txt", "c.txt"]);
  expect((await place.run(["undo"])).code).toBe(0);
  expect(treeOf(place.cwd)).toEqual(before);
});

test("what a pattern changed in one of its phases has the number of the answer", async () => {
  const place = sessionPlace({});
  const server = await modelServer([
    calls("write", { path: "a.txt", content: "a" }),
    calls("write", { path: "b.txt", content: "b" }),
    says("done"),
    says("Good. No changes needed."),
    says("done"),
  ]);
  await place.run(["-p", "--yolo", "--pattern", "reflection", "go"], server);
  const { stdout } = await place.run(["undo", "--list"]);
  expect(stdout.split("\n").slice(1)).toEqual(["  1.1     write: a.txt", "  1.2     write: b.txt", ""]);
  expect((await place.run(["undo", "1.2"])).code).toBe(0);
  expect(Object.keys(treeOf(place.cwd))).toEqual(["a.txt"]);
});

test("changes of the user are named and kept, unless --force", async () => {
  const place = sessionPlace({ "a.txt": "one\n" });
  const server = await modelServer([
    [calls("bash", { command: "echo agent > a.txt; echo x > b.txt" })],
    says("done"),
  ]);
  await place.run(["-p", "--yolo", "go"], server);
  writeFileSync(join(place.cwd, "a.txt"), "mine\n");
  const refused = await place.run(["undo"]);
  expect(refused).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("a.txt: changed since"),
  });
  expect([readFileSync(join(place.cwd, "a.txt"), "utf8"), existsSync(join(place.cwd, "b.txt"))]).toEqual([
    "mine\n",
    true,
  ]);
  expect((await place.run(["undo", "--force", "--json"])).code).toBe(0);
  expect(treeOf(place.cwd)).toEqual({ "a.txt": "file 644 one\n" });
  expect((await place.run(["redo"])).code).toBe(0);
  expect(readFileSync(join(place.cwd, "a.txt"), "utf8")).toBe("mine\n");
});

test("a repository of the user is neither needed nor touched", async () => {
  const place = sessionPlace({ "a.txt": "one\n", ".gitignore": "ignored.log\n", "ignored.log": "old\n" });
  const git = (...args: readonly string[]): string =>
    execFileSync(
      "git",
      ["-c", "user.name=u", "-c", "user.email=u@example.org", "-c", "core.hooksPath=/dev/null", ...args],
      { cwd: place.cwd, encoding: "utf8" },
    );
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "first");
  writeFileSync(join(place.cwd, ".git/hooks/post-checkout"), "#!/bin/sh\ntouch ../ran\n", { mode: 0o755 });
  const bytes = (): string =>
    createHash("sha256")
      .update(JSON.stringify(treeOf(join(place.cwd, ".git"))))
      .digest("hex");
  const before = [bytes(), treeOf(place.cwd)];
  const server = await modelServer([
    [calls("bash", { command: "echo two > a.txt; echo new >> ignored.log; echo u > untracked" })],
    says("done"),
  ]);
  expect((await place.run(["-p", "--yolo", "go"], server)).code).toBe(0);
  expect((await place.run(["undo"])).code).toBe(0);
  expect([bytes(), treeOf(place.cwd)]).toEqual(before);
  expect(git("status", "--porcelain")).toBe("");
});

test("what is kept is the user's alone, goes with the session, and can be switched off", async () => {
  const place = sessionPlace({ "a.txt": "one\n" });
  const step = [calls("bash", { command: "echo two >> a.txt" })];
  const server = await modelServer([step, says("1"), step, says("2"), step, says("3")]);
  const store = join(place.state, "nano-agent", "checkpoints");
  await place.run(["-p", "--yolo", "--no-undo", "go"], server);
  await place.run(["-p", "--yolo", "--no-session", "go"], server);
  expect(existsSync(store)).toBe(false);
  expect(await place.run(["undo"])).toMatchObject({
    code: 0,
    stdout:
      "There is nothing to undo in this session; --session ID names another one (nano-agent sessions list).\n",
  });
  await place.run(["-p", "--yolo", "--session-id", "s", "go"], server);
  for (const [path, entry] of Object.entries(treeOf(store)))
    expect([path, entry]).toEqual([path, expect.stringMatching(/^(folder 700|file 600)/)]);
  expect(statSync(store).mode & 0o777).toBe(0o700);
  expect((await place.run(["sessions", "rm", "s"])).code).toBe(0);
  expect(treeOf(store)).toEqual({});
});

test("a call that was killed is found by the next undo, which asks before it takes back what it cannot tell apart", async () => {
  const place = sessionPlace({ "a.txt": "one\n" });
  const server = await modelServer([[calls("bash", { command: "echo two > a.txt; kill -9 $PPID" })]]);
  expect((await place.run(["-p", "--yolo", "go"], server)).code).toBe(null);
  expect(await place.run(["undo"])).toMatchObject({ code: 1, stderr: expect.stringContaining("a.txt") });
  expect((await place.run(["undo", "--force"])).code).toBe(0);
  expect(readFileSync(join(place.cwd, "a.txt"), "utf8")).toBe("one\n");
});

test.each([
  [["undo", "x"], "is not a turn"],
  [["undo", "7"], "There is no turn 7"],
  [["undo", "1", "a.txt"], "one word too many"],
  [["undo", "--forse"], "Did you mean --force"],
  [["redo", "1"], 'redo: "1" is one word too many'],
])("2: %j", async (args, message) => {
  const place = sessionPlace({ "a.txt": "one\n" });
  const server = await modelServer([says("hello")]);
  await place.run(["-p", "go"], server);
  expect(await place.run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
});

test.each([[["undo"]], [["undo", "--list"]]])(
  "%j in a session without changes names the one before that has some",
  async (args) => {
    const place = sessionPlace({});
    const writing = await modelServer([calls("write", { path: "new.txt", content: "x" }), says("Done.")]);
    await place.run(["-p", "--permission-mode", "acceptEdits", "make a file"], writing);
    const [first = ""] = place.files();
    await place.run(["-p", "hello"], await modelServer([says("Hi.")]));
    const { stdout } = await place.run(args);
    const id = basename(first, ".jsonl");
    expect(stdout).toContain(`An earlier one changed files (make a file): nano-agent undo --session ${id}`);
    expect((await place.run([...args, "--json"])).stdout).not.toContain("An earlier one");
    expect((await place.run([...args, "--session", id])).stdout).toContain("new.txt");
  },
);

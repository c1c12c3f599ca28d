import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { says } from "../../src/testing/script.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand } from "./command.ts";
import { obedient, place, requestOf, suiteOf, twoTasks } from "./suite-room.ts";

test("--list shows tasks and filters choose among them, without a model", async () => {
  const { run } = place();
  const suite = twoTasks();
  const list = async (...args: readonly string[]): Promise<string> =>
    (await run(suite, "--list", ...args)).stdout;
  expect(await list()).toBe("one  First  [easy]\ntwo  [hard]\n");
  expect(await list("--tag", "hard")).toBe("two  [hard]\n");
  expect(await list("--task", "one", "--tag", "easy")).toBe("one  First  [easy]\n");
  const wrong = await run(suite, "--list", "--task", "onne");
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("Did you mean one?")]);
});

test.each([
  [{}, [], "holds no tasks"],
  [{ "a/notes.md": "" }, [], "has no task.md"],
  [{ "a/task.md": "Do it." }, [], "has no check"],
  [{ "a/task.md": "---\ntitle: x\n---\n", "a/check": "" }, [], "holds no prompt"],
  [{ "a/task.md": "---\ntitle: [\n---\nDo it.", "a/check": "" }, [], "the front matter"],
  [{ "a/task.md": "---\nlimit: {}\n---\nDo it.", "a/check": "" }, [], "Did you mean limits?"],
  [
    { "a/task.md": "---\nlimits: { time: 90 }\n---\nDo it.", "a/check": "" },
    [],
    "limits.time is 90; it must be a time such as",
  ],
  [
    { "a/task.md": "---\nlimits: { turns: 0 }\n---\nDo it.", "a/check": "" },
    [],
    "it must be a whole number from 1",
  ],
  [{ "a/task.md": "Do it.", "a/check": "", "b/files": "" }, [], "files is not a folder"],
  [{ "a/task.md": "Do it.", "a/check": "" }, ["--jobs", "0"], "--jobs"],
  [{ "a/task.md": "Do it.", "a/check": "" }, ["--repeat", "many"], "write a whole number from 1"],
  [
    { "a/task.md": "Do it.", "a/check": "" },
    ["--max-budget-usd", "1", "-m", "ollama/nobody-knows"],
    "needs prices",
  ],
  [
    { "a/task.md": "---\nlimits: { usd: 1 }\n---\nDo it.", "a/check": "" },
    ["-m", "ollama/nobody-knows"],
    "limits.usd of the task a needs prices",
  ],
  [{ "a/task.md": "Do it.", "a/check": "#!/bin/sh\r\nexit 1\r\n" }, [], "has the line ends of Windows"],
  [{ "a/task.md": "/help me", "a/check": "" }, [], 'The task "a": There is no command /help'],
] as const)("%j with %j is refused with code 2 before any request", async (files, args, message) => {
  const server = await modelServer(obedient);
  const { run } = place(server);
  const end = await run(suiteOf(files), ...args);
  expect([end.code, end.stderr.replaceAll(/\s+/g, " ")]).toEqual([2, expect.stringContaining(message)]);
  expect(server.requests).toEqual([]);
});

test("a check that may not be executed, and two tasks of one name, are refused", async () => {
  const { run, cwd, env } = place();
  const plain = tempFolder({ "a/task.md": "Do it.", "a/check": "#!/bin/sh\n" });
  const end = await run(plain);
  expect([end.code, end.stderr]).toEqual([2, expect.stringContaining("check may not be executed: chmod +x")]);
  const twice = await runCommand(["eval", "validate", twoTasks(), twoTasks()], { cwd, env });
  expect([twice.code, twice.stderr]).toEqual([2, expect.stringContaining('Two tasks have the name "one"')]);
});

test("a program that lies outside of its task is refused, for no hash tells when it was changed", async () => {
  const { run } = place();
  const suite = suiteOf({ "a/task.md": "Do it.", "shared/task.md": "Do it.", "shared/check": "" });
  symlinkSync("../shared/check", join(suite, "a/check"));
  const end = await run(suite);
  expect([end.code, end.stderr]).toEqual([2, expect.stringContaining("check is a link that leads out of")]);
});

test("a blank before a slash makes a prompt of it, and results in the suite are no tasks", async () => {
  const server = await modelServer(() => says("I cannot help."));
  const suite = suiteOf({ "a/task.md": "\n /help me\n", "a/check": "#!/bin/sh\nexit 0\n" });
  const { run, env } = place(server);
  const end = await runCommand(["eval", "."], { cwd: suite, env });
  expect([end.code, readdirSync(suite).length]).toEqual([0, 2]);
  expect(server.requests.map((request) => requestOf(request).prompt)).toEqual([
    expect.stringContaining(" /help me"),
  ]);
  expect((await run(suite, "--list")).stdout).toBe("a\n");
});

test("what cannot be written ends the evaluation with 60, and says so without advice that does not hold", async () => {
  const server = await modelServer(obedient);
  const { cwd, env } = place(server);
  const full = await runCommand(["eval", twoTasks(), "-o", "results"], { cwd, env, fileBlocks: 2 });
  expect([full.code, full.stderr.includes("--no-session")]).toEqual([60, false]);
  expect(full.stderr).toContain("Make room, and give the same command with -o ");
});

test("room is asked for only where it is missing", async () => {
  const { run, results } = place(await modelServer(obedient));
  mkdirSync(results);
  writeFileSync(join(results, "nano-agent"), "a file");
  const end = await run(twoTasks());
  expect([end.code, end.stderr.includes("Make room")]).toEqual([60, false]);
  expect(end.stderr).toContain("When that is put right, give the same command with -o ");
});

test("a page that cannot be written keeps nobody from the results", async () => {
  const server = await modelServer(obedient);
  const { run, results } = place(server);
  const suite = twoTasks();
  mkdirSync(join(results, "report.html/x"), { recursive: true });
  const end = await run(suite);
  expect([end.code, end.stdout]).toEqual([0, expect.stringContaining("100 %")]);
  expect(end.stderr).toContain(`Results cannot be written to ${results}`);
  expect(end.stderr).toContain("nano-agent: What happened in a run: ");
  const again = await run(suite, "--json");
  expect(JSON.parse(again.stdout)).toMatchObject({ page: null });
});

test.each([
  ["one/results", "would lie in the task"],
  [".", "would lie among the tasks of the suite"],
])("results in %s of the suite are refused before anything is made", async (output, message) => {
  const server = await modelServer(obedient);
  const suite = twoTasks();
  const before = readdirSync(suite, { recursive: true });
  const { env } = place(server);
  const end = await runCommand(["eval", suite, "-o", output], { cwd: suite, env });
  expect([end.code, end.stderr]).toEqual([2, expect.stringContaining(message)]);
  expect([readdirSync(suite, { recursive: true }), server.requests]).toEqual([before, []]);
});

test("nor is a new folder for them made in a task, and agents do not work in what is closed to them", async () => {
  const { env } = place(await modelServer(obedient));
  const suite = twoTasks({ "one/tmp/x": "" });
  const inTask = await runCommand(["eval", "."], { cwd: join(suite, "one"), env });
  expect([inTask.code, inTask.stderr]).toEqual([2, expect.stringContaining("Name another folder")]);
  const inSuite = await runCommand(["eval", suite], { env: { ...env, TMPDIR: join(suite, "one/tmp") } });
  expect([inSuite.code, inSuite.stderr]).toEqual([2, expect.stringContaining("is closed to agents")]);
});

test("links in a task that lead nowhere, out of it, or to a folder are faults of that task", async () => {
  const task = { "task.md": "Do it.", check: "#!/bin/sh\nexit 1\n", "other/x": "" };
  const names = ["check", "files", "loop", "prompt", "reference"];
  const suite = suiteOf(
    Object.fromEntries(
      names.flatMap((name) => Object.entries(task).map(([path, text]) => [`${name}/${path}`, text])),
    ),
  );
  const link = (target: string, path: string): void => {
    rmSync(join(suite, path), { force: true });
    symlinkSync(target, join(suite, path));
  };
  link("check", "check/check");
  link("other", "files/files");
  link("loop", "loop/setup");
  link("setup", "loop/loop");
  link("../check/task.md", "prompt/task.md");
  link("../check/task.md", "reference/reference.md");
  link("itself", "itself");
  const end = await runCommand(["eval", "validate", suite, "--json"]);
  const proofs = JSON.parse(end.stdout) as readonly { task: string; faults: readonly string[] }[];
  expect(proofs.map(({ task: name, faults }) => [name, faults])).toEqual([
    ["check", [expect.stringContaining("check cannot be read: ELOOP")]],
    ["files", [expect.stringContaining("files is a link, and what it leads to is not a part of the task")]],
    ["loop", [expect.stringContaining("setup cannot be read: ELOOP")]],
    ["prompt", [expect.stringContaining("task.md is a link that leads out of")]],
    ["reference", [expect.stringContaining("reference.md is a link that leads out of")]],
  ]);
});

test("a temporary folder that is not there is refused", async () => {
  const { cwd, env } = place();
  const TMPDIR = join(cwd, "nowhere");
  const end = await runCommand(["eval", twoTasks()], { cwd, env: { ...env, TMPDIR } });
  expect([end.code, end.stderr]).toEqual([2, expect.stringContaining(`The temporary folder ${TMPDIR}`)]);
});

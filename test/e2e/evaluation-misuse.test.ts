import { expect, test } from "vitest";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand } from "./command.ts";
import { obedient, place, suiteOf, twoTasks } from "./suite-room.ts";

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
    "limits.time is 90: write a time such as",
  ],
  [
    { "a/task.md": "---\nlimits: { turns: 0 }\n---\nDo it.", "a/check": "" },
    [],
    "write a whole number from 1",
  ],
  [{ "a/task.md": "Do it.", "a/check": "", "b/files": "" }, [], "files is not a folder"],
  [{ "a/task.md": "Do it.", "a/check": "" }, ["--jobs", "0"], "--jobs"],
  [{ "a/task.md": "Do it.", "a/check": "" }, ["--repeat", "many"], "write a whole number from 1"],
  [
    { "a/task.md": "Do it.", "a/check": "" },
    ["--max-budget-usd", "1", "-m", "ollama/nobody-knows"],
    "needs prices",
  ],
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

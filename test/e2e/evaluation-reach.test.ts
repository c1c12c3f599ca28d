import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isRecord } from "../../src/core/base/json.ts";
import { calls, type ScriptPiece, says } from "../../src/testing/script.ts";
import type { ScriptedServer } from "../../src/testing/scripted-server.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand } from "./command.ts";
import { byTask, linesIn, obedient, place, suiteOf, twoTasks, wants } from "./suite-room.ts";

const ALLOWING = ["--permission-mode", "bypassPermissions"];

/** A model that makes these calls, one an answer, and is done. */
function calling(...steps: readonly ScriptPiece[]): Promise<ScriptedServer> {
  return modelServer(({ body }) => {
    const messages = isRecord(body) && Array.isArray(body["messages"]) ? body["messages"] : [];
    const answered = messages.filter((each) => isRecord(each) && each["role"] === "tool").length;
    return steps[answered] ?? says("Done.");
  });
}

/** What tools have answered, as the last request has it. */
function answersIn({ requests }: Pick<ScriptedServer, "requests">): readonly string[] {
  const body = requests.at(-1)?.body;
  const messages = isRecord(body) && Array.isArray(body["messages"]) ? body["messages"] : [];
  return messages.flatMap((each) =>
    isRecord(each) && each["role"] === "tool" ? [String(each["content"])] : [],
  );
}

test("the file tools of an agent that may do everything show neither the suite nor the results, and changes neither", async () => {
  const suite = suiteOf({
    "one/task.md": "Write one into done.txt.",
    "one/check": wants("one"),
    "one/reference/done.txt": "one, the solution",
    "two/task.md": "Write two into done.txt.",
    "two/check": wants("two"),
  });
  const { run, results } = place(await modelServer(obedient));
  await run(suite, "--task", "two", ...ALLOWING);
  const session = linesIn(results)[0]?.session ?? "";
  const curious = await calling(
    calls("read", { path: join(suite, "one/reference/done.txt") }),
    calls("grep", { pattern: "solution", path: suite }),
    calls("write", { path: join(suite, "one/new"), content: "x" }),
    calls("read", { path: join(results, "checks", `${session}.txt`) }),
    calls("bash", { command: "echo free" }),
  );
  const end = await runCommand(["eval", suite, "--task", "one", "-o", results, ...ALLOWING], {
    env: place(curious).env,
  });
  const answers = answersIn(curious);
  expect([end.code, answers.length]).toEqual([1, 5]);
  expect(answers.map((answer) => (/The rule \w+\(.*\) forbids/.test(answer) ? "forbidden" : answer))).toEqual(
    [...Array.from({ length: 4 }, () => "forbidden"), expect.stringContaining("free")],
  );
});

test("the file tools of an agent get neither to the folders of one at work beside it, nor to what judges that", async () => {
  const room = tempFolder();
  const told = join(room, "told");
  const suite = suiteOf({
    "a/task.md": "Wait.",
    "a/check": `#!/bin/sh
judge=$(dirname "$0")
{ pwd; echo "$judge"; } >${told}.new; mv ${told}.new ${told}
until [ -e ${room}/go ]; do sleep 0.05; done
. "$judge/real"`,
    "a/real": "echo untouched; exit 1\n",
    "b/task.md": "Attack.",
    "b/check": `#!/bin/sh\ntouch ${room}/go\nexit 1\n`,
  });
  const attacker = await modelServer(({ body }) => {
    const messages = isRecord(body) && Array.isArray(body["messages"]) ? body["messages"] : [];
    if (JSON.stringify(messages).includes("Wait.")) return says("Done.");
    const answered = messages.filter((each) => isRecord(each) && each["role"] === "tool").length;
    if (answered === 0) return calls("bash", { command: `until [ -s ${told} ]; do sleep 0.05; done` });
    const [work = "", judge = ""] = readFileSync(told, "utf8").split("\n");
    const steps = [
      calls("write", { path: join(judge, "real"), content: "exit 0" }),
      calls("write", { path: join(work, "done.txt"), content: "x" }),
      calls("read", { path: join(work, "..", "tmp") }),
    ];
    return steps[answered - 1] ?? says("Done.");
  });
  const { run, results, left } = place(attacker);
  await run(suite, ...ALLOWING, "--jobs", "2");
  const answers = answersIn(attacker).slice(1);
  expect(answers.map((answer) => /The rule \w+\(.*\) forbids/.test(answer))).toEqual(
    Array.from({ length: 3 }, () => true),
  );
  expect([byTask(results)[0]?.reason, left(), existsSync(join(results, "judges"))]).toEqual([
    "untouched",
    [],
    false,
  ]);
});

test("what an agent leaves among temporary files reaches neither its check nor a later run", async () => {
  const command = 'ls -A "$TMPDIR"; echo hint >"$TMPDIR/hint"; yes | head -c 200000';
  const server = await calling(calls("bash", { command }));
  const { run, results, env } = place(server);
  const check = '#!/bin/sh\necho "seen: $(ls -A "$TMPDIR")"; echo x >"$TMPDIR/x"; exit 1\n';
  await run(suiteOf({ "a/task.md": "Do it.", "a/check": check }), ...ALLOWING, "--repeat", "2");
  expect(linesIn(results).map(({ reason }) => reason)).toEqual(["seen:", "seen:"]);
  const answers = server.requests.flatMap((request) => answersIn({ requests: [request] }));
  expect([answers.length, answers.some((answer) => answer.includes("hint"))]).toEqual([2, false]);
  expect(answers[0]).toMatch(/\/nano-agent-\S+\/output-1\.txt/);
  const left = readdirSync(env["TMPDIR"] ?? "").filter((name) => name.startsWith("nano-agent-"));
  expect(left).toEqual([]);
});

test("a file of a task that an agent has changed on a hidden way ends the evaluation", async () => {
  const suite = twoTasks({ "one/files/todo.txt": "open" });
  const hidden = `p=$(printf %s ${Buffer.from(join(suite, "one/files/todo.txt")).toString("base64")} | base64 -d); echo solved >"$p"`;
  const server = await calling(calls("bash", { command: hidden }));
  const { run, results, left } = place(server);
  const end = await run(suite, ...ALLOWING, "--task", "one", "--repeat", "2");
  expect([end.code, linesIn(results), left()]).toEqual([2, [], []]);
  expect(end.stderr).toContain('The task "one" was changed while it was evaluated');
  expect(readFileSync(join(suite, "one/files/todo.txt"), "utf8")).toBe("solved\n");
});

test.each([
  ["removes", 'rm -rf "$PWD"'],
  ["replaces", 'd=$PWD; cd ..; rm -rf "$d"; mkdir other; ln -s other "$d"'],
])("an agent that %s its working folder has not solved its task", async (_does, command) => {
  const server = await calling(calls("bash", { command }));
  const { run, results, left } = place(server);
  await run(suiteOf({ "a/task.md": "Do it.", "a/check": "#!/bin/sh\nexit 0\n" }), ...ALLOWING);
  const found = linesIn(results).map(({ solved, error, reason }) => [solved, error, reason]);
  expect([found, left()]).toEqual([
    [[false, undefined, "the working folder is gone, or may not be entered"]],
    [],
  ]);
});

test("folders that an agent has closed are removed with the others", async () => {
  const command = "mkdir -p a/b && touch a/b/c && chmod 555 a/b a && mkdir z && touch z/f && chmod 0 z";
  const server = await calling(calls("bash", { command }));
  const { run, results, left } = place(server);
  const suite = suiteOf({ "a/task.md": "Do it.", "a/check": "#!/bin/sh\nls a/b\n" });
  const end = await run(suite, ...ALLOWING);
  expect([end.code, linesIn(results)[0]?.reason, left()]).toEqual([0, "c", []]);
});

test("--keep leaves the scratch folder, also when the same command is given again", async () => {
  const server = await modelServer(obedient);
  const { run, env } = place(server);
  const suite = twoTasks();
  const kept = (): readonly string[] =>
    readdirSync(env["TMPDIR"] ?? "").filter((name) => name.startsWith("nano-agent-kept-"));
  const end = await run(suite, "--task", "one", "--keep");
  const [name = ""] = kept();
  const [, folder = ""] = /The scratch folder stays: (\S+)/.exec(end.stderr) ?? [];
  expect(folder.startsWith(`${join(env["TMPDIR"] ?? "", name)}/run-`)).toBe(true);
  expect(readFileSync(join(folder, "done.txt"), "utf8")).toBe("one");
  await run(suite, "--task", "one");
  expect(kept()).toEqual([name]);
});

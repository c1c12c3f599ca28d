import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, finishes, piecesOf, says } from "../../src/testing/script.ts";
import { refuses, replies } from "../../src/testing/server-step.ts";
import { isAlive } from "../faults/until.ts";
import { tempFolder } from "../temp-folder.ts";
import { type CommandEnd, modelServer, runCommand, TEST_KEY } from "./command.ts";
import {
  byTask,
  linesIn,
  obedient,
  place,
  requestOf,
  sessionsIn,
  suiteOf,
  twoTasks,
  wants,
} from "./suite-room.ts";

test("each task is run with each model, and lines, table, page and sessions say what came out", async () => {
  const server = await modelServer((request) =>
    requestOf(request).model === "gpt-5" ? obedient(request) : says("I would rather not."),
  );
  const { run, results, state, cwd, env, left } = place(server);
  const models = ["-m", "openai/gpt-5", "-m", "openai/gpt-5-mini", "-m", "openai/gpt-5"];
  const end = await run(twoTasks(), ...models, "--jobs", "2");
  expect(end.code).toBe(1);
  const lines = linesIn(results);
  const found = lines.map(({ task, model, repeat, solved, reason, stop, turns }) => ({
    is: `${task} ${model} ${repeat} ${String(solved)} ${stop} ${turns}`,
    reason,
  }));
  expect(found.toSorted((left, right) => (left.is < right.is ? -1 : 1))).toEqual([
    { is: "one openai/gpt-5 1 true completed 2", reason: "it is one" },
    { is: "one openai/gpt-5-mini 1 false completed 1", reason: "done.txt is not one" },
    { is: "two openai/gpt-5 1 true completed 2", reason: "it is two" },
    { is: "two openai/gpt-5-mini 1 false completed 1", reason: "done.txt is not two" },
  ]);
  expect(lines[0]).toMatchObject({
    v: 1,
    hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    inputTokens: expect.any(Number),
    outputTokens: expect.any(Number),
    cachedTokens: expect.any(Number),
    costUsd: expect.any(Number),
    ms: expect.any(Number),
    session: expect.any(String),
  });
  expect(end.stdout).toMatch(/openai\/gpt-5 +100 % +34 % to 100 % +2 of 2/);
  expect(end.stdout).toMatch(/openai\/gpt-5-mini +0 % +0 % to 66 % +0 of 2/);
  expect(end.stdout).toContain("openai/gpt-5-mini: done.txt is not two");
  expect(end.stdout).toContain("That may well be chance");
  // In the order of the command, whichever ended first.
  expect(end.stdout).toContain("openai/gpt-5 → openai/gpt-5-mini");
  expect(readFileSync(join(results, "report.html"), "utf8")).toContain("it is one");
  expect(sessionsIn(results).length).toBe(4);
  // The user's own sessions stay as they are, and no scratch folder is left.
  expect([existsSync(join(state, "nano-agent/sessions")), left()]).toEqual([false, []]);
  const session = lines.find(({ solved }) => solved)?.session ?? "";
  const shown = await runCommand(["sessions", "show", session], {
    cwd,
    env: { ...env, XDG_STATE_HOME: results },
  });
  expect([shown.code, shown.stdout.includes("done.txt")]).toEqual([0, true]);
  const output = readFileSync(join(results, "checks", `${session}.txt`), "utf8");
  expect(output).toMatch(/^it is (one|two)\n$/);
});

test("exit 0 when all is solved; the same command again asks nobody", async () => {
  const server = await modelServer(obedient);
  const { run, results } = place(server);
  const suite = twoTasks();
  const first = await run(suite, "--repeat", "2", "--jobs", "4");
  const asked = server.requests.length;
  const second = await run(suite, "--repeat", "2", "--json");
  expect([first.code, second.code, asked, server.requests.length, linesIn(results).length]).toEqual([
    0, 0, 8, 8, 4,
  ]);
  expect(second.stderr).toContain("4 runs made before, 0 to make");
  expect(JSON.parse(second.stdout)).toMatchObject({
    open: 0,
    models: [{ model: "openai/gpt-5", tasks: 2, runs: 4, solvedRuns: 4, errors: 0, turns: 2 }],
  });
  const more = await run(suite, "--repeat", "3");
  expect([more.code, linesIn(results).length]).toEqual([0, 6]);
});

test("an evaluation that was killed goes on with what has no result, around a line that was cut", async () => {
  let isStalling = true;
  const server = await modelServer((request) =>
    isStalling && requestOf(request).prompt.includes("two")
      ? replies({ answer: says("Partial words that never go on."), stall: 20 })
      : obedient(request),
  );
  const { start, run, results, left } = place(server);
  const suite = twoTasks();
  const killed = start(suite, "--max-budget-usd", "5");
  await killed.says("one · openai/gpt-5 · 1 · solved");
  await expect.poll(() => server.requests.length).toBe(3);
  killed.child.kill("SIGKILL");
  await killed.end;
  const before = linesIn(results);
  appendFileSync(join(results, "results.jsonl"), '{"v":1,"task":"two","solved":tr');
  isStalling = false;
  const end = await run(suite, "--max-budget-usd", "5");
  expect([end.code, before.length]).toEqual([0, 1]);
  expect(end.stderr).toContain("1 run made before, 1 to make");
  expect(end.stderr).toContain("cannot be read: 2");
  const text = readFileSync(join(results, "results.jsonl"), "utf8").trimEnd().split("\n");
  expect(text.map((line) => line.includes('"time"'))).toEqual([true, false, true]);
  // The session of the run that was killed is still there, its scratch folder is not.
  expect([server.requests.length, sessionsIn(results).length, left()]).toEqual([5, 3, []]);
});

test("SIGINT ends with 130 all that runs, and what is known by then stays", async () => {
  const server = await modelServer(obedient);
  const { start, results, left, cwd } = place(server);
  const pids = join(cwd, "pids");
  const suite = suiteOf({
    "a/task.md": "Write one into done.txt.",
    "a/check": wants("one"),
    "b/task.md": "Write two into done.txt.",
    "b/check": `#!/bin/sh\ntrap "" TERM\n(trap "" TERM; while :; do sleep 0.05; done) &\necho $$ $! >${pids}\nwait\n`,
  });
  const command = start(suite);
  await expect
    .poll(() => existsSync(pids) && readFileSync(pids, "utf8").trim().split(" ").length === 2)
    .toBe(true);
  command.child.kill("SIGINT");
  const end = await command.end;
  expect([end.code, linesIn(results).map(({ task }) => task)]).toEqual([130, ["a"]]);
  for (const pid of readFileSync(pids, "utf8").trim().split(" ").map(Number))
    await expect.poll(() => isAlive(pid)).toBe(false);
  await expect.poll(left).toEqual([]);
});

test("all runs together never spend more than the budget, and a higher one goes on", async () => {
  // A request costs 0.0035 dollars, a run 0.007.
  const usage = { inputTokens: 2_000, outputTokens: 100 };
  const server = await modelServer((request) => [
    ...piecesOf(obedient(request)),
    finishes(requestOf(request).isAnswered ? "stop" : "tool_use", usage),
  ]);
  const { run, results } = place(server);
  const suite = suiteOf(
    Object.fromEntries(
      ["a", "b", "c", "d"].flatMap((name) => [
        [`${name}/task.md`, `Write ${name} into done.txt.`],
        [`${name}/check`, wants(name)],
      ]),
    ),
  );
  const first = await run(suite, "--jobs", "3", "--max-budget-usd", "0.02", "--json");
  const { spentUsd } = JSON.parse(first.stdout) as { readonly spentUsd: number };
  const known = linesIn(results).length;
  expect([first.code, known < 4, spentUsd > 0.0034, spentUsd <= 0.02]).toEqual([1, true, true, true]);
  expect(first.stderr).toContain("The money is used up");
  // What went into runs without a result is not forgotten.
  const again = await run(suite, "--max-budget-usd", "0.02", "--json");
  expect((JSON.parse(again.stdout) as { readonly spentUsd: number }).spentUsd).toBeLessThanOrEqual(0.02);
  const second = await run(suite, "--jobs", "3", "--max-budget-usd", "2");
  expect([second.code, linesIn(results).length]).toEqual([0, 4]);
  const cost = server.requests.length * 0.0035;
  const last = JSON.parse((await run(suite, "--max-budget-usd", "2", "--json")).stdout) as {
    spentUsd: number;
  };
  expect(last.spentUsd).toBeCloseTo(cost, 9);
});

test("a task that was changed is named, run again, and its old results do not count", async () => {
  const server = await modelServer(obedient);
  const { run, results } = place(server);
  const suite = twoTasks();
  expect((await run(suite)).code).toBe(0);
  writeFileSync(join(suite, "two/task.md"), "Write three into done.txt.");
  const end = await run(suite);
  expect([end.code, linesIn(results).length]).toEqual([1, 3]);
  expect(end.stderr).toContain("Changed since: two.");
  expect(end.stdout).toMatch(/openai\/gpt-5 +50 % .* 1 of 2/);
});

test("runs under other settings of the user neither, unless they decide nothing", async () => {
  const server = await modelServer(obedient);
  const { env, cwd } = place(server);
  const suite = twoTasks();
  const config = (text: string): string => tempFolder({ "nano-agent/config.json": text });
  const run = (text: string, more: Readonly<Record<string, string>> = {}): Promise<CommandEnd> =>
    runCommand(["eval", suite, "-o", "results", "--permission-mode", "acceptEdits"], {
      cwd,
      env: { ...env, ...more, XDG_CONFIG_HOME: config(text) },
    });
  const ends = [
    await run('{ "providers": { "x": { "baseUrl": "http://a.example", "wire": "openai_chat" } } }'),
    await run(
      '{ "theme": "dark", "providers": { "x": { "wire": "openai_chat", "baseUrl": "http://a.example" } } }',
    ),
    await run('{ "maxTurns": 3, "disallowedTools": ["bash"] }'),
  ];
  expect(ends.map(({ code }) => code)).toEqual([0, 0, 2]);
  expect(ends[2]?.stderr).toContain("other options or settings (disallowedTools, maxTurns, providers)");
});

test("a file of servers is looked for where the command is given, and counts with what it says", async () => {
  const server = await modelServer(obedient);
  const { run, cwd } = place(server);
  const suite = twoTasks();
  const write = (servers: object): void =>
    writeFileSync(join(cwd, "servers.json"), `// mine\n${JSON.stringify({ mcpServers: servers })}`);
  write({});
  const first = await run(suite, "--mcp-config", "servers.json");
  write({ more: { command: "nothing-there" } });
  const second = await run(suite, "--mcp-config", "servers.json");
  expect([first.code, second.code, second.stderr]).toEqual([
    0,
    2,
    expect.stringContaining("other options or settings (mcpConfig)"),
  ]);
});

test("runs under other options do not get into the same folder", async () => {
  const server = await modelServer(obedient);
  const { run } = place(server);
  const suite = twoTasks();
  await run(suite);
  const other = await run(suite, "--max-turns", "3");
  expect([other.code, other.stderr]).toEqual([
    2,
    expect.stringContaining("other options or settings (maxTurns)"),
  ]);
});

test("the check is out of the agent's reach, sees no key, and gets the answer", async () => {
  const server = await modelServer((request) =>
    requestOf(request).isAnswered
      ? says("The answer is 42.")
      : calls("bash", {
          command: "printf '#!/bin/sh\\nexit 0\\n' >check; chmod +x check; ls .. >seen; cp check ../task",
        }),
  );
  const { run, results } = place(server);
  const suite = suiteOf({
    "ask/task.md": "What is the answer?",
    "ask/check":
      '#!/bin/sh\necho "answer: $(cat)"\ncat seen\nenv\n[ "$(echo $(cat seen))" = "tmp work" ] || exit 1\necho "last line"\nexit 3\n',
  });
  const end = await run(suite, "--yolo", "--permission-mode", "bypassPermissions");
  const [line] = linesIn(results);
  expect([end.code, line?.solved, line?.reason]).toEqual([1, false, "last line"]);
  const output = readFileSync(join(results, "checks", `${line?.session ?? ""}.txt`), "utf8");
  expect(output).toContain("answer: The answer is 42.");
  expect(output).toContain("PATH=");
  expect(output.includes(TEST_KEY)).toBe(false);
});

test("a check that takes too long is ended with all it started, and counts as not solved", async () => {
  const server = await modelServer(obedient);
  const { run, results, cwd } = place(server);
  const pid = join(cwd, "pid");
  const suite = suiteOf({
    "slow/task.md": "---\nlimits: { check: 300ms }\n---\nWrite one into done.txt.",
    "slow/check": `#!/bin/sh\n(trap "" TERM; while :; do sleep 0.05; done) &\necho $! >${pid}\nwait\n`,
  });
  const end = await run(suite);
  expect([end.code, linesIn(results)[0]?.reason]).toEqual([
    1,
    "the check took longer than 0.3 s (limits.check)",
  ]);
  expect(isAlive(Number(readFileSync(pid, "utf8")))).toBe(false);
});

test("a run that a provider failed counts for nothing, and is made again", async () => {
  let isDown = true;
  const server = await modelServer((request) =>
    isDown && requestOf(request).prompt.includes("two")
      ? refuses(500, "down for a while")
      : obedient(request),
  );
  const { run, results } = place(server);
  const suite = twoTasks();
  const first = await run(suite);
  expect(first.code).toBe(1);
  expect(first.stdout).toMatch(/openai\/gpt-5 +100 % .* 1 of 1, 1 failed/);
  expect(first.stderr).toContain("1 run failed for reasons that say nothing about the model");
  isDown = false;
  const second = await run(suite);
  expect([second.code, linesIn(results).length]).toEqual([0, 3]);
});

test("what ends every run ends the evaluation with its own code and sentence", async () => {
  const server = await modelServer(() => refuses(401, "Incorrect API key"));
  const refused = await place(server).run(twoTasks());
  expect([refused.code, refused.stderr]).toEqual([41, expect.stringContaining("OPENAI_API_KEY")]);
  const unknown = await modelServer(() => refuses(404, "The model `gpt-5-minni` does not exist"));
  const end = await place(unknown).run(twoTasks(), "-m", "openai/gpt-5-minni", "--jobs", "2");
  expect([end.code, end.stderr]).toEqual([2, expect.stringContaining("Did you mean gpt-5-mini?")]);
  const keyless = await place().run(twoTasks());
  expect([keyless.code, keyless.stderr]).toEqual([41, expect.stringContaining("Set a key")]);
});

test("limits of a task end its run, and the check has the last word", async () => {
  const server = await modelServer((request) =>
    requestOf(request).prompt.includes("one") ? obedient(request) : calls("read", { path: "." }),
  );
  const { run, results } = place(server);
  const suite = suiteOf({
    "turns/task.md": "---\nlimits: { turns: 1 }\n---\nWrite one into done.txt.",
    "turns/check": wants("one"),
    "tokens/task.md": "---\nlimits: { tokens: 100 }\n---\nRead.",
    "tokens/check": "#!/bin/sh\nexit 1\n",
  });
  await run(suite);
  const found = byTask(results).map(({ task, solved, stop }) => [task, solved, stop]);
  expect(found).toEqual([
    ["tokens", false, "budget"],
    ["turns", true, "max_iterations"],
  ]);
});

test("refused calls are counted, and what allows them is told", async () => {
  const server = await modelServer(obedient);
  const { cwd, env } = place(server);
  const end = await runCommand(["eval", twoTasks(), "-o", "results"], { cwd, env });
  expect([end.code, end.stderr]).toEqual([1, expect.stringContaining("2 tool calls refused")]);
  expect(end.stderr).toContain("--permission-mode acceptEdits");
});

test("setup runs before the agent, and one that fails is no word about the model", async () => {
  const server = await modelServer((request) =>
    requestOf(request).isAnswered ? says("Seen.") : calls("read", { path: "made.txt" }),
  );
  const { run, results } = place(server);
  const suite = suiteOf({
    "good/task.md": "Read.",
    "good/setup": '#!/bin/sh\ncp "$(dirname "$0")/part" made.txt\n',
    "good/part": "by setup",
    "good/check": '#!/bin/sh\n[ "$(cat made.txt)" = "by setup" ]\n',
    "bad/task.md": "Read.",
    "bad/setup": "#!/bin/sh\necho 'no room'\nexit 4\n",
    "bad/check": "#!/bin/sh\n",
  });
  expect((await run(suite)).code).toBe(1);
  const found = byTask(results).map(({ task, solved, error, stop }) => [task, solved, error, stop]);
  expect(found).toEqual([
    ["bad", false, "setup ended with 4: no room", "not_started"],
    ["good", true, undefined, "completed"],
  ]);
});

test("only one evaluation writes to a folder", async () => {
  const server = await modelServer(() => replies({ answer: says("Never ends."), stall: 10 }));
  const { start, run, results } = place(server);
  const suite = twoTasks();
  const first = start(suite);
  await expect.poll(() => server.requests.length).toBe(1);
  const second = await run(suite);
  expect([second.code, second.stderr]).toEqual([
    2,
    expect.stringMatching(
      /Another evaluation writes to \S+results\. Wait until it has ended, or name another/,
    ),
  ]);
  first.child.kill("SIGTERM");
  expect((await first.end).code).toBe(143);
  mkdirSync(join(results, "more"));
});

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isRecord } from "../../src/core/base/json.ts";
import { calls, says } from "../../src/testing/script.ts";
import type { ScriptedServer } from "../../src/testing/scripted-server.ts";
import { until } from "../faults/until.ts";
import { missingForSandbox } from "../sandbox-room.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand } from "./command.ts";
import { byTask, linesIn, place, requestOf, suiteOf, wants } from "./suite-room.ts";

const missing = missingForSandbox();
const CONFINED = ["--permission-mode", "bypassPermissions", "--sandbox", "on"];

/** A model that has one command run, after the prompt, and is done. */
function running(commandFor: (prompt: string) => string): Promise<ScriptedServer> {
  return modelServer((request) => {
    const { prompt, isAnswered } = requestOf(request);
    return isAnswered ? says("Done.") : calls("bash", { command: commandFor(prompt) });
  });
}

/** A command whose paths no rule can read: a program has them from a file. */
function hidden(commands: string): string {
  return `echo ${Buffer.from(commands).toString("base64")} | base64 -d >p.sh; sh p.sh`;
}

/** What the commands said, by request. */
function shownIn({ requests }: ScriptedServer): readonly string[] {
  return requests.flatMap(({ body }) => {
    const messages = isRecord(body) && Array.isArray(body["messages"]) ? body["messages"] : [];
    return messages.flatMap((each) =>
      isRecord(each) && each["role"] === "tool" ? [String(each["content"])] : [],
    );
  });
}

describe.skipIf(missing !== "")(`agents in the sandbox${missing === "" ? "" : `: ${missing}`}`, () => {
  test("work at the same time, each confined to its own folders", async () => {
    const outside = tempFolder();
    const server = await running((prompt) => {
      const word = /Write (\w+) into/.exec(prompt)?.[1] ?? "";
      return `echo ${word} >done.txt; echo x >$TMPDIR/x; ${hidden(`echo ${word} >${outside}/${word}; sleep 0.3`)}`;
    });
    const { run, results, left } = place(server);
    const names = ["a", "b", "c", "d"];
    const suite = suiteOf(
      Object.fromEntries(
        names.flatMap((name) => [
          [`${name}/task.md`, `Write ${name} into done.txt.`],
          [`${name}/check`, wants(name)],
        ]),
      ),
    );
    const end = await run(suite, ...CONFINED, "--jobs", "2");
    expect([end.code, byTask(results).map(({ solved }) => solved), readdirSync(outside), left()]).toEqual([
      0,
      [true, true, true, true],
      [],
      [],
    ]);
  });

  test("reach neither what judges another run, nor its folders, nor those of other programs", async () => {
    const room = tempFolder();
    const told = join(room, "told");
    // Commands do not see the files of this test: what they attack is named in them.
    const attackOn = (
      [work, judge]: readonly string[],
      old: string,
    ): string => `work='${work}' judge='${judge}'
      echo 'echo forged; exit 0' >"$judge/real"; echo one >"$work/done.txt"; echo x >"$work/../tmp/x"; echo x >"${old}/x"
      ls "$judge" "$work" "$work/../tmp"; echo tried`;
    const server = await modelServer(async (request) => {
      const { prompt, isAnswered } = requestOf(request);
      if (isAnswered || prompt.includes("Wait")) return says("Done.");
      await until(() => existsSync(told));
      const places = readFileSync(told, "utf8").split("\n");
      return calls("bash", { command: hidden(attackOn(places, env["TMPDIR"] ?? "")) });
    });
    const { run, results, env } = place(server);
    const suite = suiteOf({
      "a/task.md": "Wait.",
      "a/check": `#!/bin/sh
judge=$(dirname "$0")
{ pwd; echo "$judge"; } >${told}.new; mv ${told}.new ${told}
until [ -e ${room}/go ]; do sleep 0.05; done
[ -e done.txt ] && { echo forged; exit 0; }
. "$judge/real"`,
      "a/real": "echo untouched; exit 1\n",
      "b/task.md": "Attack.",
      "b/check": `#!/bin/sh\ntouch ${room}/go\nexit 1\n`,
    });
    await run(suite, ...CONFINED, "--jobs", "2");
    const [attacked] = byTask(results);
    expect([attacked?.solved, attacked?.reason]).toEqual([false, "untouched"]);
    expect(existsSync(join(env["TMPDIR"] ?? "", "x"))).toBe(false);
    const [shown = ""] = shownIn(server);
    expect([shown.includes("tried"), /\b(?:real|done\.txt)$/m.test(shown)]).toEqual([true, false]);
  });

  test("see no solution in the history of the suite or of its worktree, and no earlier evaluation", async () => {
    const root = tempFolder();
    const main = join(root, "main");
    const git = (...args: readonly string[]): void =>
      void execFileSync("git", ["-C", main, "-c", "user.name=a", "-c", "user.email=a@b.example", ...args]);
    mkdirSync(main);
    git("init", "-q");
    mkdirSync(join(main, "suite/a/reference"), { recursive: true });
    writeFileSync(join(main, "suite/a/task.md"), "Look around.");
    writeFileSync(join(main, "suite/a/check"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    writeFileSync(join(main, "suite/a/reference/done.txt"), "the solution");
    git("add", "-A");
    git("commit", "-qm", "one");
    git("worktree", "add", "-q", join(root, "tree"));
    mkdirSync(join(root, "earlier"));
    writeFileSync(join(root, "earlier/results.jsonl"), "the solution\n");
    mkdirSync(join(root, "results/sub"), { recursive: true });
    writeFileSync(join(root, "results/sub/note"), "the solution");
    const tries = [
      ...["main", "tree"].map((name) => `git -C ${root}/${name} show HEAD:suite/a/reference/done.txt`),
      `cat ${root}/earlier/results.jsonl ${root}/results/sub/note ${root}/tree/suite/a/reference/done.txt`,
      `echo x >>${root}/results/evaluation.json; rm ${root}/results/lock; echo tried`,
    ];
    const server = await running(() => hidden(`git config --global safe.directory '*'\n${tries.join("\n")}`));
    const { env } = place(server);
    const args = ["eval", "tree/suite", "-o", "results", ...CONFINED];
    const end = await runCommand(args, { cwd: root, env: { ...env, HOME: tempFolder() } });
    const [shown = ""] = shownIn(server);
    expect([end.code, shown.includes("tried"), shown.includes("the solution")]).toEqual([1, true, false]);
    expect(JSON.parse(readFileSync(join(root, "results/evaluation.json"), "utf8"))).toMatchObject({ v: 1 });
    expect(linesIn(join(root, "results")).length).toBe(1);
  });
});

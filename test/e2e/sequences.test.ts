import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { calls, type ScriptAnswer, says } from "../../src/testing/script.ts";
import { tempFolder } from "../temp-folder.ts";
import { type CommandEnd, modelServer, runCommand, serverEnv } from "./command.ts";

const bash = (command: string, id?: string) => calls("bash", { command }, id);

interface Attack {
  readonly answers: readonly ScriptAnswer[];
  readonly args?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
}

/** Plays the answers of a model in a project beside a secret; `evil.sh` in it says that it ran. */
async function play(attack: Attack): Promise<CommandEnd & { readonly ran: boolean; readonly work: string }> {
  const root = tempFolder({ "work/note.txt": "a note\n" });
  const work = join(root, "work");
  const mark = join(root, "ran");
  const evil = `#!/bin/sh\n: > ${mark}\n`;
  for (const [path, text] of Object.entries({ "evil.sh": evil, ...attack.files })) {
    mkdirSync(dirname(join(work, path)), { recursive: true });
    writeFileSync(join(work, path), text.replaceAll("EVIL", join(work, "evil.sh")));
    if (path.endsWith(".sh")) chmodSync(join(work, path), 0o755);
  }
  const server = await modelServer([...attack.answers, says("Done.")]);
  const ended = await runCommand(["-p", "--json", ...(attack.args ?? []), "go"], {
    env: { ...serverEnv(server), PATH: "/usr/local/bin:/usr/bin:/bin" },
    cwd: work,
  });
  return { ...ended, ran: existsSync(mark), work };
}

test("files of git that calls write run nothing", async () => {
  const write = (path: string, content: string) => calls("write", { path, content });
  const config =
    "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = EVIL\n";
  const args = ["--permission-mode", "acceptEdits"];
  const bare = [
    write("demo/HEAD", "ref: refs/heads/main\n"),
    write("demo/objects/x", ""),
    write("demo/refs/x", ""),
    bash("cp template demo/config"),
  ];
  const look = bash("cd demo && git status");
  const files = { template: config };
  const results = [
    await play({ answers: [[...bare, look]], args, files }),
    await play({ answers: [...bare, look], args, files }),
    await play({ answers: [write("demo/.git", "gitdir: ../x\n"), bash("git -C demo status")], args, files }),
    await play({ answers: [bash("mkdir -p demo/.git/hooks"), bash("cp template .git/config")], args, files }),
    await play({ answers: [[bash("mkdir .gi"), bash("cp template .gi/../.git")]], args, files }),
  ];
  expect(
    results.map(({ ran, work }) => [
      ran,
      existsSync(join(work, "demo/.git")),
      existsSync(join(work, ".git")),
    ]),
  ).toEqual(results.map(() => [false, false, false]));
});

test("calls that share an id are decided about one by one", async () => {
  const { stdout, work } = await play({
    answers: [
      [bash("touch one", "same"), bash("cat note.txt", "same")],
      [
        calls("batch", { calls: [{ tool: "bash", input: { command: "touch two" } }] }, "a"),
        bash("cat note.txt", "a/1"),
      ],
      [bash("touch three", "a/1"), bash("touch four", "same")],
    ],
  });
  expect([
    stdout.match(/a note/g)?.length,
    ["one", "two", "three", "four"].filter((name) => existsSync(join(work, name))),
  ]).toEqual([2, []]);
});

import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { textOf } from "../../src/core/message/message.ts";
import { askFor, missingForSandbox, openSandboxRoom } from "../sandbox-room.ts";
import { steady, until } from "../shell-room.ts";
import { tempFolder } from "../temp-folder.ts";

const missing = missingForSandbox();

describe.skipIf(missing !== "")(`commands in the sandbox${missing === "" ? "" : `: ${missing}`}`, () => {
  test("write to the workspace and the temporary folder, and nowhere else", async () => {
    const room = await openSandboxRoom();
    const command = `echo a > here; echo b > "$TMPDIR/there"; echo c > ${room.outside}/x; mktemp > /dev/null && cat here "$TMPDIR/there"`;
    expect(steady(await room.bash({ command }))).toBe(
      [
        `/bin/bash: line 1: ${room.outside}/x: Read-only file system`,
        "a",
        "b",
        "[exit code 0, T]",
        `[sandbox: no writing to ${room.outside}/x. The user can allow it: sandbox.allowWrite ["${room.outside}/x"] in their config]`,
      ].join("\n"),
    );
    expect(readdirSync(room.outside)).toEqual(["probe"]);
  });

  test("do not have the kernel start something outside: its settings are root's, and cannot be uncovered", async () => {
    const room = await openSandboxRoom();
    const command =
      "umount /proc/sys; umount -l /proc; test -r /proc/sys/kernel/core_pattern && for f in /proc/sys/kernel/core_pattern /proc/sysrq-trigger /proc/irq /proc/bus /proc/fs /proc/scsi /proc/acpi; do test -w $f && exit; done; echo held";
    expect(textOf((await room.bash({ command: `(${command}) 2> /dev/null` })).content)).toContain("held\n");
  });

  test("write where the user allows it, and do not read what the user hides", async () => {
    const extra = join((await openSandboxRoom()).outside, "extra");
    mkdirSync(extra);
    const room = await openSandboxRoom({ allowWrite: [extra], denyRead: ["hidden"] }, (workspace) => {
      mkdirSync(join(workspace, "hidden"));
      writeFileSync(join(workspace, "hidden", "key"), "s3cr3t");
    });
    const shown = textOf((await room.bash({ command: `echo a > ${extra}/x; cat hidden/key` })).content);
    expect(shown).toContain(
      `[sandbox: ${room.cwd}/hidden/key is hidden by sandbox.denyRead in the user's config]`,
    );
    expect({ leaks: shown.includes("s3cr3t"), text: readFileSync(join(extra, "x"), "utf8") }).toEqual({
      leaks: false,
      text: "a\n",
    });
  });

  test("reach neither this machine nor another, and a refused host is named", async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { readonly port: number };
    const room = await openSandboxRoom();
    const direct = await room.bash({ command: `exec 3<>/dev/tcp/127.0.0.1/${port}` });
    const proxied = await room.bash({ command: askFor("host.example") });
    expect({ connections, failed: direct.isError }).toEqual({ connections: 0, failed: true });
    expect(textOf(proxied.content)).toContain(
      '[sandbox: no network to host.example:443. The user can allow it: sandbox.allowDomains ["host.example"] in their config]',
    );
  });

  test("leave hooks and settings of the repository and our config as they are, and Git works all the same", async () => {
    const git = (cwd: string, ...args: readonly string[]): string =>
      execFileSync("git", ["-C", cwd, "-c", "user.name=a", "-c", "user.email=a@b.example", ...args], {
        encoding: "utf8",
      });
    const room = await openSandboxRoom({}, (workspace) => {
      git(workspace, "init", "-q");
      writeFileSync(join(workspace, "nano-agent.json"), "{}");
    });
    const attacks = [
      "echo x > .git/hooks/post-commit",
      "mkdir .git/hooks/a",
      "mv .git/hooks .git/h2",
      "rm -rf .git/hooks",
      "mv .git .git2",
      "git config core.hooksPath /tmp",
      'echo \'{"permissionMode":"bypassPermissions"}\' > nano-agent.json',
      "rm nano-agent.json",
      "mv nano-agent.json x",
    ];
    const before = readFileSync(join(room.cwd, ".git", "config"), "utf8");
    for (const command of attacks) {
      const { isError, content } = await room.bash({ command });
      const isNamed = textOf(content).includes("cannot be changed by commands; no setting allows it");
      expect({ command, isError, isNamed }).toEqual({ command, isError: true, isNamed: true });
    }
    const work = await room.bash({
      command:
        "echo 1 > a && git add -A && git -c user.name=a -c user.email=a@b.example commit -qm one && git status --short",
    });
    expect(steady(work)).toBe("(no output)\n[exit code 0, T]");
    expect({
      log: git(room.cwd, "log", "--format=%s"),
      config: readFileSync(join(room.cwd, ".git", "config"), "utf8") === before,
      hooks: readdirSync(join(room.cwd, ".git", "hooks")).filter((name) => !name.endsWith(".sample")),
      ours: readFileSync(join(room.cwd, "nano-agent.json"), "utf8"),
      names: readdirSync(room.cwd).toSorted(),
    }).toEqual({
      log: "one\n",
      config: true,
      hooks: [],
      ours: "{}",
      names: [".git", "a", "nano-agent.json"],
    });
  });

  test("cannot choose where the output of later commands goes", async () => {
    const temporary = tempFolder();
    const room = await openSandboxRoom({ temporary });
    vi.stubEnv("TMPDIR", temporary);
    const victim = join(room.outside, "bashrc");
    writeFileSync(victim, "mine");
    await room.bash({ command: "echo first" });
    const swap = `for d in "$TMPDIR"/nano-agent-*; do
      for n in "$d"/* "$d"/pipe-${process.pid}-{0..99} "$d"/output-{1..9}.txt; do ln -sfn ${victim} "$n"; done
      mv "$d" "$d.old"; ln -sn ${room.outside} "$d"; done 2>/dev/null; echo swapped`;
    await room.bash({ command: `while :; do ${swap}; sleep 0.01; done`, background: true });
    await until(async () =>
      textOf((await room.job({ action: "output", id: "job_1" })).content).includes("swapped"),
    );
    for (let count = 0; count < 12; count++) await room.bash({ command: "echo evil >> /dev/stdout" });
    const long = textOf((await room.bash({ command: "yes evil | head -c 200000" })).content);
    const [, path = ""] = /the full text is in (\S+?)\]/.exec(long) ?? [];
    expect({ victim: readFileSync(victim, "utf8"), outside: readdirSync(room.outside).toSorted() }).toEqual({
      victim: "mine",
      outside: ["bashrc", "probe"],
    });
    expect({ links: lstatSync(path).isSymbolicLink(), bytes: readFileSync(path).length }).toEqual({
      links: false,
      bytes: 200_000,
    });
  });

  describe("cannot have a later git status run anything", () => {
    // Makes `evil` a folder that is a whole repository, whose settings run a program.
    const EVIL = `mkdir evil && cp -r .git/HEAD .git/objects .git/refs evil/ && printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = %s\n\tfsmonitor = "touch $PWD/pwned; false"\n' "$PWD" > evil/config`;
    const ATTACKS: readonly (readonly [name: string, command: string])[] = [
      ["another common folder", `${EVIL}; printf '../evil\n' > .git/commondir`],
      ["a common folder moved into place", `${EVIL}; echo "$PWD/evil" > c; mv c .git/commondir`],
      ["settings of a worktree", `${EVIL}; cp evil/config .git/config.worktree`],
      ["other settings", `${EVIL}; mv evil/config .git/config`],
      ["another repository in its place", `${EVIL}; mv .git old; cp -r evil/. .git`],
      ["a pointer in its place", `${EVIL}; rm -rf .git; echo "gitdir: evil" > .git`],
      ["a link in its place", `${EVIL}; rm -rf .git; ln -s evil .git`],
      ["the common folder of a repository below", `${EVIL}; echo "$PWD/evil" > sub/.git/commondir`],
    ];
    const runStatus = (cwd: string): void =>
      void spawnSync("git", ["-C", cwd, "status", "--short"], { stdio: "ignore" });
    const repository = (folder: string): void => {
      mkdirSync(folder, { recursive: true });
      execFileSync("git", ["-C", folder, "init", "-q"]);
    };

    test.each(ATTACKS)("%s", async (_name, command) => {
      const room = await openSandboxRoom({}, (workspace) => {
        repository(workspace);
        repository(join(workspace, "sub"));
      });
      await room.bash({ command });
      expect(existsSync(join(room.cwd, "evil"))).toBe(true);
      runStatus(room.cwd);
      runStatus(join(room.cwd, "sub"));
      expect({
        pwned: existsSync(join(room.cwd, "pwned")),
        placeholders: existsSync(join(room.cwd, ".git", "commondir")),
      }).toEqual({ pwned: false, placeholders: false });
    });

    /** What makes the folder itself a repository, beside `config`. */
    const BARE = `mkdir -p objects refs; echo "ref: refs/heads/main" > HEAD`;
    const CONFIG = `printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = "touch %s/pwned; false"\n' "$PWD" > config`;

    test.each([
      ["that it makes of the workspace itself", () => undefined, `${BARE}; ${CONFIG}`],
      [
        "that the workspace itself is",
        (workspace: string) =>
          void spawnSync("bash", ["-c", `${BARE}; echo "[core]" > config`], { cwd: workspace }),
        CONFIG,
      ],
    ] as const)("in a bare repository %s", async (_name, prepare, command) => {
      const room = await openSandboxRoom({}, prepare);
      await room.bash({ command });
      runStatus(room.cwd);
      expect({
        pwned: existsSync(join(room.cwd, "pwned")),
        isBare: existsSync(join(room.cwd, "objects")),
      }).toEqual({
        pwned: false,
        isBare: true,
      });
    });

    test.each([
      ["whose HEAD it spoils", "echo x > .git/HEAD"],
      ["whose objects it takes away", "rm -rf .git/objects"],
      ["whose branches it takes away", "mv .git/refs x"],
      ["below", "cd sub; echo x > .git/HEAD; rm ../HEAD; $MAKE"],
    ])("in a folder that it makes a repository of, in the place of one %s", async (_name, spoil) => {
      const room = await openSandboxRoom({}, (workspace) => {
        repository(workspace);
        repository(join(workspace, "sub"));
      });
      const make = `${BARE}; ${CONFIG}`;
      const { isError } = await room.bash({ command: `${make}; ${spoil.replace("$MAKE", make)}` });
      runStatus(room.cwd);
      runStatus(join(room.cwd, "sub"));
      expect([isError, existsSync(join(room.cwd, "pwned")), existsSync(join(room.cwd, "sub/pwned"))]).toEqual(
        [false, false, false],
      );
    });

    test("nor put a link to a repository elsewhere in the place of one", async () => {
      const room = await openSandboxRoom({}, (workspace) => repository(join(workspace, "sub")));
      const { isError } = await room.bash({ command: `mv sub old && ln -s ${room.outside} sub` });
      expect([isError, lstatSync(join(room.cwd, "sub")).isDirectory()]).toEqual([true, true]);
    });

    test("when a command that was started before it ends and takes its placeholders along", async () => {
      const room = await openSandboxRoom({}, repository);
      await room.bash({ command: "until test -e go; do sleep 0.05; done", background: true });
      const attack = `${EVIL}; touch go; until test -e on; do sleep 0.05; done; printf '../evil\n' > .git/commondir; echo $?`;
      await room.bash({ command: attack, background: true });
      await until(async () =>
        /exited|exit code/.test(textOf((await room.job({ action: "output", id: "job_1" })).content)),
      );
      writeFileSync(join(room.cwd, "on"), "");
      await until(async () =>
        /exited|exit code/.test(textOf((await room.job({ action: "output", id: "job_2" })).content)),
      );
      runStatus(room.cwd);
      expect({
        pwned: existsSync(join(room.cwd, "pwned")),
        placeholders: existsSync(join(room.cwd, ".git", "commondir")),
      }).toEqual({ pwned: false, placeholders: false });
    });

    test("the attack with a bare repository works where nothing confines it", () => {
      const cwd = tempFolder();
      spawnSync("bash", ["-c", `${BARE}; ${CONFIG}`], { cwd, stdio: "ignore" });
      runStatus(cwd);
      expect(existsSync(join(cwd, "pwned"))).toBe(true);
    });

    test("the attack works where nothing confines it", () => {
      const cwd = tempFolder();
      repository(cwd);
      spawnSync("bash", ["-c", `${EVIL}; printf '../evil\\n' > .git/commondir`], { cwd, stdio: "ignore" });
      runStatus(cwd);
      expect(existsSync(join(cwd, "pwned"))).toBe(true);
    });

    test("a repository where there is none", async () => {
      const room = await openSandboxRoom();
      const tries = [
        "git init -q .",
        "mkdir .git && touch .git/config",
        "touch .git/config",
        "rm -rf .git && mkdir .git",
        "mv .git old; git init -q",
        "rmdir .git && echo 'gitdir: evil' > .git",
      ];
      for (const command of tries) expect((await room.bash({ command })).isError).toBe(true);
      expect(readdirSync(room.cwd)).toEqual([]);
    });

    test("the settings of a linked worktree, and those of its repository where they may be written", async () => {
      const main = tempFolder();
      repository(main);
      execFileSync("git", [
        "-C",
        main,
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b.example",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "one",
      ]);
      const room = await openSandboxRoom({ allowWrite: [main] }, (workspace) =>
        execFileSync("git", ["-C", main, "worktree", "add", "-q", "--force", workspace]),
      );
      const git = readFileSync(join(room.cwd, ".git"), "utf8").replace("gitdir: ", "").trim();
      for (const path of [join(room.cwd, ".git"), join(git, "commondir"), join(main, ".git/config")])
        expect((await room.bash({ command: `echo x > ${path}` })).isError).toBe(true);
      expect((await room.bash({ command: `mv ${git} ${git}.old` })).isError).toBe(true);
      expect(steady(await room.bash({ command: "echo 1 > a; git add a; git status --short" }))).toBe(
        "A  a\n[exit code 0, T]",
      );
    });
  });

  test("are not run where a link stands in the place of what steers", async () => {
    const room = await openSandboxRoom();
    mkdirSync(join(room.cwd, "x"));
    symlinkSync("x", join(room.cwd, ".git"));
    const { isError, content } = await room.bash({ command: "touch made" });
    expect({ isError, made: existsSync(join(room.cwd, "made")), text: textOf(content) }).toEqual({
      isError: true,
      made: false,
      text: expect.stringContaining(`${room.cwd}/.git is a link, which cannot be guarded.`),
    });
  });

  test("leave nothing behind: what outlives its command ends with it, children that left the group included", async () => {
    const room = await openSandboxRoom();
    const result = await room.bash({
      command: "sleep 1000 & (setsid sleep 1001 &); env -i setsid sleep 1002 & sleep 0.1; echo done",
    });
    expect(steady(result)).toBe("done\n[exit code 0, T]");
    expect(room.processes()).toEqual([]);
  });

  test("end with the time limit and with an abort, whole", async () => {
    const room = await openSandboxRoom();
    const command = "echo on; trap '' TERM; sleep 1000 & setsid sleep 1001";
    let late = await room.bash({ command, timeout_ms: 300 });
    // A busy machine may take longer than that to start it.
    for (let timeout_ms = 600; !textOf(late.content).startsWith("on"); timeout_ms *= 2)
      late = await room.bash({ command, timeout_ms });
    const stop = new AbortController();
    const aborted = room.bash(
      { command: "echo on; sleep 1000" },
      { signal: stop.signal, onUpdate: () => stop.abort() },
    );
    expect([textOf(late.content), textOf((await aborted).content)]).toEqual([
      expect.stringMatching(/^on\n\[timed out after/),
      expect.stringMatching(/^on\n\[aborted after/),
    ]);
    await until(() => room.processes().length === 0);
  });

  test("run as jobs that can be looked at and ended", async () => {
    const room = await openSandboxRoom();
    await room.bash({ command: "while :; do echo tick; sleep 0.02; done", background: true });
    await until(async () =>
      textOf((await room.job({ action: "output", id: "job_1" })).content).includes("tick"),
    );
    expect(textOf((await room.job({ action: "kill", id: "job_1" })).content)).toContain("[job_1: ended]");
    await until(() => room.processes().length === 0);
  });

  test("show exit codes, signals and both outputs as elsewhere, and have no input and no terminal", async () => {
    const room = await openSandboxRoom();
    const outputs = [];
    for (const command of [
      "echo o; echo e >&2; exit 7",
      "kill -SEGV $$",
      "cat; tty",
      'printf %s "it\'s \\"quoted\\" \\$x"',
      "echo 'a",
      "cat <<'E'\n$x\nE",
    ])
      outputs.push(steady(await room.bash({ command })));
    expect(outputs).toEqual([
      "o\ne\n[exit code 7, T]",
      "(no output)\n[exit code 139 (SIGSEGV), T]",
      "not a tty\n[exit code 1, T]",
      'it\'s "quoted" $x\n[exit code 0, T]',
      expect.stringMatching(/unexpected EOF[\s\S]*\[exit code 2, T\]$/),
      "$x\n[exit code 0, T]",
    ]);
  });

  test("give up rather than run outside when the sandbox is closed", async () => {
    const room = await openSandboxRoom();
    await room.sandbox.dispose();
    const { content, isError } = await room.bash({ command: "touch made" });
    expect({ isError, made: existsSync(join(room.cwd, "made")), text: textOf(content) }).toEqual({
      isError: true,
      made: false,
      text: expect.stringContaining(
        "The sandbox could not take the command, and nothing was run: the sandbox is closed.",
      ),
    });
  });
});

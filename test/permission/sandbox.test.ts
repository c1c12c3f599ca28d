import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { textOf } from "../../src/core/message/message.ts";
import { missingForSandbox, openSandboxRoom } from "../sandbox-room.ts";
import { openShellRoom, steady, until } from "../shell-room.ts";
import { tempFolder } from "../temp-folder.ts";
import { ATTACKS } from "./sandbox-attacks.ts";

const missing = missingForSandbox();
const RUNNER = join(import.meta.dirname, "run-attacks.ts");
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

/** Runs the attacks as a user, with an open file as descriptor 63 that nobody closes for them. */
function attack({ uid, mode = "inside" }: { readonly uid?: number; readonly mode?: string }) {
  const leaked = join(tempFolder(), "leaked");
  const file = openSync(leaked, "w", 0o666);
  const stdio = [
    "ignore",
    "pipe",
    "pipe",
    ...Array.from({ length: 60 }, () => "ignore" as const),
    file,
  ] as const;
  const env = { PATH: process.env["PATH"], HOME: "/", GIT_CONFIG_NOSYSTEM: "1" };
  const as = uid === undefined ? {} : { uid, gid: uid };
  const { stdout, stderr } = spawnSync(process.execPath, [RUNNER, mode], {
    stdio: [...stdio],
    env,
    encoding: "utf8",
    ...as,
  });
  closeSync(file);
  if (!stdout.startsWith("{")) throw new Error(stderr);
  return {
    ...(JSON.parse(stdout) as { count: number; succeeded: string[] }),
    leaked: readFileSync(leaked, "utf8"),
  };
}

/** Why the attacks cannot be run as somebody else. */
function missingForNobody(): string {
  if (!isRoot) return "only root can become an ordinary user";
  const { status } = spawnSync(
    process.execPath,
    ["-e", `require("fs").accessSync(${JSON.stringify(RUNNER)})`],
    { uid: NOBODY, gid: NOBODY },
  );
  return status === 0 ? "" : "another user cannot read this checkout";
}

describe.skipIf(missing !== "")(`the wall${missing === "" ? "" : `: ${missing}`}`, () => {
  test(`holds against every attack, as ${isRoot ? "root" : "an ordinary user"}`, () => {
    expect(attack({})).toEqual({ count: ATTACKS.length, succeeded: [], leaked: "" });
  });

  const noNobody = missingForNobody();
  test.skipIf(noNobody !== "")(
    `holds against every attack, as nobody${noNobody === "" ? "" : `: ${noNobody}`}`,
    () => {
      expect(attack({ uid: NOBODY })).toEqual({ count: ATTACKS.length, succeeded: [], leaked: "" });
    },
  );

  test("is what holds: without it the same attacks succeed", () => {
    const controlled = ATTACKS.filter(({ isControlled }) => isControlled === true).map(({ name }) => name);
    expect(attack({ mode: "outside" }).succeeded).toEqual(controlled);
  });
});

describe.skipIf(missing !== "")("commands in the sandbox", () => {
  test("show exit codes, signals and both outputs as elsewhere, and have no input and no terminal", async () => {
    const room = await openSandboxRoom();
    const outputs = [];
    for (const command of [
      "echo o; echo e >&2; exit 7",
      "kill -SEGV $$",
      "cat; tty",
      "cat <<'E'\n$x\nE",
      "echo $LINENO\nnosuchthing",
      "echo 'a",
    ])
      outputs.push(steady(await room.bash({ command })));
    expect(outputs).toEqual([
      "o\ne\n[exit code 7, T]",
      "(no output)\n[exit code 139 (SIGSEGV), T]",
      "not a tty\n[exit code 1, T]",
      "$x\n[exit code 0, T]",
      "1\n/bin/bash: line 2: nosuchthing: command not found\n[exit code 127, T]",
      "/bin/bash: -c: line 1: unexpected EOF while looking for matching `''\n[exit code 2, T]",
    ]);
  });

  test("do everyday work: commit, cache, unpack, serve the next command", async () => {
    // With the first ones Bash would not wait for its mounts to be looked at.
    const env = { POSIXLY_CORRECT: "1", BASH_ENV: "/x", SSH_AUTH_SOCK: "/x", DISPLAY: ":0" };
    const room = await openSandboxRoom({ shell: { env } });
    const lines = [
      "git init -q && git config user.name n; git -c user.name=n -c user.email=e commit -q --allow-empty -m one && git log --format=%s",
      'mkdir -p "$XDG_CACHE_HOME" && echo a > "$XDG_CACHE_HOME/a" && cat "$XDG_CACHE_HOME/a"',
      "tar -cf a.tar .git && tar -xOf a.tar .git/HEAD",
      'echo "$npm_config_fetch_retries $PIP_RETRIES[$POSIXLY_CORRECT$SSH_AUTH_SOCK$DISPLAY$BASH_ENV]"',
    ];
    const texts = [];
    for (const command of lines) texts.push(steady(await room.bash({ command })).split("\n[")[0]);
    expect(texts).toEqual(["one", "a", "ref: refs/heads/master", "0 0[]"]);
    const serve = `perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1); open F, ">", "port"; print F $s->sockport, "\\n"; close F; while ($c = $s->accept) { print $c "served\\n"; close $c }'`;
    await room.bash({ command: serve, background: true });
    await until(
      () => existsSync(join(room.cwd, "port")) && readFileSync(join(room.cwd, "port"), "utf8").endsWith("\n"),
    );
    expect(steady(await room.bash({ command: "cat < /dev/tcp/127.0.0.1/$(cat port)" }))).toBe(
      "served\n[exit code 0, T]",
    );
    await room.job({ action: "kill", id: "job_1" });
    await until(() => room.processes().length === 0);
  });

  test("end whole with the time limit and with an abort", async () => {
    const room = await openSandboxRoom();
    const command = "echo on; trap '' TERM; sleep 1000 & setsid sleep 1001";
    let late = await room.bash({ command, timeout_ms: 300 });
    // A busy machine may take longer than that to run its first word.
    for (let timeout_ms = 600; !textOf(late.content).startsWith("on"); timeout_ms *= 2)
      late = await room.bash({ command, timeout_ms });
    const stop = new AbortController();
    const aborted = room.bash({ command }, { signal: stop.signal, onUpdate: () => stop.abort() });
    expect([textOf(late.content), textOf((await aborted).content)]).toEqual([
      expect.stringMatching(/^on\n\[timed out after/),
      expect.stringMatching(/^on\n\[aborted after/),
    ]);
    await until(() => room.processes().length === 0);
  });

  test("are told what was held back and how to ask for it, when they failed", async () => {
    const room = await openSandboxRoom({
      shell: {
        placement: (input) => ({ runs: "access" in input ? "network" : "inside", readOnly: "plan" in input }),
      },
      prepare: (_workspace, home) => mkdirSync(join(home, ".ssh")),
    });
    const server = createServer((socket) => socket.end("in\n"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const notes = async (command: string, input: object = {}): Promise<readonly string[]> =>
      textOf((await room.bash({ command, ...input })).content)
        .split("\n")
        .filter((line) => line.startsWith("[sandbox"));
    const full = 'call again with access: "full" and a reason]';
    const connect = `cat < /dev/tcp/127.0.0.1/${port}`;
    expect([
      await notes(connect),
      await notes("exec 3<>/dev/tcp/192.0.2.1/80"),
      await notes(connect, { access: "network", reason: "To try it." }),
      await notes("echo x > ~/a"),
      await notes("echo x > ~/a; true"),
      await notes("ls ~/.ssh"),
      await notes("touch a", { plan: true }),
      await notes("false"),
    ]).toEqual([
      [expect.stringContaining('access: "network" and a reason]')],
      [expect.stringContaining('access: "network" and a reason]')],
      [],
      [expect.stringContaining(full)],
      [],
      [`[sandbox: ${room.home}/.ssh is closed to commands. If it is needed, ${full}`],
      ["[sandbox: in plan mode commands write to /tmp only, which is empty for each]"],
      [],
    ]);
  });

  test("have put back what would steer git, which is kept and named in the result", async () => {
    const room = await openSandboxRoom();
    const text = textOf(
      (await room.bash({ command: "mkdir v; echo x > v/a; mv v .vscode; sleep 5; echo late" })).content,
    );
    const kept =
      /\[sandbox: \S+\/\.vscode is as it was before; the command's version is kept as (\S+)\]/.exec(
        text,
      )?.[1];
    expect([
      text.includes("late"),
      readdirSync(room.cwd),
      readFileSync(join(kept ?? "", "a"), "utf8"),
    ]).toEqual([false, [], "x\n"]);
  });

  test("leave a new repository, with the settings that git itself writes", async () => {
    const room = await openSandboxRoom();
    await room.bash({
      command:
        "git init -q --bare x.git; git clone -q x.git a; git init -q b; git -C b config user.name me; git -C b config core.editor evil",
    });
    await room.bash({ command: "true" });
    const settings = (name: string): string => readFileSync(join(room.cwd, name, ".git/config"), "utf8");
    expect([
      settings("a").includes("url"),
      existsSync(join(room.cwd, "b/.git/HEAD")),
      existsSync(join(room.cwd, "b/.git/config")),
    ]).toEqual([true, true, false]);
  });

  test("work in a linked worktree and below the root of a repository, and change no settings there", async () => {
    const main = tempFolder({ "sub/a": "1" });
    const git = (...args: readonly string[]): string =>
      execFileSync("git", ["-C", main, "-c", "user.name=n", "-c", "user.email=e", ...args], {
        encoding: "utf8",
      });
    git("init", "-q");
    git("commit", "-q", "--allow-empty", "-m", "one");
    const [tree, other] = [join(tempFolder(), "tree"), join(tempFolder(), "other")];
    for (const place of [tree, other]) git("worktree", "add", "-q", place);
    const commit =
      "echo 2 > b; git add b; git -c user.name=n -c user.email=e commit -q -m two && git log -1 --format=%s";
    const attack = `cd "$(git rev-parse --git-common-dir)"; echo x >> config; echo x > commondir; echo x > worktrees/other/HEAD; echo x > hooks/pre-commit`;
    const before = [".git/config", ".git/worktrees/other/HEAD"].map((path) =>
      readFileSync(join(main, path), "utf8"),
    );
    for (const workspace of [tree, join(main, "sub")]) {
      const room = await openSandboxRoom({ sandbox: { workspace: [workspace] } });
      expect(steady(await room.bash({ command: commit }))).toBe("two\n[exit code 0, T]");
      await room.bash({ command: attack });
    }
    const after = [".git/config", ".git/worktrees/other/HEAD"].map((path) =>
      readFileSync(join(main, path), "utf8"),
    );
    // Below the root of a repository its worktrees may be written to, as git does.
    expect([
      after[0],
      existsSync(join(main, ".git/commondir")),
      existsSync(join(main, ".git/hooks/pre-commit")),
    ]).toEqual([before[0], false, false]);
    expect(readFileSync(join(main, "sub/b"), "utf8")).toBe("2\n");
  });

  test("of two sandboxes in one process keep to their own", async () => {
    const [one, two] = await Promise.all([openSandboxRoom(), openSandboxRoom()]);
    await one.bash({ command: `echo x > ${two.cwd}/x; echo x > x` });
    expect([readdirSync(one.cwd), readdirSync(two.cwd)]).toEqual([["x"], []]);
  });

  test("end with the process that started them, and what they did is looked at by the next", async () => {
    const [workspace, home, state] = [tempFolder(), tempFolder(), tempFolder()];
    const script = `
      import { openSandbox } from ${JSON.stringify(join(import.meta.dirname, "../../src/permission/sandbox/open-sandbox.ts"))};
      import { createBashTools } from ${JSON.stringify(join(import.meta.dirname, "../../src/tools/bash-tools.ts"))};
      const env = { PATH: "/usr/bin:/bin", HOME: ${JSON.stringify(home)} };
      const { sandbox } = await openSandbox({ workspace: [${JSON.stringify(workspace)}], home: env.HOME, stateFolder: ${JSON.stringify(state)}, environment: env });
      const command = "git init -q a/b && git -C a/b config core.fsmonitor evil; while :; do echo x >> beat; sleep 0.01; done";
      await createBashTools({ env, sandbox }).bash.execute({ command }, { signal: new AbortController().signal, cwd: ${JSON.stringify(workspace)}, update() {} });
    `;
    const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", script], {
      stdio: "ignore",
    });
    await until(() => existsSync(join(workspace, "beat")));
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
    const size = (): number => readFileSync(join(workspace, "beat")).length;
    let last = -1;
    await until(async () => {
      const [before] = [size()];
      await new Promise((resolve) => setTimeout(resolve, 50));
      last = size();
      return before === last;
    });
    const room = await openSandboxRoom({ sandbox: { workspace: [workspace], home, stateFolder: state } });
    await room.bash({ command: "true" });
    expect([size() === last, existsSync(join(workspace, "a/b/.git/config"))]).toEqual([true, false]);
    await room.sandbox.dispose();
    expect(readdirSync(join(state, "s"))).toEqual([]);
  });
});

describe.skipIf(missing !== "")("no command runs outside of a sandbox in its place", () => {
  const made = (room: { readonly cwd: string }): boolean => existsSync(join(room.cwd, "made"));

  test("when the sandbox is closed", async () => {
    const room = await openSandboxRoom();
    await room.sandbox.dispose();
    const { content } = await room.bash({ command: "touch made" });
    expect([content, made(room)]).toEqual([
      "Error: The sandbox could not take the command, and nothing was run: the sandbox is closed.",
      false,
    ]);
  });

  test("when bubblewrap holds nothing back any more", async () => {
    const programs = tempFolder();
    const real = execFileSync("sh", ["-c", "command -v bwrap"], { encoding: "utf8" }).trim();
    writeFileSync(
      join(programs, "bwrap"),
      `#!/bin/bash\n[ -e ${programs}/broken ] || exec ${real} "$@"\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n`,
      { mode: 0o755 },
    );
    const sandbox = { environment: { PATH: `${programs}:/usr/bin:/bin` } };
    const room = await openSandboxRoom({ sandbox });
    writeFileSync(join(programs, "broken"), "");
    const { content, isError } = await room.bash({ command: "touch made" });
    expect([isError, made(room), textOf(content)]).toEqual([
      true,
      false,
      expect.stringContaining("nothing was run"),
    ]);
  });

  test("when one that is needed cannot be opened", async () => {
    const room = openShellRoom({ sandbox: () => Promise.reject(new Error("no sandbox (x): y")) });
    const { content } = await room.bash({ command: "touch made" });
    expect([content, made(room)]).toEqual(["Error: no sandbox (x): y", false]);
  });

  test("when a call is placed inside and there is none, or asks to leave where nothing may", async () => {
    const none = openShellRoom({ placement: () => ({ runs: "inside", readOnly: false }) });
    const closed = await openSandboxRoom();
    const asked = { command: "touch made", access: "full", reason: "To try it." };
    const texts = [await none.bash({ command: "touch made" }), await closed.bash(asked)].map(
      ({ content }) => content,
    );
    expect([texts, made(none), made(closed)]).toEqual([
      [
        "Error: This call is to run in a sandbox, and there is none. Nothing was run.",
        "Error: This session has no way out of its sandbox. Make the call without access.",
      ],
      false,
      false,
    ]);
  });

  test("but a person's own command does, and one that is let out", async () => {
    const placement = (input: object) => ({
      runs: "access" in input ? ("outside" as const) : ("inside" as const),
      readOnly: false,
    });
    const room = await openSandboxRoom({ shell: { placement } });
    const { signal } = new AbortController();
    await room.tools.run("echo x > ~/mine", { cwd: room.cwd, signal });
    await room.bash({ command: "echo x > ~/let", access: "full", reason: "To try it." });
    expect(["mine", "let"].map((name) => existsSync(join(room.home, name)))).toEqual([true, true]);
  });
});

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A sandbox around `workspace`, and ports and sockets that this process listens on. */
export interface AttackRoom {
  readonly workspace: string;
  readonly home: string;
  /** A port of the host, an abstract socket, and a socket with a path in the home folder. */
  readonly host: { readonly port: number; readonly abstract: string; readonly socket: string };
  /** How often any of these were reached. */
  readonly reached: () => number;
  /** The result's text. */
  readonly bash: (command: string, input?: object) => Promise<string>;
}

/** An attack, and whether the wall held. */
export interface Attack {
  readonly name: string;
  readonly prepare?: (workspace: string, home: string) => void;
  readonly run: (room: AttackRoom) => Promise<boolean>;
  /** True: without a wall the attack succeeds, and does no harm elsewhere. */
  readonly isControlled?: boolean;
}

const SECRET = "the key";

/** Files that are in the home folder of every attack. */
export function prepareHome(home: string): void {
  mkdirSync(join(home, ".ssh"));
  writeFileSync(join(home, ".ssh", "id"), SECRET);
  writeFileSync(join(home, ".netrc"), SECRET);
  writeFileSync(join(home, "mine"), "mine");
}

function writes(name: string, command: string, isControlled = true): Attack {
  const run = async ({ bash, home }: AttackRoom): Promise<boolean> => {
    await bash(command);
    const isSame = existsSync(join(home, "mine")) && readFileSync(join(home, "mine"), "utf8") === "mine";
    return isSame && !existsSync(join(home, "new"));
  };
  return { name: `writes: ${name}`, run, isControlled };
}

function reads(name: string, command: string, input: object = {}): Attack {
  const run = async ({ bash }: AttackRoom): Promise<boolean> =>
    !(await bash(command, input)).includes(SECRET);
  return { name: `reads: ${name}`, run };
}

function reaches(name: string, command: (host: AttackRoom["host"]) => string, input: object = {}): Attack {
  const run = async ({ bash, host, reached }: AttackRoom): Promise<boolean> => {
    const before = reached();
    await bash(command(host), input);
    return reached() === before;
  };
  return { name: `reaches: ${name}`, run };
}

/** Passes when the command says `safe` and nothing else. */
function says(name: string, command: string, input: object = {}): Attack {
  const run = async ({ bash }: AttackRoom): Promise<boolean> =>
    (await bash(command, input)).startsWith("safe\n");
  return { name, run };
}

const CONNECT = (address: string): string =>
  `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) and connect(S, sockaddr_un("${address}")) and print "in"'`;
const NETWORK = { access: "network", reason: "To try it." };

const OUT_OF_THE_WALL: readonly Attack[] = [
  writes("to the home folder", "echo x > ~/mine; echo x > ~/new"),
  writes("through a link", "ln -s ~ l; echo x > l/mine; echo x > l/new"),
  writes("by a second name", "ln ~/mine m && echo x > m"),
  writes("by moving it", "mv ~/mine x; mv x ~/new"),
  writes("by mounting anew", "mount -o remount,rw,bind / ; mount -o remount,rw,bind ~; echo x > ~/new"),
  writes(
    "in namespaces of its own",
    "unshare -Urm sh -c 'umount ~; mount -o remount,rw,bind / ; echo x > ~/new'",
  ),
  writes("through /proc", "echo x > /proc/1/root$HOME/new; cd /proc/self/root; echo x > .$HOME/new"),
  writes("through a descriptor that was left open", "echo x >&63", false),
  reads("a folder of keys", "cat ~/.ssh/*; cd ~/.ssh && cat id"),
  reads("a file of keys", "cat ~/.netrc; ln ~/.netrc n; cat n"),
  reads("with the network", "cat ~/.ssh/id ~/.netrc", NETWORK),
  reads("below a mask that is taken away", "umount ~/.ssh ~/.netrc; cat ~/.ssh/id ~/.netrc"),
  reads("in namespaces of its own", "unshare -Urm sh -c 'umount ~/.ssh; cat ~/.ssh/id; chmod 700 ~/.ssh'"),
  reads("through other processes", "cat /proc/[0-9]*/root$HOME/.ssh/id /proc/[0-9]*/cwd/../*/.netrc"),
  reaches("a port of the machine", ({ port }) => `echo x > /dev/tcp/127.0.0.1/${port}`),
  reaches(
    "it in namespaces of its own",
    ({ port }) => `unshare -Urn sh -c 'ip link set lo up; echo x > /dev/tcp/127.0.0.1/${port}'`,
  ),
  reaches("a socket with a path", ({ socket }) => CONNECT(socket)),
  reaches("it with the network", ({ socket }) => CONNECT(socket), NETWORK),
  reaches("an abstract socket", ({ abstract }) => CONNECT(`\\0${abstract}`)),
  reaches("it with the network", ({ abstract }) => CONNECT(`\\0${abstract}`), NETWORK),
  reaches("the terminal", () => "exec 3<>/dev/tty && echo x >&3"),
  says(
    "other families of sockets are refused",
    `perl -e 'print socket(S, 40, 1, 0) ? "open" : "safe", "\\n"'`,
  ),
  says(
    "datagrams from a pair of sockets, with the network",
    `perl -MSocket -e 'print socketpair(A, B, AF_UNIX, SOCK_DGRAM, 0) ? "open" : "safe", "\\n"'`,
    NETWORK,
  ),
  says(
    "io_uring is refused",
    `perl -e '$! = 0; syscall(425, 1, 0); print $! == 38 ? "safe" : "open $!", "\\n"'`,
  ),
  says(
    "settings of the kernel cannot be changed",
    "for f in /proc/sys/kernel/core_pattern /proc/sysrq-trigger /sys/kernel/uevent_helper; do [ -w $f ] && echo $f; done; echo safe",
  ),
  says("keys of root are closed", "cat /etc/shadow /etc/ssh/*_key 2>/dev/null | grep -q . || echo safe"),
  says(
    "no process but its own is seen",
    `[ "$(ls -d /proc/[0-9]* | wc -l)" -lt 6 ] && ! grep -sq 'run-attacks[.]ts' /proc/[0-9]*/cmdline && echo safe`,
  ),
  says(
    "the sockets of the system are out of sight",
    '[ -z "$(find /run /var/run -type s 2>/dev/null)" ] && echo safe',
  ),
  says(
    "in plan mode nothing can be written",
    'exec 2>/dev/null; touch x; touch .git; [ -z "$(ls -A)" ] && echo a > /tmp/a && cat <<< safe',
    { plan: true },
  ),
];

const HOLDS_ELSEWHERE: readonly Attack[] = [
  {
    name: "what is to stay as it is cannot be changed, moved or replaced",
    prepare: (workspace) => mkdirSync(join(workspace, "own/settings"), { recursive: true }),
    run: async ({ bash, workspace }) => {
      await bash("echo x > own/settings/a; mv own other; rm -rf own; mkdir own; ln -s /etc own/settings");
      return (
        existsSync(join(workspace, "own/settings")) &&
        readdirSync(join(workspace, "own/settings")).length === 0
      );
    },
  },
  {
    name: "the files that the wall itself needs cannot be changed",
    run: async ({ bash }) => {
      const text = await bash(
        'own="$TMPDIR/../own"; for f in "$own"/*; do echo "exit" > "$f"; done; mv "$own" "$own.old"; ls "$own"',
      );
      return text.includes("gate") && (await bash("echo safe")).startsWith("safe");
    },
  },
  {
    name: "a link that is put in the place of a folder while it is mounted leads nowhere",
    prepare: (workspace, home) => {
      repository(join(workspace, "pkg"));
      mkdirSync(join(home, "mounted"));
    },
    run: async ({ bash, home }) => {
      await bash(
        `cd pkg; while :; do mv .git g; ln -s ../../${home.split("/").at(-1)}/mounted .git; rm .git; mv g .git; done`,
        { background: true },
      );
      for (let count = 0; count < 8; count++) await bash(`echo x > ${home}/mounted/x; echo x > pkg/.git/x`);
      return readdirSync(join(home, "mounted")).length === 0;
    },
  },
  {
    name: "nothing outlives a command",
    run: async ({ bash, workspace }) => {
      await bash(
        "(setsid sh -c 'while :; do echo x >> beat; sleep 0.01; done' &); env -i setsid sleep 1001 & until [ -s beat ]; do :; done",
      );
      const size = readFileSync(join(workspace, "beat")).length;
      await bash("sleep 0.2");
      return readFileSync(join(workspace, "beat")).length === size;
    },
  },
  {
    name: "temporary files of the machine are out of sight, and its own come back",
    prepare: (workspace) => writeFileSync(join(workspace, "../theirs"), ""),
    run: async ({ bash }) => {
      await bash("echo safe > /tmp/kept");
      return (await bash('ls .. | grep -c theirs; cat "$TMPDIR/kept" /var/tmp/kept')).startsWith(
        "0\nsafe\nsafe",
      );
    },
  },
];

/** Makes `evil` a folder that is a whole repository whose settings run a program. */
const EVIL = `mkdir evil && cp -r .git/HEAD .git/objects .git/refs evil/ && printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = %s\\n\\tfsmonitor = "touch $PWD/pwned; false"\\n' "$PWD" > evil/config`;
const BARE = `mkdir -p objects refs; echo "ref: refs/heads/main" > HEAD; printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = .\\n\\tfsmonitor = "touch %s/pwned; false"\\n' "$PWD" > config`;
const NESTED = `git init -q a/b/c && git -C a/b/c config core.fsmonitor "touch $PWD/pwned; false"`;

function repository(folder: string): void {
  mkdirSync(folder, { recursive: true });
  execFileSync("git", ["-C", folder, "init", "-q"]);
}

function steers(name: string, command: string, prepare: (workspace: string) => void = repositories): Attack {
  const run = async ({ bash, workspace }: AttackRoom): Promise<boolean> => {
    await bash(command);
    // What lies further down has been looked for when the next command runs.
    await bash("true");
    for (const folder of [".", "sub", "a/b/c"])
      if (existsSync(join(workspace, folder)))
        for (const line of ["status", "commit -q --allow-empty -m x"])
          spawnSync("sh", ["-c", `git -c user.name=n -c user.email=e ${line}`], {
            cwd: join(workspace, folder),
          });
    return !existsSync(join(workspace, "pwned"));
  };
  return { name: `steers: ${name}`, prepare, run, isControlled: true };
}

function repositories(workspace: string): void {
  for (const folder of [workspace, join(workspace, "sub")]) repository(folder);
}

const STEERING: readonly Attack[] = [
  steers("settings", `git config core.fsmonitor "touch $PWD/pwned; false"`),
  steers("settings that are moved into place", `${EVIL}; mv evil/config .git/config`),
  steers("another common folder", `${EVIL}; printf '../evil\\n' > .git/commondir`),
  steers(
    "settings of a worktree",
    `git config -f .git/config extensions.worktreeConfig true; ${EVIL}; cp evil/config .git/config.worktree; printf '../evil\\n' > .git/commondir`,
  ),
  steers(
    "a hook",
    `mkdir -p .git/hooks; printf '#!/bin/sh\\ntouch "'"$PWD"'/pwned"' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`,
  ),
  steers("another repository in its place", `${EVIL}; mv .git old; cp -r evil/. .git`),
  steers("a pointer in its place", `${EVIL}; rm -rf .git; echo "gitdir: evil" > .git`),
  steers("a link in its place", `${EVIL}; rm -rf .git; ln -s evil .git`),
  steers("the settings of a repository below", `git -C sub config core.fsmonitor "touch $PWD/pwned; false"`),
  steers(
    "a new repository in the root",
    `git init -q; git config core.fsmonitor "touch $PWD/pwned; false"`,
    (folder) => mkdirSync(join(folder, "sub")),
  ),
  steers(
    "a pointer to one in the root",
    `git init -q evil; git -C evil config core.fsmonitor "touch $PWD/pwned; false"; echo "gitdir: evil/.git" > .git`,
    () => undefined,
  ),
  steers("a new repository below", NESTED),
  steers(
    "a hook of a new repository below",
    `git init -q a/b/c; printf '#!/bin/sh\\ntouch "'"$PWD"'/pwned"' > a/b/c/.git/hooks/pre-commit; chmod +x a/b/c/.git/hooks/pre-commit`,
  ),
  steers("a repository made of the root itself", BARE, () => undefined),
  steers(
    "a repository made of a folder below",
    `mkdir -p a/b/c && cd a/b/c && ${BARE.replace('"$PWD"', '"$OLDPWD"')}`,
  ),
  steers(
    "one made of the root, in the place of one that is spoiled",
    `${BARE}; echo x > .git/HEAD; rm -rf .git/objects .git/refs`,
  ),
  {
    name: "steers: editors and the agent",
    run: async ({ bash, workspace }) => {
      const names = [".vscode", ".idea", ".claude", ".nano-agent", ".mcp.json", "nano-agent.json"];
      for (const name of names)
        await bash(name.includes("json") ? `echo {} > ${name}` : `mkdir ${name}; touch ${name}/a`);
      await bash("mkdir made; mv made .vscode; ln -s /etc .claude");
      return readdirSync(workspace).every((name) => !names.includes(name));
    },
    isControlled: true,
  },
];

/** Every promise of the sandbox, as an attempt to break it. */
export const ATTACKS: readonly Attack[] = [...OUT_OF_THE_WALL, ...HOLDS_ELSEWHERE, ...STEERING];

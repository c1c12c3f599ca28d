import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { modelServer, serverEnv } from "../e2e/command.ts";
import { withVariables } from "../hermetic-command.ts";
import { tempFolder } from "../temp-folder.ts";
import { MALICIOUS_REPOSITORIES, type MaliciousRepository } from "./malicious-repositories.ts";

const BIN = join(import.meta.dirname, "../../dist/bin.mjs");
const STRACE =
  process.platform === "linux" && spawnSync("strace", ["-f", "-e", "trace=none", "true"]).status === 0;

function planted({ files }: MaliciousRepository, evil: string): string {
  const root = tempFolder();
  mkdirSync(join(root, ".git"));
  for (const [path, text] of Object.entries(files(evil))) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    if (text.startsWith("->")) symlinkSync(text.slice(2), join(root, path));
    else {
      writeFileSync(join(root, path), text);
      if (text.startsWith("#!")) chmodSync(join(root, path), 0o755);
    }
  }
  return root;
}

/** An address that notes who connects. */
async function evilAddress(): Promise<{ readonly url: string; readonly visits: () => number }> {
  let visits = 0;
  const server = createServer((socket) => {
    visits++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { url: `http://127.0.0.1:${address.port}`, visits: () => visits };
}

/** What processes a trace shows starting, and where they connect to. */
function readTrace(folder: string) {
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"));
  const programs = lines.flatMap((line) => /^execve\("([^"]*)".* = 0$/.exec(line)?.[1] ?? []);
  const ports = lines.flatMap((line) => /^connect\(.*sin6?_port=htons\((\d+)\)/.exec(line)?.[1] ?? []);
  const others = lines.filter((line) => line.startsWith("connect(") && !/sin6?_port=|AF_UNIX/.test(line));
  return { programs, ports: [...new Set(ports)].map(Number), others };
}

test.skipIf(!STRACE).each(MALICIOUS_REPOSITORIES.map((repository) => [repository.name, repository] as const))(
  "opening a repository with %s starts no process and opens no connection but to the model (needs strace)",
  async (_, repository) => {
    const evil = await evilAddress();
    const cwd = planted(repository, evil.url);
    const server = await modelServer([
      [
        calls("read", { path: "." }),
        calls("grep", { pattern: "PWN", path: "." }),
        calls("glob", { pattern: "**/*.md" }),
        calls("grep", { pattern: "root", path: "nano-agent.json" }),
      ],
      says("done"),
    ]);
    const trace = tempFolder();
    const home = tempFolder();
    const path = `${repository.env?.["PATH"] ?? ""}:${process.env["PATH"] ?? ""}`;
    const child = spawn(
      "strace",
      [
        "-ff",
        "-qq",
        "-s",
        "300",
        "-e",
        "trace=execve,connect",
        "-o",
        join(trace, "t"),
        process.execPath,
        BIN,
        "-p",
        "look around",
      ],
      {
        cwd,
        env: withVariables({
          HOME: home,
          EVIL: evil.url,
          ...serverEnv(server),
          ...repository.env,
          PATH: path,
        }),
        stdio: "ignore",
      },
    );
    onTestFinished(() => void child.kill("SIGKILL"));
    const code = await new Promise((resolve) => child.once("close", resolve));
    const { programs, ports, others } = readTrace(trace);
    const own = programs.filter((program) => program !== process.execPath && !/^\/.*\/rg$/.test(program));
    const inside = programs.filter((program) => !program.startsWith("/") || program.startsWith(cwd));
    const port = Number(new URL(server.url).port);
    const isBroken = repository.code !== undefined;
    expect({
      traced: programs.includes(process.execPath),
      ended: isBroken ? code === repository.code : code === 0 || code === 3,
      own,
      inside,
      elsewhere: ports.filter((each) => each !== port),
      others,
      visits: evil.visits(),
      marks: existsSync(join(cwd, "PWNED")),
      asked: ports.includes(port),
    }).toEqual({
      traced: true,
      ended: true,
      own: [],
      inside: [],
      elsewhere: [],
      others: [],
      visits: 0,
      marks: false,
      asked: !isBroken,
    });
  },
);

test.skipIf(!STRACE)("a trace shows what is started and where it connects to (needs strace)", async () => {
  const { url } = await evilAddress();
  const trace = tempFolder();
  const port = Number(new URL(url).port);
  const script = `sh -c 'exec sleep 0'; exec 3<>/dev/tcp/127.0.0.1/${port}`;
  spawnSync("strace", [
    "-ff",
    "-qq",
    "-e",
    "trace=execve,connect",
    "-o",
    join(trace, "t"),
    "bash",
    "-c",
    script,
  ]);
  const { programs, ports } = readTrace(trace);
  expect({ programs: new Set(programs.map((program) => program.split("/").at(-1))), ports }).toEqual({
    programs: new Set(["bash", "sh", "sleep"]),
    ports: [port],
  });
});

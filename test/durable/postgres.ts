import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

/** Where Debian and its like keep what is not on the PATH. */
const VERSIONS = "/usr/lib/postgresql";

/** The folder of PostgreSQL's programs; undefined where there is none. */
export function postgresPrograms(): string | undefined {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS) : [];
  const newest = versions.toSorted((a, b) => Number(b) - Number(a));
  const folders = [
    ...(process.env["PATH"] ?? "").split(delimiter),
    ...newest.map((version) => join(VERSIONS, version, "bin")),
  ];
  return folders.find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")));
}

/** A PostgreSQL server of a test's own. */
export interface Postgres {
  /** A database with nothing in it: its `postgres://…`. */
  readonly createDatabase: () => Promise<string>;
  /** Ends it as a power cut would. Resolves when it is gone. */
  readonly kill: () => Promise<void>;
  /** Starts it again on what is on its disk. */
  readonly start: () => Promise<void>;
  /** Ends it and removes its files. */
  readonly close: () => Promise<void>;
}

/** Whom the server runs as: it refuses to run as root. */
interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

/** Makes a server in a temporary folder, reached by a socket in it, and starts it. */
export async function startPostgres(): Promise<Postgres> {
  const programs = postgresPrograms();
  if (programs === undefined) throw new Error("There is no PostgreSQL here: install its server.");
  const owner = ownerHere();
  const folder = mkdtempSync(join(tmpdir(), "nano-agent-pg-"));
  const data = join(folder, "data");
  mkdirSync(data);
  if (owner.uid !== undefined && owner.gid !== undefined)
    for (const each of [folder, data]) chownSync(each, owner.uid, owner.gid);
  const run = { ...owner, env: { PATH: process.env["PATH"], LC_ALL: "C" }, cwd: folder };
  execFileSync(
    join(programs, "initdb"),
    ["-D", data, "-U", "nano", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"],
    { ...run, stdio: "ignore" },
  );
  let server: ChildProcess | undefined;
  let databases = 0;
  const killNow = (): void => void server?.kill("SIGKILL");
  // Not even a run of tests that is cut short leaves a server behind.
  process.once("exit", killNow);
  const start = async (): Promise<void> => {
    server = await started(() =>
      spawn(join(programs, "postgres"), ["-D", data, "-k", folder, ...SETTINGS], {
        ...run,
        stdio: ["ignore", "ignore", "pipe"],
      }),
    );
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const over = once(server, "exit");
    server.kill(signal);
    await over;
  };
  const url = (database: string): string =>
    `postgres://nano@localhost/${database}?host=${encodeURIComponent(folder)}`;
  await start();
  return {
    createDatabase: async () => {
      const name = `room_${++databases}`;
      await inDatabase(url("postgres"), `create database ${name}`);
      return url(name);
    },
    kill: () => end("SIGKILL"),
    start,
    close: async () => {
      await end("SIGQUIT");
      process.off("exit", killNow);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** One statement in a database. */
export async function inDatabase<Row extends object>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Row[]> {
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** No network, no waiting for disks: what is killed here is a process, never the machine. */
const SETTINGS = ["listen_addresses=", "fsync=off", "max_connections=200", "shared_buffers=32MB"].flatMap(
  (setting) => ["-c", setting],
);

/** Starts a server until it takes connections. */
async function started(begin: () => ChildProcess): Promise<ChildProcess> {
  for (;;) {
    const server = begin();
    const log = await firstWords(server);
    if (server.exitCode === null && server.signalCode === null) return server;
    // The processes of one that was killed notice that a moment later.
    if (!/shared memory|lock file/.test(log)) throw new Error(`PostgreSQL does not start: ${log}`);
  }
}

/** What a server says until it is ready, or has ended. */
function firstWords(server: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let log = "";
    server.once("error", reject);
    server.once("close", () => resolve(log));
    server.stderr?.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      if (log.includes("ready to accept connections")) resolve(log);
    });
  });
}

function ownerHere(): Owner {
  if (process.getuid?.() !== 0) return {};
  const number = (option: string): number =>
    Number(execFileSync("id", [option, "nobody"], { encoding: "utf8" }));
  return { uid: number("-u"), gid: number("-g") };
}

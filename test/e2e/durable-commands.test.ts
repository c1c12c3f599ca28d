import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createFleet } from "../../src/durable/index.ts";
import { entriesOf, resultsIn, whenWaiting } from "../durable/fleet-room.ts";
import { type Postgres, postgresPrograms, startPostgres } from "../durable/postgres.ts";
import { tempFolder } from "../temp-folder.ts";
import { runCommand, startCommand } from "./command.ts";

const ROOT = join(import.meta.dirname, "../..");

/** A worker whose agent asks before it notes something. */
const workerFile = (databaseUrl: string, schema: string): string => `
import { Agent, defineTool } from ${JSON.stringify(join(ROOT, "dist/lib/index.js"))};
import { calls, ScriptedModel, says } from ${JSON.stringify(join(ROOT, "dist/lib/testing/index.js"))};
const note = defineTool({
  name: "note",
  description: "Notes.",
  parameters: { type: "object", properties: { text: { type: "string" } } },
  needsApproval: true,
  execute: ({ text }) => "noted " + text,
});
const step = ({ messages }) => (messages.length === 1 ? calls("note", { text: "a\\u001b[31m" }, "call_1") : says("Done."));
export default () => ({
  databaseUrl: ${JSON.stringify(databaseUrl)},
  schema: ${JSON.stringify(schema)},
  agents: { clerk: (host) => new Agent({ model: new ScriptedModel(step), tools: [note], ...host }) },
});
`;

const hasPostgres = postgresPrograms() !== undefined;

// Needs the server of PostgreSQL.
describe.skipIf(!hasPostgres)("nano-agent worker and runs", () => {
  let server: Postgres | undefined;
  let databaseUrl = "";
  let withPassword = "";
  beforeAll(async () => {
    server = await startPostgres();
    databaseUrl = await server.createDatabase();
    withPassword = databaseUrl.replace("nano@", "nano:s3cr%21t@");
  });
  afterAll(() => server?.close());

  test("a worker works until SIGTERM; runs are listed, shown, approved, cancelled and retried", async () => {
    const schema = "commands";
    const fleet = await createFleet({ databaseUrl, schema, concurrency: 0 });
    onTestFinished(() => fleet.close());
    const cwd = tempFolder({ "worker.mjs": workerFile(withPassword, schema) });
    const worker = startCommand(["worker", "--config", "worker.mjs", "--concurrency", "3"], { cwd });
    await worker.says("Ctrl+C");
    const about = (...words: string[]) =>
      runCommand(["runs", ...words, "--schema", schema], { env: { NANO_AGENT_DATABASE_URL: withPassword } });
    for (const id of ["yes", "no", "never"]) await whenWaiting(await fleet.start("clerk", "Go.", { id }));

    const list = await about("list", "--state", "waiting");
    expect([
      list.code,
      list.stderr,
      list.stdout.split("\n").map((line) => line.replaceAll(/\s+/g, " ").trim()),
    ]).toEqual([
      0,
      "",
      [
        "STATE AGENT ID AGE ENTRIES STATUS",
        ...["never", "no", "yes"].map((id) => `waiting clerk ${id} now 5 waits for note`),
        "",
      ],
    ]);
    const shown = (await about("show", "yes")).stdout;
    expect(shown).toContain("waits for a yes: call call_1");
    expect(shown).toMatch(/❯ Go\.\n\nstep 1\n/);
    expect(shown).not.toContain("\u001b[31m");

    const done = [
      await about("approve", "yes", "call_1"),
      await about("approve", "no", "call_1", "--deny", "--reason", "ask first"),
      await about("cancel", "never", "--reason", "too late"),
    ];
    expect(done).toEqual(
      ["Approved call_1 of yes.\n", "Refused call_1 of no.\n", "Cancelled never.\n"].map((stdout) => ({
        code: 0,
        stdout,
        stderr: "",
      })),
    );
    const results = await Promise.all(["yes", "no", "never"].map((id) => fleet.run(id).result()));
    expect(results.map(({ stopReason }) => stopReason)).toEqual(["completed", "completed", "aborted"]);
    expect(resultsIn(await entriesOf(fleet.run("no")))).toEqual([
      expect.stringMatching(/^call_1 denied: .*ask first/),
    ]);
    const { code, stdout } = await about("list", "--limit", "1", "--json");
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      [expect.objectContaining({ id: "never", state: "ended", stop_reason: "aborted", pending: [] })],
    ]);
    expect(JSON.parse((await about("show", "yes", "--json")).stdout)).toMatchObject({
      id: "yes",
      stop_reason: "completed",
      journal: expect.arrayContaining([expect.objectContaining({ type: "run_end" })]),
    });
    expect((await about("retry", "never")).stdout).toBe("never is handed out again.\n");
    expect((await fleet.run("never").result()).stopReason).toBe("completed");
    expect((await about("retry", "yes")).code).toBe(2);
    expect((await about("cancel", "yes")).stdout).toBe(
      "yes had ended before (completed): there is nothing to cancel.\n",
    );

    worker.child.kill("SIGTERM");
    const end = await worker.end;
    expect([end.code, end.stderr]).toEqual([0, ""]);
    expect(end.stdout).toMatch(
      /^Working on clerk: up to 3 runs at the same time, version 1, from postgres:\/\/nano@localhost\/room_1\. Ctrl\+C releases them\.\n/,
    );
    for (const { stdout: said, stderr } of [list, ...done, end])
      expect(`${said}${stderr}`).not.toContain("s3cr");
  });

  test("what is wrong is said in one line, and no password with it", async () => {
    const env = { NANO_AGENT_DATABASE_URL: withPassword };
    const gone = "postgres://nano:s3cr%21t@127.0.0.1:1/gone";
    const said = async (words: readonly string[], variables: Readonly<Record<string, string>> = env) => {
      const { code, stdout, stderr } = await runCommand(words, { env: variables });
      expect([stdout, stderr.includes("s3cr"), stderr.includes("\n    at ")]).toEqual(["", false, false]);
      return [code, stderr.replaceAll(/\s+/g, " ")];
    };
    expect(await said(["runs", "list"], {})).toEqual([2, expect.stringContaining("NANO_AGENT_DATABASE_URL")]);
    expect(await said(["runs", "show", "nowhere"])).toEqual([2, expect.stringContaining('no run "nowhere"')]);
    expect(await said(["runs", "list", "--limit", "0"])).toEqual([2, expect.stringContaining("--limit")]);
    expect(await said(["runs", "list", "--database", databaseUrl.replace("/room_1", "/none")])).toEqual([
      52,
      expect.stringContaining('"none" does not exist'),
    ]);
    expect(await said(["runs", "list", "--database", gone])).toEqual([
      52,
      expect.stringMatching(/ECONNREFUSED|cannot be reached|failed/),
    ]);
    expect(await said(["runs", "approve", "a", "b", "--reason", "x"])).toEqual([
      2,
      expect.stringContaining("--deny"),
    ]);
  });
});

test.each([
  ["no file", ["worker"], {}, 2, "--config"],
  ["a file that is not there", ["worker", "--config", "none.mjs"], {}, 52, "There is no"],
  [
    "a file that cannot be loaded",
    ["worker", "--config", "a.mjs"],
    { "a.mjs": "export default {" },
    52,
    "cannot be loaded",
  ],
  [
    "no default export",
    ["worker", "--config", "a.mjs"],
    { "a.mjs": "export const a = 1;" },
    52,
    "no default export",
  ],
  [
    "a function that fails",
    ["worker", "--config", "a.mjs"],
    { "a.mjs": "export default () => { throw new Error('no vault'); };" },
    52,
    "no vault",
  ],
  [
    "no agents",
    ["worker", "--config", "a.mjs"],
    { "a.mjs": "export default { databaseUrl: 'postgres://x' };" },
    52,
    "names no agents",
  ],
  [
    "no database",
    ["worker", "--config", "a.mjs"],
    { "a.mjs": "export default { agents: { a: () => 1 } };" },
    52,
    "names no database",
  ],
  ["a concurrency of none", ["worker", "--config", "a.mjs", "--concurrency", "0"], {}, 2, "--concurrency"],
  [
    "an option nobody knows",
    ["worker", "--config", "a.mjs"],
    { "a.mjs": "export default { agents: { a: () => 1 }, dataDir: 'd', concurency: 1 };" },
    52,
    'a.mjs: Unknown option "concurency".',
  ],
  [
    "options that cannot be read",
    ["worker", "--config", "a.mjs"],
    { "a.mjs": "export default { get agents() { throw new Error('no vault'); } };" },
    52,
    "The options in a.mjs cannot be read: no vault",
  ],
  [
    "an address that is none",
    ["worker", "--config", "a.mjs"],
    { "a.mjs": "export default { agents: { a: () => 1 }, databaseUrl: 'postgres://u:s3cr et@[::b/x' };" },
    52,
    "a.mjs: databaseUrl cannot be read",
  ],
  [
    "a file that waits for what does not come",
    ["worker", "--config", "a.mjs"],
    { "a.mjs": "await new Promise(() => {});" },
    52,
    "a.mjs is never loaded",
  ],
  [
    "a function that waits for what does not come",
    ["worker", "--config", "a.mjs"],
    { "a.mjs": "export default () => new Promise(() => {});" },
    52,
    "a.mjs is never loaded",
  ],
] satisfies readonly (readonly [
  string,
  readonly string[],
  Readonly<Record<string, string>>,
  number,
  string,
])[])("worker with %s says what to do", async (...[, args, files, code, text]) => {
  const end = await runCommand(args, { cwd: tempFolder(files) });
  expect([end.code, end.stdout, end.stderr.replaceAll(/\s+/g, " ")]).toEqual([
    code,
    "",
    expect.stringContaining(text),
  ]);
  expect(end.stderr).not.toContain("\n    at ");
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("a worker that %s reaches while it opens its database ends at once", async (signal, code) => {
  // It takes the connection, and never says a word.
  const server = createServer((socket) => void socket.on("error", () => undefined).resume());
  const asked = once(server, "connection");
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const cwd = tempFolder({
    "a.mjs": `export default { agents: { a: () => 1 }, databaseUrl: "postgres://127.0.0.1:${port}/x" };`,
  });
  const worker = startCommand(["worker", "--config", "a.mjs"], { cwd });
  await asked;
  worker.child.kill(signal);
  expect(await worker.end).toEqual({ code, stdout: "", stderr: "" });
});

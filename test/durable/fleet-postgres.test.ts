import { execFile } from "node:child_process";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Clock } from "../../src/core/base/async.ts";
import { openDatabase } from "../../src/durable/database.ts";
import { createFleet } from "../../src/durable/index.ts";
import { RateSlots } from "../../src/durable/rate-slots.ts";
import { says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { withVariables } from "../hermetic-command.ts";
import { describeFleet } from "./fleet.contract.ts";
import { inDatabase, type Postgres, postgresPrograms, startPostgres } from "./postgres.ts";

const soon = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));
const hasPostgres = postgresPrograms() !== undefined;

// Needs the server of PostgreSQL.
describe.skipIf(!hasPostgres)("on PostgreSQL", () => {
  let server: Postgres | undefined;
  let databaseUrl = "";
  let schemas = 0;
  beforeAll(async () => {
    server = await startPostgres();
    databaseUrl = await server.createDatabase();
  });
  afterAll(() => server?.close());
  describeFleet("PostgreSQL", () => ({
    options: { databaseUrl, schema: `fleet_${++schemas}` },
    isShared: true,
  }));

  test("two requests at the same moment take two slots, not the same one after the other", async () => {
    const schema = `slots_${++schemas}`;
    await inDatabase(databaseUrl, `create schema ${schema}`);
    await inDatabase(
      databaseUrl,
      `create table ${schema}.rate_slots (provider text, slot int, free_at timestamptz, primary key (provider, slot))`,
    );
    const waits: number[] = [];
    const [first, second] = [await askFrom(schema, waits), await askFrom(schema, waits)];
    await first.client.query("begin");
    await first.ask();
    const asking = second.ask();
    const over = asking.then(() => "over");
    while ((await Promise.race([over, soon()])) !== "over" && !(await isBlocked(second.process)));
    await first.client.query("commit");
    await asking;
    expect(waits).toEqual([]);
  });

  test("many open an empty database at the same moment, also where both schemas were made for their user", async () => {
    const own = (await server?.createDatabase()) ?? "";
    await inDatabase(own, "create role plain login");
    for (const schema of ["made", "made_queue"])
      await inDatabase(own, `create schema ${schema} authorization plain`);
    const places = [
      ...Array.from({ length: 4 }, () => ({ databaseUrl: own, schema: "empty" })),
      ...Array.from({ length: 4 }, () => ({ databaseUrl: own.replace("nano@", "plain@"), schema: "made" })),
    ];
    const opened = await Promise.allSettled(
      places.map((place) => createFleet({ ...place, concurrency: 0 }).then((fleet) => fleet.close())),
    );
    expect(opened.filter(({ status }) => status === "rejected")).toEqual([]);
  });

  test("a fleet that cannot be opened leaves nothing at work: its process ends", async () => {
    const own = (await server?.createDatabase()) ?? "";
    const opening = { databaseUrl: own, schema: "own" };
    await (await createFleet({ ...opening, concurrency: 0 })).close();
    // The last that is done before a fleet is there.
    await inDatabase(own, "alter table own.workers rename to others");
    const ending = new AbortController();
    onTestFinished(() => ending.abort());
    const entry = JSON.stringify(new URL("../../src/durable/index.ts", import.meta.url).href);
    const program = `import { createFleet } from ${entry};
      const agents = { clerk: () => undefined };
      await createFleet({ ...${JSON.stringify(opening)}, agents }).catch(({ code }) => console.log(code));`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--input-type=module", "--eval", program],
      { env: withVariables({}), signal: ending.signal, killSignal: "SIGKILL" },
    );
    expect(stdout).toBe("invalid_config\n");
  });

  test("a connection that breaks between two statements of a transaction ends no process", async () => {
    const database = await openDatabase({ databaseUrl, connections: 1, onWarning: () => undefined });
    onTestFinished(() => database.close());
    const broken = database.transaction(async (sql) => {
      const [row] = await sql.query<{ readonly pid: number }>("select pg_backend_pid() as pid");
      await inDatabase(databaseUrl, "select pg_terminate_backend($1)", [row?.pid]);
      for (;;) {
        await sql.query("select 1");
        await soon();
      }
    });
    await expect(broken).rejects.toThrow(/connection/i);
    expect(await database.query("select 1 as one")).toEqual([{ one: 1 }]);
  });

  test("the server ends a transaction that it hears nothing more of, whose locks would keep others waiting", async () => {
    const database = await openDatabase({ databaseUrl, connections: 1, onWarning: () => undefined });
    onTestFinished(() => database.close());
    const setting = "select current_setting('idle_in_transaction_session_timeout') as setting";
    const within = await database.transaction((sql) => sql.query(setting));
    expect([within, await database.query(setting)]).toEqual([[{ setting: "30s" }], [{ setting: "0" }]]);
  });

  /** A connection that sends requests within a limit of two an hour; what they would wait is noted. */
  async function askFrom(schema: string, waits: number[]) {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    onTestFinished(() => client.end());
    const clock: Clock = { now: () => 0, elapsed: () => 0, sleep: async (ms) => void waits.push(ms) };
    const sql = {
      query: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
        (await client.query<Row>(text, [...values])).rows,
    };
    const limits = { scripted: { requests: 2, perMs: 3_600_000 } };
    const slots = new RateSlots(sql, schema, limits, (work) => work(), clock);
    await slots.open();
    const model = slots.wrap(new ScriptedModel([says("Yes.")]));
    const { rows } = await client.query<{ readonly pid: number }>("select pg_backend_pid() as pid");
    return {
      client,
      process: rows[0]?.pid ?? 0,
      ask: async () => {
        for await (const _ of model.stream({ messages: [] }, {}));
      },
    };
  }

  async function isBlocked(pid: number): Promise<boolean> {
    const text = "select wait_event_type as waits from pg_stat_activity where pid = $1";
    const [row] = await inDatabase<{ readonly waits: string | null }>(databaseUrl, text, [pid]);
    return row?.waits === "Lock";
  }
});

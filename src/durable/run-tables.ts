import { invalidConfig } from "../core/base/errors.ts";
import type { Database, Sql } from "./database.ts";

export const SCHEMA_NAME = {
  type: "string",
  pattern: "^[a-z_][a-z0-9_]{0,40}$",
  "x-say": "up to 41 lower-case letters, digits and _, no digit first",
} as const;

/** The steps from an empty database to the newest tables. A released step never changes. */
const STEPS: readonly ((schema: string) => readonly string[])[] = [
  (schema) => [
    `create table ${schema}.runs (
      id text primary key,
      agent text not null,
      version text,
      state text not null,
      priority int not null,
      deadline timestamptz,
      input text not null,
      budget text,
      epoch bigint not null default 0,
      worker text,
      job text,
      seq bigint not null default 0,
      newest text,
      losses int not null default 0,
      signals bigint not null default 0,
      retries int not null default 0,
      pending text,
      report text,
      created_at timestamptz not null default now(),
      changed_at timestamptz not null default now(),
      ended_at timestamptz
    ) with (fillfactor = 70)`,
    `create index runs_by_age on ${schema}.runs (created_at desc, id)`,
    `create index runs_by_end on ${schema}.runs (ended_at) where ended_at is not null`,
    `create index runs_by_deadline on ${schema}.runs (deadline) where ended_at is null and deadline is not null`,
    `create table ${schema}.entries (
      run text not null,
      seq bigint not null,
      epoch bigint not null,
      id text not null,
      record text not null,
      primary key (run, seq)
    )`,
    `create table ${schema}.signals (
      id text primary key,
      number bigserial,
      run text not null,
      kind text not null,
      call text,
      data text not null,
      taken boolean not null default false
    )`,
    `create index signals_by_run on ${schema}.signals (run, number)`,
    `create table ${schema}.rate_slots (
      provider text not null,
      slot int not null,
      free_at timestamptz not null,
      primary key (provider, slot)
    )`,
    `create table ${schema}.workers (
      id text primary key,
      version text not null,
      agents text[] not null,
      seen_at timestamptz not null
    )`,
  ],
  (schema) => [
    `create index signals_by_cancel on ${schema}.signals (run) where kind = 'cancel' and not taken`,
    `create table ${schema}.rate_turns (provider text not null, due_at timestamptz not null)`,
    `create index rate_turns_by_time on ${schema}.rate_turns (provider, due_at)`,
  ],
];

/**
 * Creates or upgrades the tables, one process at a time. Rejects with `invalid_config` for tables of a newer
 * version and for a database that does not store Unicode.
 */
export async function migrate(database: Database, schema: string): Promise<void> {
  await assertUnicode(database);
  await database.transaction(async (sql) => {
    await sql.query("select pg_advisory_xact_lock(hashtext($1))", [`nano-agent ${schema}`]);
    await makeSchema(sql, schema);
    await makeSchema(sql, queueSchema(schema));
    await sql.query(`create table if not exists ${schema}.version (number int not null)`);
    const [row] = await sql.query<{ readonly number: number }>(`select number from ${schema}.version`);
    const found = row?.number ?? 0;
    if (found > STEPS.length)
      throw invalidConfig(
        `The tables in the schema ${schema} are of version ${found}, and this nano-agent knows ${STEPS.length}: update it.`,
      );
    for (const step of STEPS.slice(found)) for (const statement of step(schema)) await sql.query(statement);
    if (found === STEPS.length) return;
    await sql.query(`delete from ${schema}.version`);
    await sql.query(`insert into ${schema}.version values ($1)`, [STEPS.length]);
  });
}

export function queueSchema(schema: string): string {
  return `${schema}_queue`;
}

/** Checks first, as `if not exists` requires the right to create a schema even if it exists. */
async function makeSchema(sql: Sql, name: string): Promise<void> {
  const found = await sql.query("select from pg_namespace where nspname = $1", [name]);
  if (found.length === 0) await sql.query(`create schema ${name}`);
}

async function assertUnicode(sql: Sql): Promise<void> {
  const [row] = await sql.query<{ readonly server_encoding: string }>("show server_encoding");
  if (row?.server_encoding === "UTF8") return;
  throw invalidConfig(
    `The database stores texts as ${row?.server_encoding ?? "something unknown"}: make one with the encoding UTF8 for durable runs.`,
  );
}

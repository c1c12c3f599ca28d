import { afterAll, beforeAll, describe } from "vitest";
import { describeFleet } from "./fleet.contract.ts";
import { type Postgres, postgresPrograms, startPostgres } from "./postgres.ts";

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
});

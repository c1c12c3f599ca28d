import { afterAll, describe } from "vitest";
import { roomMaker } from "./attack-room.ts";
import { describeLosses } from "./losses.contract.ts";
import { type Postgres, postgresPrograms, startPostgres } from "./postgres.ts";

describe("embedded: lost workers", () => {
  describeLosses(roomMaker());
});

// Needs the server of PostgreSQL.
describe.skipIf(postgresPrograms() === undefined)("PostgreSQL: lost workers", () => {
  let server: Postgres | undefined;
  afterAll(() => server?.close());
  describeLosses(
    roomMaker(async () => {
      server = await startPostgres();
      return server.createDatabase();
    }),
  );
});

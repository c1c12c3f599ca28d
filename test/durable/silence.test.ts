import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase, withRetry } from "../../src/durable/database.ts";

/** `AuthenticationOk` and `ReadyForQuery`. */
const WELCOME = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

/** A PostgreSQL that lets everybody in, and then says nothing any more: something drops its packets. */
async function silentServer(): Promise<{ readonly databaseUrl: string; readonly guests: Set<Socket> }> {
  const guests = new Set<Socket>();
  const server = createServer((socket) => {
    guests.add(socket);
    socket.on("error", () => undefined).once("data", () => socket.write(WELCOME));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const guest of guests) guest.destroy();
    server.close();
  });
  return { databaseUrl: `postgres://u@127.0.0.1:${(server.address() as AddressInfo).port}/d`, guests };
}

test("a database that says nothing any more is one that failed, and is asked again on another connection", async () => {
  const { databaseUrl, guests } = await silentServer();
  const onWarning = (): void => undefined;
  const database = await openDatabase({ databaseUrl, connections: 1, timeoutMs: 20, onWarning });
  onTestFinished(() => database.close());
  const failures = [
    await withRetry(() => database.query("select 1"), { maxMs: 0, onWarning }).catch((error) => error),
    await withRetry(() => database.transaction((sql) => sql.query("select 1")), {
      maxMs: 0,
      onWarning,
    }).catch((error) => error),
  ];
  expect([failures, guests.size]).toEqual([
    Array.from({ length: 2 }, () => expect.objectContaining({ code: "journal", retryable: true })),
    2,
  ]);
});

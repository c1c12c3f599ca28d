import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { listen } from "./listen.ts";

test("a port that is taken, and an address of another machine, are told with what to do", async () => {
  await using taken = createServer();
  await listen(taken, { host: "127.0.0.1", port: 0 });
  const address = taken.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  await using second = createServer();
  await expect(listen(second, { host: "127.0.0.1", port })).rejects.toMatchObject({
    code: "invalid_argument",
    message: `Port ${port} of 127.0.0.1 is taken. Choose another one, or 0 for a free one.`,
  });
  await expect(listen(second, { host: "192.0.2.1", port: 0 })).rejects.toMatchObject({
    code: "invalid_argument",
    message: "This machine does not have the address 192.0.2.1.",
  });
});

test("what goes wrong after it listens is not the start's", async () => {
  await using server = createServer();
  await listen(server, { host: "127.0.0.1", port: 0 });
  const heard = once(server, "error").then(([error]) => error);
  const fault = new Error("later");
  server.emit("error", fault);
  expect(await heard).toBe(fault);
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import type { StdioServer } from "./server-definition.ts";
import { StdioTransport } from "./stdio-transport.ts";

test("a server that sends without end has to wait until what it sent is heard", async () => {
  const counter = join(tempFolder(), "sent");
  // Writing blocks while the pipe is full: what was sent is never more than what is read and a pipe full.
  const flood = `const { appendFileSync, writeSync } = require("node:fs");
    const line = JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: {} }) + "\\n";
    const write = (text) => { try { writeSync(1, text); } catch (error) { if (error.code !== "EAGAIN") throw error; write(text); } };
    for (;;) { write(line.repeat(1_000)); appendFileSync(process.argv[1], "."); }`;
  const transport = new StdioTransport({
    server: { command: process.execPath, args: ["-e", flood, counter], env: {} } as unknown as StdioServer,
    cwd: tempFolder(),
    environment: {},
    watcher: undefined,
  });
  onTestFinished(() => transport.killNow());
  let heard = 0;
  const enough = Promise.withResolvers<void>();
  const onmessage = (): void => {
    if (++heard === 20_000) enough.resolve();
  };
  Object.assign(transport, { onmessage });
  await transport.start();
  await enough.promise;
  const sent = readFileSync(counter, "utf8").length * 1_000;
  expect(sent - heard).toBeLessThan(10_000);
});

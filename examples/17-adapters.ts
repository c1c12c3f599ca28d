// Runs for programs that speak other words: nine step events, server-sent events, JSON lines, AG-UI.
//   node examples/17-adapters.ts
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent, defineTool } from "nano-agent";
import {
  SERVER_SENT_EVENT_HEADERS,
  toAgUiEvents,
  toJsonLines,
  toServerSentEvents,
  toStepEvents,
} from "nano-agent/adapters";
import { calls, ScriptedModel, says } from "nano-agent/testing";

const clock = defineTool({ name: "clock", description: "Tells the time.", execute: () => "14:05" });
const agent = () =>
  new Agent({ model: new ScriptedModel([calls("clock"), says("It is five past two.")]), tools: [clock] });

for await (const { type, data } of toStepEvents(agent().stream("What time is it?"), { agentName: "ann" })) {
  console.log(`${type} ${JSON.stringify(data)}`);
}

for await (const line of toJsonLines(
  toAgUiEvents(agent().stream("What time is it?"), { threadId: "t", runId: "r" }),
)) {
  console.log(line.trimEnd());
}

// A page that listens gets a frame for each event; when it leaves, the run is stopped.
async function answer(response: ServerResponse): Promise<void> {
  response.writeHead(200, SERVER_SENT_EVENT_HEADERS);
  for await (const frame of toServerSentEvents(toStepEvents(agent().stream("What time is it?")))) {
    if (response.destroyed) break;
    response.write(frame);
  }
  response.end();
}
const server = createServer((_request, response) => {
  answer(response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;
const text = await (await fetch(`http://127.0.0.1:${port}`)).text();
console.log(`${text.split("\n\n").length - 1} frames, the first: ${text.split("\n")[0]}`);
server.close();

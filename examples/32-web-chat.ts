// A chat for a web page: the page sends the conversation it shows, and gets the events of the answer as they
// come.
//   node examples/32-web-chat.ts [provider/model]
import { ReadableStream, TextEncoderStream } from "node:stream/web";
import { Agent, type GivenMessage } from "nano-agent";
import { SERVER_SENT_EVENT_HEADERS, toAgUiEvents, toServerSentEvents } from "nano-agent/adapters";
import { ScriptedModel, says } from "nano-agent/testing";

// For any server that speaks Request and Response. A page that leaves ends the stream, and with it the run.
async function chat(request: Request): Promise<Response> {
  const { messages } = (await request.json()) as { readonly messages: readonly GivenMessage[] };
  const agent = new Agent({ model: process.argv[2] ?? new ScriptedModel([says("Bern. Anything else?")]) });
  const events = toAgUiEvents(agent.stream(messages), { threadId: "t1", runId: "r1" });
  const frames = ReadableStream.from(toServerSentEvents(events, { names: false }));
  return new Response(frames.pipeThrough(new TextEncoderStream()), { headers: SERVER_SENT_EVENT_HEADERS });
}

const body = JSON.stringify({
  messages: [
    { role: "user", content: "What is the capital of France?" },
    { role: "assistant", content: "Paris." },
    { role: "user", content: "And of Switzerland?" },
  ],
});
const response = await chat(new Request("http://localhost/chat", { method: "POST", body }));
for (const frame of (await response.text()).trim().split("\n\n")) {
  const { type, delta, message } = JSON.parse(frame.slice("data: ".length)) as { [field: string]: string };
  console.log([type, delta ?? message].join(" ").trim());
}

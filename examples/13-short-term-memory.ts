// The messages of a conversation: looked at, marked, edited. Without a model name the answers are scripted:
//   node examples/13-short-term-memory.ts [anthropic/claude-sonnet-4-5]
import { Agent, InMemoryMemory, userMessage } from "nano-agent";
import { ScriptedModel, says } from "nano-agent/testing";

const model = process.argv[2] ?? new ScriptedModel([says("Monday."), says("In an hour.")]);

const agent = new Agent({ model });
await agent.conversation.add("Today is Monday.", { marks: ["hint"] });
console.log((await agent.runOrThrow("Which day is it?")).text);

for (const { marks, message } of agent.conversation.items()) console.log(message.role, marks.join());
await agent.conversation.deleteByMark("hint");
console.log((await agent.runOrThrow("When is lunch?")).messages.length, "messages");

const memory = new InMemoryMemory();
await memory.add(null);
await memory.add([userMessage("one"), userMessage("two")]);
await memory.delete(memory.getMemory()[0] ?? []);
console.log(memory.size, "left");
await memory.clear();

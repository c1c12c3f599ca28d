// What ends a run, and what can be said to it while it works. However it ends, the conversation can go on.
//   node examples/06-limits.ts [provider/model]
import { Agent, defineTool } from "nano-agent";
import { calls, ScriptedModel, says, waits } from "nano-agent/testing";

const search = defineTool({ name: "search", description: "Searches.", execute: () => "nothing found" });
const never = new Promise<never>(() => undefined);
const tools = [search];

// Requests: the model would search for ever; after three it is asked for a summary, with tools forbidden.
const tireless =
  process.argv[2] ??
  new ScriptedModel([
    calls("search"),
    calls("search"),
    calls("search"),
    says("Three searches found nothing."),
  ]);
const agent = new Agent({ model: tireless, tools, maxIterations: 3, onMaxIterations: "summarize" });
const limited = await agent.run("Search until you find the answer to everything.");
console.log(`${limited.stopReason}: ${limited.error?.message ?? limited.text}`);

// Tokens, money, time: what a request may cost is set aside before it is sent. `usd` needs a price, else the
// run refuses to start.
const spender = new Agent({
  model: new ScriptedModel(() => calls("search")),
  tools,
  budget: { tokens: 500 },
});
const spent = await spender.run("Search on.");
console.log(`${spent.stopReason} (${spent.limit}): ${spent.detail}`);

// A signal, `stop()` or leaving a `for await` early: model request and tools end, and the conversation stays
// in order.
const slow = new Agent({
  model: new ScriptedModel([[says("Let me think… "), waits(never)], says("Back again.")]),
});
const stopped = await slow.run("Think hard.", { onToken: () => slow.stop() });
console.log(`${stopped.stopReason}, with what was said so far: ${stopped.text}`);
console.log(`and on: ${(await slow.run("Are you there?")).text}`);

// Steering: a message that reaches the model at its next request, without stopping what is at work.
const steered = new Agent({
  model: new ScriptedModel([calls("search"), says("In French, then: rien trouvé.")]),
  tools,
});
const answer = await steered.run("Search.", {
  onEvent: (event) => {
    if (event.type === "tool_intent") steered.steer("Answer in French.");
  },
});
console.log(answer.text);

// A tool call has a time limit of its own; the model is told and decides what to do.
const stuck = defineTool({
  name: "stuck",
  description: "Never ends.",
  timeoutMs: 50,
  abortGraceMs: 10,
  execute: () => never,
});
const patient = new Agent({
  model: new ScriptedModel([calls("stuck"), says("It took too long, so I left it.")]),
  tools: [stuck],
});
console.log((await patient.run("Try the stuck tool.")).text);

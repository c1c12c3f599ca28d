// Tools that come and go: groups the model opens itself, and a breaker that takes a tool away that keeps
// failing.
//   node examples/36-tool-groups.ts [provider/model]
import { Agent, defineTool } from "nano-agent";
import { calls, ScriptedModel, says } from "nano-agent/testing";

const tool = (name: string, description: string, execute: () => string) =>
  defineTool({ name, description, execute });

// The model is shown a group once it has asked for it: what is not needed is not paid for with every request.
const groups = {
  mail: [tool("list_mails", "Lists new mails.", () => "1 mail of Ann: lunch at noon?")],
  calendar: [
    tool("list_events", "Lists the events of today.", () => {
      throw new Error("The calendar is down.");
    }),
  ],
};

const openGroup = defineTool({
  name: "open_group",
  description: "Gives you the tools of a group, from your next step on.",
  parameters: {
    type: "object",
    properties: { group: { type: "string", enum: ["mail", "calendar"] } },
    required: ["group"],
  },
  execute: ({ group }) => {
    for (const each of groups[group]) if (agent.tools.get(each.name) === undefined) agent.tools.add(each);
    return `Opened: ${groups[group].map(({ name }) => name).join(", ")}`;
  },
});

const agent = new Agent({
  model:
    process.argv[2] ??
    new ScriptedModel([
      [calls("open_group", { group: "mail" }), calls("open_group", { group: "calendar" })],
      [calls("list_mails"), calls("list_events")],
      calls("list_events"),
      calls("list_events"),
      says("Ann asks for lunch at noon; I could not look into the calendar."),
    ]),
  tools: [openGroup],
});

// After three failures in a row the tool is gone; the model is told so when it calls it again.
const MOST_FAILURES = 3;
const failures = new Map<string, number>();
agent.hooks.register("post_acting", "breaker", (_agent, { name }, { isError = false }) => {
  const inARow = isError ? (failures.get(name) ?? 0) + 1 : 0;
  failures.set(name, inARow);
  if (inARow === MOST_FAILURES) agent.tools.remove(name);
});

const { text } = await agent.runOrThrow("Do I have time for lunch?", {
  onEvent: (event) => {
    if (event.type === "tool_result") console.log(`${event.name}: ${event.status}`);
  },
});
console.log(text);
console.log(`left: ${agent.tools.names().join(", ")}`);

// A gate decides about every call; what it does not settle is asked. Refusals reach the model as results it
// can work with.
//   node examples/04-approve.ts [provider/model]
import { Agent, type Approver, defineTool, type Gate } from "nano-agent";
import { calls, ScriptedModel, says } from "nano-agent/testing";

const files = new Set(["notes.md", "draft.md", "secrets.env"]);
const parameters = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;

const list = defineTool({
  name: "list",
  description: "Lists the files.",
  readOnly: true,
  execute: () => [...files].join("\n"),
});
const remove = defineTool({
  name: "remove",
  description: "Removes a file.",
  parameters,
  execute: ({ name }) => (files.delete(name) ? `removed ${name}` : `there is no ${name}`),
});

/** Reading is fine, secrets are out of bounds, the rest is asked. A gate that throws denies. */
const gate: Gate = {
  check({ tool, input }) {
    if (tool.readOnly === true) return { action: "allow" };
    if (String(input["name"]).startsWith("secrets"))
      return { action: "deny", reason: "secrets stay where they are" };
    return { action: "ask", reason: `${tool.name} cannot be undone` };
  },
};

/** Stands for a person at a keyboard. Without an approver every question is answered with no. */
const approve: Approver = ({ name, input, decision }) => {
  const yes = input["name"] === "draft.md";
  console.log(`? ${name} ${String(input["name"])} (${decision.reason ?? ""}) … ${yes ? "yes" : "no"}`);
  return yes || { approved: false, reason: "I still need that file" };
};

const script = [
  calls("list"),
  [
    calls("remove", { name: "notes.md" }),
    calls("remove", { name: "draft.md" }),
    calls("remove", { name: "secrets.env" }),
  ],
  says("I removed draft.md. You kept notes.md, and secrets.env is protected."),
];
const model = process.argv[2] ?? new ScriptedModel(script);

const agent = new Agent({ model, tools: [list, remove], permission: gate, approve });
const result = await agent.runOrThrow("Tidy up: remove every file.", {
  onEvent: (event) => {
    if (event.type === "permission_decision") console.log(`${event.action} by ${event.by}: ${event.reason}`);
  },
});
console.log(result.text);
console.log("left:", [...files].join(", "));

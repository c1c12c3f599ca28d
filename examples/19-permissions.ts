// Permission rules as the gate of an agent, and a person who answers what they leave open.
//   node examples/19-permissions.ts
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "nano-agent";
import {
  type ApprovalPrompt,
  createApprover,
  PolicyGate,
  parseRules,
  SessionRules,
} from "nano-agent/permission";
import { calls, ScriptedModel, says } from "nano-agent/testing";
import { createBashTools } from "nano-agent/tools";

const cwd = mkdtempSync(join(tmpdir(), "permissions-"));
const session = new SessionRules();
const gate = new PolicyGate({
  cwd,
  home: cwd,
  workspace: [cwd],
  session,
  rules: parseRules({ allow: ["bash(touch *)"], deny: ["bash(rm *)"] }),
});

/** Stands for a window: agrees to the rule that is shown from now on, and says no without one. */
const prompt: ApprovalPrompt = {
  ask: async ({ part, rule }) => {
    console.log(`? ${part} … ${rule === undefined ? "no" : `always ${rule}`}`);
    return rule === undefined ? { choice: "no", reason: "I cannot see what it does" } : { choice: "always" };
  },
  tell: (message) => console.log(message),
};
const approve = createApprover({
  prompt,
  session,
  recheck: (request) => gate.check(request),
  remember: async () => "your own settings",
});

const script = [
  calls("bash", { command: "touch a && mkdir b" }),
  calls("bash", { command: "mkdir b; rm a" }),
  calls("bash", { command: "mkdir \u202Ec" }),
  says("One of three was done."),
];
const shell = createBashTools();
const agent = new Agent({
  model: new ScriptedModel(script),
  tools: [shell.bash],
  permission: gate,
  approve,
  cwd,
});
const { text } = await agent.run("Make some folders.", {
  onEvent: (event) => {
    if (event.type === "permission_decision") console.log(`${event.action} by ${event.by}: ${event.reason}`);
  },
});
console.log(text);
await shell.dispose();

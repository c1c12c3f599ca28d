// Commands get no credentials, and what they print all the same is taken out before the model sees it.
//   node examples/30-secrets.ts [provider/model]
import { Agent } from "nano-agent";
import { commandEnvironment, createRedaction, secretsOf } from "nano-agent/permission";
import { calls, ScriptedModel, says } from "nano-agent/testing";
import { createBashTools } from "nano-agent/tools";

const environment = {
  PATH: process.env["PATH"],
  HOME: process.env["HOME"],
  DEPLOY_TOKEN: "Zk3-example-token-9876543210",
  MAIL_PASSWORD: "tr0ub4dor-and-3",
};

// Passes what tool chains need, and of the rest what is named.
const { variables, withheld } = commandEnvironment(environment, { pass: ["DEPLOY_TOKEN"] });
const redact = createRedaction({ secrets: secretsOf(environment) });
const shell = createBashTools({ env: variables, withheld, redact });

const command =
  'echo "deploy with $DEPLOY_TOKEN"; echo "$DEPLOY_TOKEN" | base64; echo "mail: [$MAIL_PASSWORD]"';
const model = process.argv[2] ?? new ScriptedModel([calls("bash", { command }), says("Done.")]);
const agent = new Agent({ model, tools: shell.tools, redact });

try {
  await agent.runOrThrow(`Run this command, and nothing else: ${command}`, {
    onEvent: (event) => {
      if (event.type === "tool_result") console.log(event.result.content);
    },
  });
} finally {
  await shell.dispose();
}

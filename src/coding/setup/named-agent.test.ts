import { expect, onTestFinished, test, vi } from "vitest";
import { Agent } from "../../agent/agent.ts";
import { agentLoop } from "../../agent/agent-loop.ts";
import { says } from "../../testing/script.ts";
import { ScriptedModel } from "../../testing/scripted-model.ts";
import { startScriptedServer } from "../../testing/scripted-server.ts";
import { refuses } from "../../testing/server-step.ts";

async function openAiServer(): Promise<void> {
  const server = await startScriptedServer(() => says("From the server."));
  onTestFinished(() => server.close());
  vi.stubEnv("OPENAI_API_KEY", "k");
  vi.stubEnv("OPENAI_BASE_URL", `${server.url}/v1`);
}

test("an agent takes a model or the name of one", async () => {
  await openAiServer();
  const [scripted, named] = [
    new Agent({ model: new ScriptedModel([says("Scripted.")]) }),
    new Agent({ model: "openai/gpt-5" }),
  ];
  expect([
    (await scripted.run("hi")).text,
    (await named.run("hi")).text,
    (await named.run("again")).text,
  ]).toEqual(["Scripted.", "From the server.", "From the server."]);
});

test("a name that cannot be is refused when the agent is made", () => {
  expect(() => new Agent({ model: "gpt-5" })).toThrow(
    '"gpt-5" is not a model name. Did you mean openai/gpt-5, ',
  );
  expect(() => new Agent({ model: "nowhere/x" })).toThrow('There is no provider "nowhere"');
  expect(() => new Agent({ model: "openai/gpt-5", maxIterations: 0 })).toThrow("maxIterations is 0");
});

test("a key that is missing fails the run, and one set later helps", async () => {
  vi.stubEnv("OPENAI_API_KEY", "");
  const agent = new Agent({ model: "openai/gpt-5" });
  const first = await agent.run("hi");
  expect([first.stopReason, first.error?.code]).toEqual(["error", "missing_credentials"]);
  await openAiServer();
  expect((await agent.run("hi again")).text).toBe("From the server.");
});

test("a named model knows its price, so a budget can be set", async () => {
  await openAiServer();
  const agent = new Agent({ model: "openai/gpt-5", budget: { usd: 1 } });
  expect((await agent.run("hi")).stopReason).toBe("completed");
});

test("a named model takes the network settings of the environment", async () => {
  let requests = 0;
  const server = await startScriptedServer(() => {
    requests++;
    return refuses(500, "broken");
  });
  onTestFinished(() => server.close());
  vi.stubEnv("OPENAI_API_KEY", "k");
  vi.stubEnv("OPENAI_BASE_URL", `${server.url}/v1`);
  vi.stubEnv("NANO_AGENT_MAX_RETRIES", "0");
  expect((await new Agent({ model: "openai/gpt-5" }).run("hi")).error?.code).toBe("provider_error");
  vi.stubEnv("NANO_AGENT_MAX_RETRIES", "many");
  const { error } = await new Agent({ model: "openai/gpt-5" }).run("hi");
  expect([requests, error?.code, error?.message]).toEqual([
    1,
    "invalid_config",
    'NANO_AGENT_MAX_RETRIES is "many"; it must be a whole number from 0.',
  ]);
});

test("agentLoop returns the conversation, with the model of the environment", async () => {
  await openAiServer();
  vi.stubEnv("OPENAI_MODEL", "gpt-5");
  expect(await agentLoop("hi", 3)).toEqual([
    { role: "user", content: [{ type: "text", text: "hi" }] },
    { role: "assistant", content: [{ type: "text", text: "From the server." }] },
  ]);
});

test("agentLoop throws what made the run fail", async () => {
  await expect(agentLoop("hi", 1, { model: new ScriptedModel([]) })).rejects.toMatchObject({
    code: "script_mismatch",
  });
});

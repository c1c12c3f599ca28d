import { expect, test } from "vitest";
import { isNanoAgentError } from "../core/base/errors.ts";
import type { LocalServer } from "../providers/local/probe-local.ts";
import { chooseModel, type ModelChoice } from "./model-choice.ts";

const NOTHING = { values: {}, sources: new Map<string, string>() };

function choose(
  environment: { readonly [name: string]: string },
  servers: readonly LocalServer[] = [],
): Promise<ModelChoice> {
  return chooseModel({ config: NOTHING, environment, probe: () => Promise.resolve(servers) });
}

test("what was said wins over keys that are set", async () => {
  const config = { values: { model: "ollama/x" }, sources: new Map([["model", "command line"]]) };
  expect(await chooseModel({ config, environment: { ANTHROPIC_API_KEY: "k" } })).toEqual({
    name: "ollama/x",
    why: "flag",
    source: "command line",
  });
});

test("the first provider whose key is set gives its default model", async () => {
  const choice = await choose({ DEEPSEEK_API_KEY: "k", OPENAI_API_KEY: "k", OPENAI_MODEL: "my-model" });
  expect(choice).toEqual({ name: "openai/my-model", why: "key", source: "OPENAI_API_KEY" });
  expect((await choose({ DEEPSEEK_API_KEY: "k", OPENAI_API_KEY: " " })).source).toBe("DEEPSEEK_API_KEY");
});

test("without a key the first model of a local server that has one is used", async () => {
  const servers: readonly LocalServer[] = [
    { provider: "ollama", baseUrl: "http://127.0.0.1:11434/v1", models: [] },
    { provider: "lmstudio", baseUrl: "http://127.0.0.1:1234/v1", models: ["qwen", "other"] },
  ];
  expect(await choose({}, servers)).toEqual({
    name: "lmstudio/qwen",
    why: "local",
    source: "the server at http://127.0.0.1:1234/v1",
  });
});

test("with nothing at all it is said what to set", async () => {
  const error: unknown = await choose({}).catch((thrown: unknown) => thrown);
  expect(isNanoAgentError(error, "missing_credentials") && error.message).toBe(
    'No model found. Set a key (ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, DEEPSEEK_API_KEY, …), or start a local server (Ollama, LM Studio, llama.cpp) and name its model with -m ollama/ID. "nano-agent demo" runs now, without any model.',
  );
});

test("a key of a provider without a default model is mentioned", async () => {
  await expect(choose({ TOGETHER_API_KEY: "k" })).rejects.toThrow(
    "TOGETHER_API_KEY is set, but together has no default model: name one with -m together/ID.",
  );
});

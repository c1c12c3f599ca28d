import { expect, test } from "vitest";
import { isNanoAgentError } from "../core/base/errors.ts";
import type { FoundModel, ModelSearch } from "./catalog.ts";
import { chooseModel, type ModelChoice, type ModelChoiceOptions } from "./model-choice.ts";

const NOTHING = { values: {}, sources: new Map<string, string>() };

function choose(
  environment: { readonly [name: string]: string },
  found?: FoundModel,
  options: Partial<ModelChoiceOptions> = {},
): Promise<ModelChoice> {
  return chooseModel({ config: NOTHING, environment, probe: () => Promise.resolve(found), ...options });
}

const SERVER = { name: "lmstudio/qwen", baseUrl: "http://127.0.0.1:1234/v1" };

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

test("a local server that nobody chose gets no prompt", async () => {
  const error: unknown = await choose({}, SERVER).catch((thrown: unknown) => thrown);
  expect(isNanoAgentError(error, "missing_credentials") && error.message).toBe(
    'No model was chosen. The server at http://127.0.0.1:1234/v1 has lmstudio/qwen, but it has not been allowed to receive your prompt. To use it: -m lmstudio/qwen, or -m local for any local server that answers, or NANO_AGENT_MODEL, or "model" in the configuration.',
  );
});

test("a person who is asked decides about a server that was found", async () => {
  const asked: FoundModel[] = [];
  const answering = (answer: boolean) => ({
    accept: async (found: FoundModel) => {
      asked.push(found);
      return answer;
    },
  });
  expect(await choose({}, SERVER, answering(true))).toEqual({
    name: "lmstudio/qwen",
    why: "local",
    source: "your yes to the server at http://127.0.0.1:1234/v1",
  });
  await expect(choose({}, SERVER, answering(false))).rejects.toThrow("No model was chosen.");
  expect(asked).toEqual([SERVER, SERVER]);
});

const LOADING_SERVER = { name: "llamacpp", baseUrl: "http://127.0.0.1:8080/v1", isLoading: true } as const;

test("a server that loads its model, and that nobody chose, is not waited for", async () => {
  const looks: ModelSearch[] = [];
  const probe = async (how: ModelSearch): Promise<FoundModel> => {
    looks.push(how);
    return how.waits ? { name: "llamacpp/late", baseUrl: LOADING_SERVER.baseUrl } : LOADING_SERVER;
  };
  await expect(choose({}, undefined, { probe, waits: true })).rejects.toMatchObject({
    code: "missing_credentials",
    message:
      'No model was chosen. The server at http://127.0.0.1:8080/v1 (llamacpp) is loading its model, but it has not been allowed to receive your prompt. To use it, and wait for it: -m local, or NANO_AGENT_MODEL=local, or "model": "local" in the configuration.',
  });
  expect(looks).toEqual([{ waits: false }]);
  const accepted = await choose({}, undefined, { probe, waits: true, accept: async () => true });
  expect(accepted).toMatchObject({ name: "llamacpp/late", why: "local" });
  expect(looks.slice(1)).toEqual([{ waits: false }, { waits: true, baseUrl: LOADING_SERVER.baseUrl }]);
});

test("who only looks which model it would be does not wait for one that was chosen either", async () => {
  const config = { values: { model: "local" }, sources: new Map([["model", "command line"]]) };
  await expect(choose({}, LOADING_SERVER, { config })).rejects.toMatchObject({
    code: "provider_error",
    message: expect.stringContaining("http://127.0.0.1:8080/v1 (llamacpp) is loading its model"),
    details: { reason: "model_loading" },
  });
});

test("the name local stands for whatever local server answers, keys or no keys", async () => {
  const config = { values: { model: "local" }, sources: new Map([["model", "NANO_AGENT_MODEL"]]) };
  expect(await choose({ OPENAI_API_KEY: "k" }, SERVER, { config })).toEqual({
    name: "lmstudio/qwen",
    why: "local",
    source: "NANO_AGENT_MODEL: the server at http://127.0.0.1:1234/v1",
  });
  await expect(choose({ OPENAI_API_KEY: "k" }, undefined, { config })).rejects.toThrow(
    "No local server answers",
  );
});

test("with nothing at all it is said what to set", async () => {
  const error: unknown = await choose({}).catch((thrown: unknown) => thrown);
  expect(isNanoAgentError(error, "missing_credentials") && error.message).toBe(
    "No model found. Set a key (ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, DEEPSEEK_API_KEY, …), or start a local server (Ollama, LM Studio, llama.cpp) and use it with NANO_AGENT_MODEL=local or -m ollama/ID. For a server of your own set OPENAI_BASE_URL and OPENAI_API_KEY, and use -m openai-chat/ID.",
  );
});

test("a key of a provider without a default model is mentioned", async () => {
  await expect(choose({ TOGETHER_API_KEY: "k" })).rejects.toThrow(
    "TOGETHER_API_KEY is set, but together has no default model: name one with -m together/ID.",
  );
});

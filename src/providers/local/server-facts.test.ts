import fc from "fast-check";
import { expect, test } from "vitest";
import { LOADING, type QueryServer, readModelFacts } from "./local-servers.ts";

/** A server that has these documents; for a function, what it gives for the body of a POST. */
function serving(documents: { readonly [path: string]: unknown }): QueryServer {
  return async (path, body) => {
    const found = documents[path];
    return typeof found === "function" ? found(body) : found;
  };
}

test("llama-server: the window of a slot, modalities and what the template can do", async () => {
  const list = {
    models: [{ name: "qwen.gguf", model: "qwen.gguf", capabilities: ["completion"] }],
    object: "list",
    data: [{ id: "qwen.gguf", object: "model", meta: { n_ctx_train: 40_960, n_ctx: 8_192 } }],
  };
  const props = {
    default_generation_settings: { n_ctx: 8_192 },
    modalities: { vision: false, audio: false },
    chat_template_caps: { supports_tools: true, supports_tool_calls: true },
    chat_template: "{% for message in messages %}…",
  };
  const facts = { contextWindow: 8_192, images: false, tools: true };
  const both = serving({ "/v1/models": list, "/props": props });
  expect(await readModelFacts("llamacpp", "qwen.gguf", both)).toEqual(facts);
  // It answers to any name.
  expect(await readModelFacts("llamacpp", "gpt-4", both)).toEqual(facts);
  expect(await readModelFacts("llamacpp", "qwen.gguf", serving({ "/v1/models": list }))).toEqual({
    contextWindow: 8_192,
    images: false,
  });
});

test("llama-server: a template that never speaks of tools has no place for them", async () => {
  const props = {
    chat_template: "{% for m in messages %}{{ m.content }}{% endfor %}",
    modalities: { vision: true },
  };
  expect(await readModelFacts("llamacpp", "x", serving({ "/props": props }))).toEqual({
    images: true,
    tools: false,
  });
  const hermes = { chat_template: "{%- if tools %}<tools>{% endif %}" };
  expect(await readModelFacts("llamacpp", "x", serving({ "/props": hermes }))).toEqual({ tools: true });
});

test("Ollama: what is loaded, else what the model sets, never what it was trained with", async () => {
  const shown = {
    capabilities: ["completion", "tools"],
    parameters: 'stop "<|im_end|>"\nnum_ctx                        16384',
    model_info: { "qwen3.context_length": 262_144 },
  };
  const documents = {
    "/api/show": (body: { readonly model: string }) => (body.model === "qwen3:8b" ? shown : undefined),
    "/api/ps": { models: [{ name: "qwen3:8b", model: "qwen3:8b", context_length: 4_096 }] },
  };
  expect(await readModelFacts("ollama", "qwen3:8b", serving(documents))).toEqual({
    contextWindow: 4_096,
    images: false,
    tools: true,
  });
  const unloaded = serving({ ...documents, "/api/ps": { models: [] } });
  expect(await readModelFacts("ollama", "qwen3:8b", unloaded)).toMatchObject({ contextWindow: 16_384 });
  expect(await readModelFacts("ollama", "other", unloaded)).toEqual({});
});

test("LM Studio and vLLM: the model that is asked for alone", async () => {
  const data = [
    { id: "small", type: "llm", state: "loaded", max_context_length: 131_072, loaded_context_length: 4_096 },
    { id: "eyes", type: "vlm", state: "not-loaded", max_context_length: 32_768 },
  ];
  const lmstudio = serving({
    "/v1/models": { data: [{ id: "small" }, { id: "eyes" }] },
    "/api/v0/models": { data },
  });
  expect(await readModelFacts("lmstudio", "small", lmstudio)).toEqual({
    contextWindow: 4_096,
    images: false,
  });
  expect(await readModelFacts("lmstudio", "eyes", lmstudio)).toEqual({ images: true });
  const vllm = serving({ "/v1/models": { data: [{ id: "Qwen/Qwen3-8B", max_model_len: 32_768 }] } });
  expect(await readModelFacts("vllm", "Qwen/Qwen3-8B", vllm)).toEqual({ contextWindow: 32_768 });
  expect(await readModelFacts("vllm", "other", vllm)).toEqual({});
});

test.each([
  [{ architecture: { input_modalities: ["text"] } }, { images: false }],
  [{ architecture: { input_modalities: ["text", "image"] } }, { images: true }],
  [{ modalities: ["text", "vision"] }, { images: true }],
  [{ capabilities: { vision: false } }, { images: false }],
  [{ capabilities: ["completion", "multimodal"] }, { images: true }],
  [{ context_length: "many", context_window: 0 }, {}],
])("what a list says in other words counts too: %j", async (row, facts) => {
  const ask = serving({ "/v1/models": { data: [{ id: "m", ...row }] } });
  expect(await readModelFacts("vllm", "m", ask)).toEqual(facts);
});

test("a server that loads its model says nothing yet", async () => {
  expect(await readModelFacts("llamacpp", "m", async () => LOADING)).toBe(LOADING);
});

test("whatever a server answers, there are facts of the right kind or none", async () => {
  const keys = fc.constantFrom(
    "data",
    "models",
    "meta",
    "n_ctx",
    "capabilities",
    "modalities",
    "id",
    "parameters",
  );
  const json = fc.letrec<{ readonly any: unknown }>((tie) => ({
    any: fc.oneof(
      { depthSize: "small" },
      fc.jsonValue(),
      fc.array(tie("any")),
      fc.dictionary(keys, tie("any")),
    ),
  })).any;
  const provider = fc.constantFrom("llamacpp", "ollama", "lmstudio", "vllm");
  await fc.assert(
    fc.asyncProperty(json, json, provider, async (list, more, name) => {
      const ask: QueryServer = async (path) => (path === "/v1/models" || path === "/api/show" ? list : more);
      const facts = await readModelFacts(name, "m", ask);
      if (facts === LOADING) return;
      const { contextWindow = 1, images = true, tools = true } = facts;
      expect([contextWindow > 0, typeof images, typeof tools]).toEqual([true, "boolean", "boolean"]);
    }),
  );
});

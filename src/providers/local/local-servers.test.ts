import { expect, test } from "vitest";
import { FakeClock } from "../../testing/fake-clock.ts";
import { readServerFacts } from "../model-choice.ts";
import { findLocalServers, firstLocalModel, localModelFacts, requireOnlyModel } from "./local-servers.ts";

const json = (body: unknown, status = 200): Response => Response.json(body, { status });
const LOADING = { error: { code: 503, message: "Loading model", type: "unavailable_error" } };

interface Machine {
  readonly asked: string[];
  readonly fetch: (url: string) => Promise<Response>;
}

/** A machine on which these addresses answer, and nothing else does. */
function machine(answers: { readonly [url: string]: (time: number) => Response }): Machine {
  const asked: string[] = [];
  return {
    asked,
    fetch: async (url) => {
      asked.push(url);
      const answer = answers[url];
      if (answer === undefined) throw new TypeError("fetch failed");
      return answer(asked.filter((each) => each === url).length);
    },
  };
}

const list =
  (...ids: readonly string[]) =>
  () =>
    json({ data: ids.map((id) => ({ id })) });

test("servers are looked for where variables and the configuration say", async () => {
  const { fetch } = machine({
    "http://box:1/v1/models": list("a"),
    "http://box:2/v1/models": list("b"),
    "http://127.0.0.1:8080/v1/models": list("not this"),
  });
  const environment = { LLAMACPP_BASE_URL: "http://box:1/v1", VLLM_BASE_URL: "http://nowhere/v1" };
  const config = { providers: { vllm: { baseUrl: "http://box:2/v1" } } };
  expect(await findLocalServers({ environment, config, fetch })).toEqual([
    { provider: "llamacpp", baseUrl: "http://box:1/v1", models: ["a"] },
    { provider: "vllm", baseUrl: "http://box:2/v1", models: ["b"] },
  ]);
});

test("a server that loads its model is waited for, which is said once", async () => {
  const url = "http://127.0.0.1:8080/v1/models";
  const { fetch, asked } = machine({ [url]: (time) => (time < 40 ? json(LOADING, 503) : list("late")()) });
  const clock = new FakeClock();
  const notices: string[] = [];
  const onNotice = (message: string): void => void notices.push(message);
  const found = firstLocalModel({ environment: {}, config: {}, fetch, clock, onNotice, waits: true });
  for (let second = 1; second < 40; second++) {
    await clock.untilSleeping();
    await clock.advance(1_000);
  }
  expect(await found).toEqual({ name: "llamacpp/late", baseUrl: "http://127.0.0.1:8080/v1" });
  expect(notices).toEqual(["The server at http://127.0.0.1:8080/v1 is loading its model. Waiting for it."]);
  expect(asked.filter((each) => each === url)).toHaveLength(40);
});

test("a server that loads its model is found, and not waited for, where nobody chose it", async () => {
  const { fetch, asked } = machine({ "http://127.0.0.1:8080/v1/models": () => json(LOADING, 503) });
  const found = { name: "llamacpp", baseUrl: "http://127.0.0.1:8080/v1", isLoading: true };
  const options = { environment: {}, config: {}, fetch };
  expect(await firstLocalModel(options)).toEqual(found);
  expect(await firstLocalModel({ ...options, baseUrl: "http://127.0.0.1:8000/v1" })).toBeUndefined();
  expect(await readServerFacts("llamacpp/a", options)).toEqual({});
  expect(asked.filter((url) => url === "http://127.0.0.1:8080/v1/models")).toHaveLength(3);
});

test.each([
  [
    "a page of a proxy",
    () => new Response("<html>upstream is down, loading a model failed</html>", { status: 503 }),
  ],
  ["words of something else", () => json({ error: { message: "upstream is down" } }, 503)],
])("%s with the status of a server that loads is none that loads", async (_name, answer) => {
  const { fetch } = machine({
    "http://127.0.0.1:8080/v1/models": answer,
    "http://127.0.0.1:8080/props": answer,
  });
  const options = { environment: {}, config: {}, fetch, waits: true };
  expect(await findLocalServers(options)).toEqual([]);
  expect(await firstLocalModel(options)).toBeUndefined();
  expect(await readServerFacts("llamacpp/a", options)).toEqual({});
});

test("without any server there is no model", async () => {
  expect(await firstLocalModel({ environment: {}, config: {}, ...machine({}) })).toBeUndefined();
});

test("the facts of a local model come from its own server; other models are asked nothing about", async () => {
  const { fetch, asked } = machine({
    "http://box:1/v1/models": () => json({ data: [{ id: "a", meta: { n_ctx: 4_096 } }] }),
    "http://box:1/props": () => json({ modalities: { vision: false } }),
  });
  const options = { environment: { LLAMACPP_BASE_URL: "http://box:1/v1/" }, config: {}, fetch };
  expect(await localModelFacts("llamacpp/a", options)).toEqual({ contextWindow: 4_096, images: false });
  expect(await localModelFacts("vllm/a", options)).toEqual({});
  expect(asked.filter((url) => url.includes("8000"))).toHaveLength(2);
});

test.each([
  [machine({}), "No llamacpp server answers. Start it, or set LLAMACPP_BASE_URL to its address."],
  [
    machine({ "http://127.0.0.1:8080/v1/models": () => json(LOADING, 503) }),
    "llamacpp at http://127.0.0.1:8080/v1 has no model yet: it is loading. Try again when it has.",
  ],
  [
    machine({ "http://127.0.0.1:8080/v1/models": list("a", "b") }),
    "llamacpp at http://127.0.0.1:8080/v1 has 2 models (a, b). Name one: llamacpp/ID.",
  ],
])("a server without exactly one model does not say which is meant", async ({ fetch }, message) => {
  await expect(requireOnlyModel("llamacpp", { environment: {}, config: {}, fetch })).rejects.toThrow(message);
});

test("the only model of a server needs no name", async () => {
  const { fetch } = machine({ "http://127.0.0.1:8080/v1/models": list("a") });
  expect(await requireOnlyModel("llamacpp", { environment: {}, config: {}, fetch })).toBe("llamacpp/a");
});

test("facts are asked for of local presets, and of one's own providers on this machine; of nobody else", async () => {
  const facts = { data: [{ id: "a", max_model_len: 8_192 }, { id: "b" }] };
  const { fetch, asked } = machine({
    "http://127.0.0.1:8000/v1/models": () => json(facts),
    "http://127.0.0.1:7/v1/models": () => json(facts),
    "http://localhost:8/v1/models": () => json(facts),
  });
  const providers = {
    mine: { baseUrl: "http://localhost:8/v1" },
    far: { baseUrl: "https://example.test/v1" },
    openai: { baseUrl: "http://127.0.0.1:7/v1" },
    own: {},
  };
  const environment = {
    CUSTOM_BASE_URL: "http://127.0.0.1:7/v1",
    ANTHROPIC_BASE_URL: "http://127.0.0.1:7",
    GEMINI_BASE_URL: "http://box.test:7/v1",
    UNKNOWN_BASE_URL: "http://127.0.0.1:7/v1",
    OWN_BASE_URL: "http://localhost:8/v1",
  };
  const options = { environment, config: { providers }, fetch };
  const here = ["vllm/a", "custom/a", "mine/a", "own/a"];
  for (const name of here)
    expect([name, await readServerFacts(name, options)]).toEqual([name, { contextWindow: 8_192 }]);
  // A provider with a key may be a gateway, or a double in a test, that counts its requests.
  const elsewhere = ["far/a", "openai/a", "anthropic/a", "gemini/a", "deepseek/a", "unknown/a", "a"];
  for (const name of elsewhere)
    expect([name, await readServerFacts(name, options)]).toEqual([name, undefined]);
  expect(asked.some((url) => url.includes(".test"))).toBe(false);
});

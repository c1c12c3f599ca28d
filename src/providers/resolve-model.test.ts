import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { type Answer, type LoopbackServer, startLoopback } from "../../test/loopback-server.ts";
import { findPreset, PRESETS } from "./catalog.ts";
import { knownModelInfo, parseModelName } from "./model-info.ts";
import { loadPriceCatalog } from "./price-catalog.ts";
import { type ResolveModelOptions, resolveModel } from "./resolve-model.ts";

it.each([
  ["openai", "constructor"],
  ["constructor", "name"],
  ["__proto__", "toString"],
])("nothing is known of %s/%s", (provider, id) => {
  expect(knownModelInfo(provider, id)).toBeUndefined();
});

describe("parseModelName", () => {
  it.each<readonly [string, object]>([
    ["anthropic/claude-sonnet-5", { provider: "anthropic", id: "claude-sonnet-5" }],
    ["anthropic/claude-sonnet-5:high", { provider: "anthropic", id: "claude-sonnet-5", effort: "high" }],
    ["ollama/qwen2.5-coder:7b", { provider: "ollama", id: "qwen2.5-coder:7b" }],
    ["ollama/qwen2.5-coder:7b:low", { provider: "ollama", id: "qwen2.5-coder:7b", effort: "low" }],
    [
      "openrouter/anthropic/claude-x:none",
      { provider: "openrouter", id: "anthropic/claude-x", effort: "none" },
    ],
    ["openrouter/deepseek/x:free", { provider: "openrouter", id: "deepseek/x:free" }],
    ["a/b:HIGH", { provider: "a", id: "b:HIGH" }],
  ])("reads %s", (name, parts) => {
    expect(parseModelName(name)).toEqual(parts);
  });

  it.each(["", "gpt-5", "/x", "openai/", "openai/:high", " / "])("refuses %j", (name) => {
    expect(() => parseModelName(name)).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  });

  it("keeps every id whole", () => {
    const word = fc.stringMatching(/^[a-z0-9][a-z0-9.:/_-]{0,20}[a-z0-9]$/);
    const efforts = fc.option(fc.constantFrom("none", "minimal", "low", "medium", "high", "xhigh"), {
      nil: undefined,
    });
    fc.assert(
      fc.property(word, efforts, (id, effort) => {
        fc.pre(!/:(?:none|minimal|low|medium|high|xhigh)$/.test(id));
        const expected = { provider: "p", id, ...(effort === undefined ? {} : { effort }) };
        expect(parseModelName(`p/${id}${effort === undefined ? "" : `:${effort}`}`)).toEqual(expected);
      }),
    );
  });
});

describe("PRESETS", () => {
  it("have names and aliases nobody else has, and addresses without a slash at the end", () => {
    const names = PRESETS.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    expect(names).toEqual([...new Set(names)]);
    for (const { baseUrl } of PRESETS) expect(baseUrl).toMatch(/^$|^https?:\/\/.*[^/]$/);
  });

  it("read the documented variables", () => {
    const variables = (name: string): unknown => {
      const { keyVariables, baseUrlVariables } = findPreset(name);
      return [...keyVariables, ...baseUrlVariables];
    };
    expect(["openai", "openai-chat", "deepseek", "gemini", "ollama"].map(variables)).toEqual([
      ["OPENAI_API_KEY", "OPENAI_BASE_URL"],
      ["OPENAI_API_KEY", "OPENAI_BASE_URL"],
      ["DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL"],
      ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GEMINI_BASE_URL", "GOOGLE_BASE_URL"],
      ["OLLAMA_API_KEY", "OLLAMA_BASE_URL"],
    ]);
  });
});

const open: LoopbackServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

const fails: Answer = (response) =>
  response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"No"}}');

/** Path, headers and body of the request a model makes. */
async function requestOf(
  name: string,
  options: ResolveModelOptions,
): Promise<readonly [string, Record<string, unknown>, Record<string, unknown>]> {
  const server = await startLoopback([fails]);
  open.push(server);
  const env = (variable: string): string | undefined => options.env?.(variable)?.replace("$URL", server.url);
  const model = resolveModel(name, { ...options, env });
  const request = { messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] } as const;
  await expect(model.stream(request)[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    code: "bad_request",
  });
  const [arrived] = server.requests;
  return [arrived?.path ?? "", { ...arrived?.headers }, JSON.parse(arrived?.body ?? "{}")];
}

const environment =
  (variables: Record<string, string>) =>
  (name: string): string | undefined =>
    variables[name];

describe("resolveModel", () => {
  it.each<readonly [string, Record<string, string>, string, object]>([
    [
      "anthropic/x",
      { ANTHROPIC_API_KEY: " k\n", ANTHROPIC_BASE_URL: "$URL" },
      "/v1/messages",
      { "x-api-key": "k" },
    ],
    [
      "anthropic/x",
      { ANTHROPIC_AUTH_TOKEN: "t", ANTHROPIC_BASE_URL: "$URL/v1/" },
      "/v1/messages",
      { authorization: "Bearer t" },
    ],
    [
      "openai/x",
      { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "$URL/v1" },
      "/v1/chat/completions",
      { authorization: "Bearer k" },
    ],
    [
      "openai-responses/x",
      { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "$URL/v1" },
      "/v1/responses",
      { authorization: "Bearer k" },
    ],
    ["openai-chat/x", { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "$URL/v1" }, "/v1/chat/completions", {}],
    [
      "gemini/x",
      { GOOGLE_API_KEY: "k", GOOGLE_BASE_URL: "$URL/v1beta" },
      "/v1beta/models/x:streamGenerateContent?alt=sse",
      { "x-goog-api-key": "k" },
    ],
    ["kimi/x", { MOONSHOT_API_KEY: "k", MOONSHOT_BASE_URL: "$URL/v1" }, "/v1/chat/completions", {}],
    ["ollama/x:7b", { OLLAMA_BASE_URL: "$URL/v1" }, "/v1/chat/completions", {}],
    ["custom/x", { CUSTOM_BASE_URL: "$URL" }, "/chat/completions", {}],
  ])("%s with %j posts to %s", async (name, variables, path, headers) => {
    expect(await requestOf(name, { env: environment(variables) })).toEqual([
      path,
      expect.objectContaining(headers),
      expect.any(Object),
    ]);
  });

  it("speaks Responses to OpenAI itself", async () => {
    const urls: string[] = [];
    const fetch: ResolveModelOptions["fetch"] = async (url) => {
      urls.push(url);
      return new Response('{"error":{"message":"No"}}', { status: 400 });
    };
    const model = resolveModel("openai/gpt-5.5", { apiKey: "k", fetch });
    await expect(model.stream({ messages: [] })[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: "bad_request",
    });
    expect(urls).toEqual(["https://api.openai.com/v1/responses"]);
  });

  it("uses the effort of the name for requests that name none", async () => {
    const [, , body] = await requestOf("anthropic/claude-sonnet-4-5:low", {
      env: environment({ ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "$URL" }),
    });
    expect(body).toMatchObject({ thinking: { type: "enabled", budget_tokens: 4_096 }, max_tokens: 32_000 });
  });

  it("knows the providers of the configuration, with keys of their own", async () => {
    const [path, headers] = await requestOf("my-gateway/x", {
      env: environment({ GATE: "k", MY_GATEWAY_BASE_URL: "$URL" }),
      providers: { "my-gateway": { wire: "anthropic", apiKeyVariable: "GATE", headers: { "x-team": "a" } } },
      headers: { "x-run": "b" },
    });
    expect([path, headers]).toEqual([
      "/v1/messages",
      expect.objectContaining({ "x-api-key": "k", "x-team": "a", "x-run": "b" }),
    ]);
  });

  it("says which variable to set when there is no key", () => {
    expect(() => resolveModel("gemini/x")).toThrow(
      expect.objectContaining({
        code: "missing_credentials",
        message: "There is no API key for google. Set GEMINI_API_KEY or GOOGLE_API_KEY.",
        details: { provider: "google", variables: ["GEMINI_API_KEY", "GOOGLE_API_KEY"] },
      }),
    );
    expect(() => resolveModel("anthropic/x", { headers: { Authorization: "Bearer t" } })).not.toThrow();
  });

  it("takes no name that every object has for a provider", () => {
    expect(() => resolveModel("constructor/x", { providers: {} })).toThrow(
      expect.objectContaining({ code: "unknown_provider" }),
    );
  });

  it("lists what there is for an unknown provider, nearest first", () => {
    expect(() => resolveModel("antropic/x")).toThrow(
      expect.objectContaining({
        code: "unknown_provider",
        message: expect.stringMatching(/^There is no provider "antropic"\. Use one of: anthropic, /),
      }),
    );
  });

  it.each([
    ["custom/x", {}, "CUSTOM_BASE_URL"],
    ["custom/x", { CUSTOM_BASE_URL: "nonsense" }, '"nonsense"'],
  ])("refuses %s with %j", (name, variables, words) => {
    expect(() => resolveModel(name, { env: environment(variables) })).toThrow(
      expect.objectContaining({ code: "invalid_config", message: expect.stringContaining(words) }),
    );
  });

  it.each([-1, Number.NaN])("refuses a timeout of %d", (idleTimeoutMs) => {
    expect(() => resolveModel("ollama/x", { network: { idleTimeoutMs } })).toThrow(
      expect.objectContaining({ code: "invalid_config" }),
    );
  });

  it("knows windows and prices: the configuration's, else its own, else those of a catalog, else none", () => {
    const prices = { find: () => ({ contextWindow: 1, price: { input: 9, output: 9 } }) };
    const info = (name: string, options: ResolveModelOptions = {}): unknown =>
      resolveModel(name, { apiKey: "k", ...options }).info;
    const haiku = {
      contextWindow: 200_000,
      maxOutputTokens: 64_000,
      price: { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25, cacheWrite1h: 2 },
    };
    expect(info("anthropic/claude-haiku-4-5-20251001", { prices })).toEqual(haiku);
    expect(info("anthropic/unheard-of")).toBeUndefined();
    expect(info("anthropic/unheard-of", { prices })).toEqual(prices.find());
    expect(info("ollama/llama", { prices })).toBeUndefined();
    const providers = { anthropic: { models: { "claude-haiku-4-5": { contextWindow: 7 } } } };
    expect(info("anthropic/claude-haiku-4-5", { providers })).toEqual({ ...haiku, contextWindow: 7 });
  });
});

describe("loadPriceCatalog", () => {
  it("finds prices of many providers, and none where there is none", async () => {
    const catalog = await loadPriceCatalog();
    expect(catalog.find("anthropic", "claude-3-5-haiku-latest")).toEqual({
      contextWindow: 200_000,
      price: { input: 0.8, output: 4, cacheRead: 0.08, cacheWrite: 1, cacheWrite1h: 1.6 },
    });
    expect(catalog.find("moonshot", "kimi-k2-thinking")?.price?.input).toBe(0.6);
    expect(catalog.find("anthropic", "unheard-of")).toBeUndefined();
    expect(catalog.find("nobody", "x")).toBeUndefined();
  });

  it("agrees with the built-in figures", async () => {
    const catalog = await loadPriceCatalog();
    for (const [provider, id] of [
      ["anthropic", "claude-sonnet-5"],
      ["anthropic", "claude-opus-5-5"],
      ["openai", "gpt-5.5"],
      ["google", "gemini-2.5-pro"],
    ] as const) {
      expect(catalog.find(provider, id)?.price).toEqual(knownModelInfo(provider, id)?.price);
    }
  });
});

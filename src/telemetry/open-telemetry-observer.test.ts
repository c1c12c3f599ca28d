import * as api from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { defineTool } from "../core/tool/tool.ts";
import { calls, fails, type ScriptStep, says, thinks, waits } from "../testing/script.ts";
import { ScriptedModel } from "../testing/scripted-model.ts";
import { createBatchTool } from "../tools/batch-tool.ts";
import { type OpenTelemetryOptions, openTelemetryObserver } from "./open-telemetry-observer.ts";

const spans = new InMemorySpanExporter();
let metrics: InMemoryMetricExporter;
let meters: MeterProvider;

beforeEach(() => {
  api.trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }),
  );
  metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  meters = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 1e6 })],
  });
  api.metrics.setGlobalMeterProvider(meters);
});

afterEach(async () => {
  spans.reset();
  await meters.shutdown();
  api.trace.disable();
  api.metrics.disable();
});

const echo = defineTool({
  name: "echo",
  description: "Echoes.",
  parameters: { type: "object" },
  execute: () => "a secret",
});
const broken = defineTool({
  name: "broken",
  description: "Fails.",
  execute: () => {
    throw new Error("no");
  },
});

const delegate = defineTool({
  name: "delegate",
  description: "Hands on.",
  execute: async (_input, context) => {
    const outcome = await context.runAgent({ agent: "helper", prompt: "look", tools: [echo] });
    return outcome.text;
  },
});

async function observed(steps: readonly ScriptStep[], options: OpenTelemetryOptions = {}, stop = false) {
  const model = new ScriptedModel(steps, {
    provider: "google",
    id: "gemini",
    info: { price: { input: 1, output: 2 } },
  });
  const agent = new Agent({ model, tools: [echo, broken, delegate, createBatchTool()], sessionId: "s1" });
  const observe = openTelemetryObserver(api, options);
  await agent.run("go", {
    onEvent: (event) => {
      observe(event);
      if (stop && event.type === "text_delta") agent.stop();
    },
  });
  const all = spans.getFinishedSpans();
  return all.map((span) => ({
    name: span.name,
    parent: all.find((other) => other.spanContext().spanId === span.parentSpanContext?.spanId)?.name,
    attributes: span.attributes,
    status: span.status,
  }));
}

test("a run is a span around its requests and tool calls, with the names of the conventions", async () => {
  const made = await observed(
    [[thinks("hm"), calls("echo", { n: 1 }, "c1"), calls("broken", {}, "c2")], says("done")],
    {
      agentName: "ann",
    },
  );
  expect(made.map(({ name, parent, status }) => [name, parent, status.code])).toEqual([
    ["chat gemini", "invoke_agent ann", 0],
    ["execute_tool broken", "invoke_agent ann", api.SpanStatusCode.ERROR],
    ["execute_tool echo", "invoke_agent ann", 0],
    ["chat gemini", "invoke_agent ann", 0],
    ["invoke_agent ann", undefined, 0],
  ]);
  expect(made[0]?.attributes).toEqual({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "gcp.gemini",
    "gen_ai.request.model": "gemini",
    "gen_ai.response.model": "gemini",
    "gen_ai.response.finish_reasons": ["tool_use"],
    "gen_ai.usage.input_tokens": 100,
    "gen_ai.usage.output_tokens": 20,
    "gen_ai.response.time_to_first_chunk": expect.any(Number) as unknown,
    "nano_agent.cost.usd": 0.00014,
    "nano_agent.tool_calls": 2,
  });
  expect(made[1]?.attributes).toEqual({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "broken",
    "gen_ai.tool.call.id": "c2",
    "gen_ai.tool.type": "function",
    "error.type": "tool_error",
  });
  expect(made[4]?.attributes).toEqual({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.provider.name": "gcp.gemini",
    "gen_ai.request.model": "gemini",
    "gen_ai.conversation.id": "s1",
    "gen_ai.agent.name": "ann",
    "gen_ai.usage.input_tokens": 200,
    "gen_ai.usage.output_tokens": 40,
    "nano_agent.stop_reason": "completed",
    "nano_agent.cost.usd": 0.00028,
  });
});

test("texts are left out unless asked for", async () => {
  const steps = [[says("I look."), calls("echo", { password: "a secret" })], says("a secret")];
  expect(JSON.stringify(await observed(steps))).not.toContain("secret");
  spans.reset();
  const told = await observed(steps, { captureContent: true });
  expect(
    told.map(({ attributes: a }) => a["gen_ai.tool.call.arguments"] ?? a["gen_ai.output.messages"]),
  ).toEqual([
    '[{"role":"assistant","parts":[{"type":"text","content":"I look."},{"type":"tool_call","id":"call_1","name":"echo","arguments":{"password":"a secret"}}],"finish_reason":"tool_use"}]',
    '{"password":"a secret"}',
    '[{"role":"assistant","parts":[{"type":"text","content":"a secret"}],"finish_reason":"stop"}]',
    "a secret",
  ]);
});

test("calls inside a batch hang below it, and a span that was given is above all", async () => {
  const outer = api.trace.getTracer("test").startSpan("outer");
  const made = await observed([calls("batch", { calls: [{ tool: "echo", input: {} }] }), says("done")], {
    parent: api.trace.setSpan(api.context.active(), outer),
  });
  outer.end();
  const parents = spans.getFinishedSpans().map((span) => span.parentSpanContext?.spanId);
  expect([made.map(({ name, parent }) => [name, parent]).slice(1, 3), parents.at(-2)]).toEqual([
    [
      ["execute_tool echo", "execute_tool batch"],
      ["execute_tool batch", "invoke_agent"],
    ],
    outer.spanContext().spanId,
  ]);
});

test("what failed or was stopped ends its spans with what it was", async () => {
  const never = Promise.withResolvers<void>();
  const failed = await observed([fails("gone")]);
  spans.reset();
  const stopped = await observed([[says("half"), waits(never.promise)]], {}, true);
  expect(
    [failed, stopped].map((made) => made.map(({ name, attributes }) => [name, attributes["error.type"]])),
  ).toEqual([
    [
      ["chat gemini", "provider_error"],
      ["invoke_agent", "provider_error"],
    ],
    [
      ["chat gemini", "aborted"],
      ["invoke_agent", undefined],
    ],
  ]);
});

test("durations and tokens are counted for each request", async () => {
  await observed([calls("echo"), says("done")]);
  await meters.forceFlush();
  const [scope] = metrics.getMetrics()[0]?.scopeMetrics ?? [];
  const points = scope?.metrics.flatMap(({ descriptor, dataPoints }) =>
    dataPoints.map(({ attributes, value }) => [
      descriptor.name,
      descriptor.unit,
      attributes["gen_ai.token.type"],
      (value as { readonly count: number }).count,
    ]),
  );
  expect(points).toEqual([
    ["gen_ai.client.operation.duration", "s", undefined, 2],
    ["gen_ai.client.token.usage", "{token}", "input", 2],
    ["gen_ai.client.token.usage", "{token}", "output", 2],
  ]);
});

test("a subagent is a run below the call that started it, with what it spent", async () => {
  const made = await observed([calls("delegate"), calls("echo"), says("found"), says("done")], {
    captureContent: true,
  });
  expect(made.map(({ name, parent }) => [name, parent])).toEqual([
    ["chat gemini", "invoke_agent"],
    ["chat gemini", "invoke_agent helper"],
    ["execute_tool echo", "invoke_agent helper"],
    ["chat gemini", "invoke_agent helper"],
    ["invoke_agent helper", "execute_tool delegate"],
    ["execute_tool delegate", "invoke_agent"],
    ["chat gemini", "invoke_agent"],
    ["invoke_agent", undefined],
  ]);
  expect(made[4]?.attributes).toEqual({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.provider.name": "gcp.gemini",
    "gen_ai.request.model": "gemini",
    "gen_ai.conversation.id": "s1",
    "gen_ai.agent.name": "helper",
    "gen_ai.usage.input_tokens": 200,
    "gen_ai.usage.output_tokens": 40,
    "gen_ai.output.messages": "found",
    "nano_agent.stop_reason": "completed",
    "nano_agent.cost.usd": 0.00028,
  });
});

test("a subagent that fails ends its spans with what it was", async () => {
  const made = await observed([calls("delegate"), fails("gone"), says("done")]);
  expect(made.map(({ name, attributes }) => [name, attributes["error.type"]])).toEqual([
    ["chat gemini", undefined],
    ["chat gemini", "provider_error"],
    ["invoke_agent helper", "provider_error"],
    ["execute_tool delegate", undefined],
    ["chat gemini", undefined],
    ["invoke_agent", undefined],
  ]);
});

test("a request for a summary is a span of its own, and what broke off is counted", async () => {
  const observe = openTelemetryObserver(api);
  const entry = { id: "e", parent: null, time: 1_700_000_005_000 };
  observe({ ...entry, type: "run_start", sessionId: "s", model: "google/gemini", tools: [] });
  for (const purpose of ["compaction", "retry"])
    observe({
      ...entry,
      type: "model_usage",
      purpose,
      model: "openai-chat/small",
      usage: { inputTokens: 7, outputTokens: 3 },
      durationMs: 2000,
    });
  const summary = spans
    .getFinishedSpans()
    .map(({ name, attributes, duration }) => [name, duration, attributes]);
  expect(summary).toEqual([
    [
      "chat small",
      [2, 0],
      {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "small",
        "gen_ai.response.model": "small",
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.usage.output_tokens": 3,
        "nano_agent.purpose": "compaction",
      },
    ],
  ]);
  await meters.forceFlush();
  const points = metrics
    .getMetrics()[0]
    ?.scopeMetrics[0]?.metrics.flatMap(({ descriptor, dataPoints }) =>
      dataPoints.map(({ attributes }) => [
        descriptor.name,
        attributes["gen_ai.token.type"],
        attributes["error.type"],
      ]),
    );
  expect(points).toEqual([
    ["gen_ai.client.operation.duration", undefined, undefined],
    ["gen_ai.client.token.usage", "input", undefined],
    ["gen_ai.client.token.usage", "output", undefined],
    ["gen_ai.client.token.usage", "input", "retry"],
    ["gen_ai.client.token.usage", "output", "retry"],
  ]);
});

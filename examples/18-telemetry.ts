// What a run does, for people (lines) and for OpenTelemetry (spans and metrics, by the GenAI conventions).
//   npm install @opentelemetry/api @opentelemetry/sdk-trace-base
//   node examples/18-telemetry.ts [provider/model]
import * as api from "@opentelemetry/api";
import { BasicTracerProvider, type SpanProcessor } from "@opentelemetry/sdk-trace-base";
import { Agent, defineTool } from "nano-agent";
import { openTelemetryObserver, runLog } from "nano-agent/telemetry";
import { calls, ScriptedModel, says } from "nano-agent/testing";

// Yours has a processor that exports to where your traces go.
const printing: SpanProcessor = {
  onStart: () => undefined,
  onEnd: ({ name, attributes }) =>
    console.log(`span: ${name} ${String(attributes["gen_ai.operation.name"])}`),
  forceFlush: async () => undefined,
  shutdown: async () => undefined,
};
api.trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [printing] }));

const clock = defineTool({ name: "clock", description: "Tells the time.", execute: () => "14:05" });
const script = [calls("clock"), says("It is five past two.")];
const agent = new Agent({ model: process.argv[2] ?? new ScriptedModel(script), tools: [clock] });

const trace = openTelemetryObserver(api, { agentName: "ann" });
const log = runLog((service, text) => console.log(`[${service}] ${text}`));
await agent.run("What time is it?", {
  onEvent: (event) => {
    trace(event);
    log(event);
  },
});

export type {
  OpenTelemetryApi,
  OtelAttributes,
  OtelContext,
  OtelHistogram,
  OtelMeter,
  OtelSpan,
  OtelTracer,
} from "./open-telemetry-api.ts";
export { type OpenTelemetryOptions, openTelemetryObserver } from "./open-telemetry-observer.ts";
export { type LogService, type LogSink, type RunLogOptions, runLog } from "./run-log.ts";

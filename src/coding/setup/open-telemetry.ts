import type { AgentEvent } from "../../core/agent/entries.ts";
import { errorMessage } from "../../core/base/errors.ts";
import type { OpenTelemetryApi } from "../../telemetry/open-telemetry-api.ts";
import { openTelemetryObserver } from "../../telemetry/open-telemetry-observer.ts";
import type { OpenTelemetryConfig } from "../settings/config-schema.ts";

export interface Telemetry {
  readonly observe: (event: AgentEvent) => void;
  /** Makes the exporters send their buffered data. Never rejects. */
  readonly flush: () => Promise<void>;
}

/** Telemetry through the installed `@opentelemetry/api`; a notice if it cannot be loaded. */
export async function loadTelemetry(
  config: OpenTelemetryConfig,
  onNotice: (message: string) => void,
): Promise<Telemetry | undefined> {
  try {
    const name = "@opentelemetry/api";
    const api = (await import(name)) as OpenTelemetryApi & {
      readonly trace: { getTracerProvider(): unknown };
    };
    return {
      observe: openTelemetryObserver(api, {
        agentName: "nano-agent",
        captureContent: config.captureContent ?? false,
      }),
      flush: () => flush(api.trace.getTracerProvider()),
    };
  } catch (error) {
    onNotice(
      `openTelemetry is configured, and @opentelemetry/api cannot be loaded (${errorMessage(error)}). Install it next to nano-agent: npm install --global @opentelemetry/api. Nothing is sent.`,
    );
    return undefined;
  }
}

/** Providers can flush; the API's proxy returns the registered one. */
async function flush(provider: unknown): Promise<void> {
  const { getDelegate } = provider as { getDelegate?: () => unknown };
  const real = typeof getDelegate === "function" ? getDelegate.call(provider) : provider;
  const { forceFlush } = (real ?? {}) as { forceFlush?: () => Promise<void> };
  if (typeof forceFlush !== "function") return;
  await forceFlush.call(real).catch(() => undefined);
}

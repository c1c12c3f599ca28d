import type { ConfigFile } from "../../app/config/config-schema.ts";
import { loadTelemetry } from "../../app/open-telemetry.ts";
import type { AgentEvent } from "../../core/agent/event.ts";
import { runLog } from "../../telemetry/run-log.ts";
import { terminalLine } from "./terminal-text.ts";

/** Who looks at the runs of a command beside its reporter. */
export interface RunObservers {
  readonly observe: (event: AgentEvent) => void;
  /** Sends what is held back. Never rejects. */
  readonly flush: () => Promise<void>;
}

/** What decides which observers there are. */
export interface RunObserverOptions {
  readonly verbose: boolean;
  readonly config: ConfigFile;
  /** Writes to standard error. */
  readonly write: (text: string) => void;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
  readonly onNotice: (message: string) => void;
}

/** The observers that were asked for: lines with `--verbose`, OpenTelemetry by configuration. */
export async function openRunObservers(options: RunObserverOptions): Promise<RunObservers> {
  const { verbose, config, onNotice } = options;
  const observers: ((event: AgentEvent) => void)[] = [];
  if (verbose) observers.push(linesTo(options));
  const telemetry =
    config.openTelemetry === undefined ? undefined : await loadTelemetry(config.openTelemetry, onNotice);
  if (telemetry !== undefined) observers.push(telemetry.observe);
  return {
    observe: (event) => {
      for (const observe of observers) observe(event);
    },
    flush: async () => telemetry?.flush(),
  };
}

function linesTo({ write, redact }: RunObserverOptions): (event: AgentEvent) => void {
  const startedAt = performance.now();
  return runLog((service, text) => {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(3);
    write(`+${seconds}s [${service}] ${terminalLine(redact(text), 1_000)}\n`);
  });
}

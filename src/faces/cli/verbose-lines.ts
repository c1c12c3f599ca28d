import { terminalLine } from "../../app/safe-text.ts";
import type { AgentEvent } from "../../core/agent/event.ts";
import { runLog } from "../../telemetry/run-log.ts";

/**
 * What `--verbose` writes: a line for each thing that happens, with the seconds since now. `redact` takes
 * secrets out.
 */
export function verboseLines(
  write: (text: string) => void,
  redact: (text: string) => string,
): (event: AgentEvent) => void {
  const startedAt = performance.now();
  return runLog((service, text) => {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(3);
    write(`+${seconds}s [${service}] ${terminalLine(redact(text), 1_000)}\n`);
  });
}

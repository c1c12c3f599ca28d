import { systemClock } from "../../core/base/clock.ts";
import type { McpHub } from "../../extensions/mcp/mcp-hub.ts";
import type { McpServerDefinition } from "../../extensions/mcp/server-definition.ts";
import type { Settings } from "../settings.ts";
import { createMcpHub } from "./mcp-parts.ts";
import { serverEnvironment } from "./server-environment.ts";

declare const NANO_AGENT_VERSION: string;

/** Servers outside of a run, to be looked at: none is started yet. Close it. */
export function hubFor(
  settings: Settings,
  {
    servers,
    onNotice,
  }: { readonly servers: readonly McpServerDefinition[]; readonly onNotice: (message: string) => void },
): McpHub {
  return createMcpHub({
    servers,
    settings,
    clock: systemClock,
    version: NANO_AGENT_VERSION,
    onNotice,
    host: { roots: [settings.cwd], environment: () => serverEnvironment(settings) },
  });
}

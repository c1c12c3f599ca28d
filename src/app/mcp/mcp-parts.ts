import type { Clock } from "../../core/base/clock.ts";
import type { McpHost, OpenConnection } from "../../extensions/mcp/connection.ts";
import { McpHub } from "../../extensions/mcp/mcp-hub.ts";
import type { McpServerDefinition } from "../../extensions/mcp/server-definition.ts";
import type { Settings } from "../settings.ts";
import { knownToolsFiles } from "./known-tools.ts";

/** What {@link createMcpHub} needs. */
export interface HubParts {
  readonly servers: readonly McpServerDefinition[];
  readonly host: McpHost;
  readonly settings: Pick<Settings, "paths" | "config">;
  readonly clock: Clock;
  readonly version: string;
  readonly onNotice: (message: string) => void;
}

/** The servers of an agent, over files of its user. The client itself is loaded with the first start. */
export function createMcpHub({ servers, host, settings, clock, version, onNotice }: HubParts): McpHub {
  return new McpHub({
    servers,
    host,
    clock,
    onNotice,
    known: knownToolsFiles(settings.paths),
    loadOpener: () => loadOpener(version),
    ...(settings.config.values.mcp?.defer === false ? { defer: false } : {}),
  });
}

async function loadOpener(version: string): Promise<OpenConnection> {
  const { connectionOpener, createProcessWatcher } = await import("./mcp-client.ts");
  return connectionOpener({ version, watcher: createProcessWatcher() });
}

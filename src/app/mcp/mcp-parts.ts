import type { Clock } from "../../core/base/clock.ts";
import type { McpHost, OpenConnection } from "../../extensions/mcp/connection.ts";
import { McpHub } from "../../extensions/mcp/mcp-hub.ts";
import type { McpServerDefinition } from "../../extensions/mcp/server-definition.ts";
import { networkOptions } from "../network-options.ts";
import type { Settings } from "../settings.ts";
import { knownServerFiles } from "./known-servers.ts";

export { findPromptCommand, promptCommand } from "./prompt-command.ts";

/** What {@link createMcpHub} needs. */
export interface HubParts {
  readonly servers: readonly McpServerDefinition[];
  readonly host: McpHost;
  readonly settings: Pick<Settings, "paths" | "config" | "environment">;
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
    known: knownServerFiles(settings.paths),
    loadOpener: () => loadOpener({ version, clock, settings }),
    ...(settings.config.values.mcp?.defer === false ? { defer: false } : {}),
  });
}

async function loadOpener({
  version,
  clock,
  settings,
}: Pick<HubParts, "version" | "clock" | "settings">): Promise<OpenConnection> {
  const client = await import("./mcp-client.ts");
  const { proxy } = networkOptions(settings.config.values.network, settings.environment);
  const fetch = client.proxiedFetch(proxy);
  const open = client.connectionOpener({ version, watcher: client.createProcessWatcher(), fetch });
  return (server, host, options) => {
    const authorization: McpHost["authorization"] = (each) =>
      client.authorizationOf(each, { store: client.loginStore(each, settings.paths), clock, fetch });
    return open(server, { authorization, ...host }, options);
  };
}

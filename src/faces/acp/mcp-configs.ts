import type { McpServer } from "@agentclientprotocol/sdk";

/** The MCP servers of an editor in the form of `--mcp-config`; nothing where it brings none. */
export function mcpConfigs(servers: readonly McpServer[]): readonly string[] {
  if (servers.length === 0) return [];
  const entries = servers.map((server) => [server.name, definition(server)]);
  return [JSON.stringify({ mcpServers: Object.fromEntries(entries) })];
}

function definition(server: McpServer): object {
  if (!("type" in server)) {
    const { command, args, env } = server;
    return { command, args, env: fields(env) };
  }
  const { type, url, headers } = server;
  return { type, url, headers: fields(headers) };
}

function fields(list: readonly { readonly name: string; readonly value: string }[]): object {
  return Object.fromEntries(list.map(({ name, value }) => [name, value]));
}

import type { McpServer } from "@agentclientprotocol/sdk";

/** The MCP servers of an editor in the form of `--mcp-config`, each by itself: two may have one name. */
export function mcpConfigs(servers: readonly McpServer[]): readonly string[] {
  return servers.map((server) => JSON.stringify({ mcpServers: { [server.name]: definition(server) } }));
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

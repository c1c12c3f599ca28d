/** What the command line says of MCP servers. */
export interface McpSources {
  /** JSON itself, or names of files, in the order they were given. */
  readonly configs: readonly string[];
  /** Only these count. */
  readonly strict: boolean;
}

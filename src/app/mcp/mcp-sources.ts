/** What the command line says of MCP servers. */
export interface McpSources {
  /** JSON itself, or names of files, in the order they were given. */
  readonly configs: readonly string[];
  /** `${NAME}` in them is text: who wrote them has put values in, and is to see none of ours. Default: false. */
  readonly isLiteral?: boolean;
  /** Only these count. */
  readonly strict: boolean;
}

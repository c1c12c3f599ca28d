import type { ListedPrompt } from "./connection.ts";
import type { McpServer } from "./mcp-server.ts";
import { mcpNames } from "./tool-name.ts";

/** A prompt of a server, which people call as a command. */
export interface McpPrompt extends Omit<ListedPrompt, "name"> {
  /** `mcp__server__prompt`. */
  readonly name: string;
  readonly server: string;
  /** Its name at the server. */
  readonly own: string;
}

/** The prompts of a server: their names begin with `part`, as those of its tools do. */
export function promptsOf({
  server,
  part,
  prompts,
}: {
  readonly server: Pick<McpServer, "definition">;
  readonly part: string;
  readonly prompts: readonly ListedPrompt[];
}): readonly McpPrompt[] {
  const names = mcpNames(
    part,
    prompts.map(({ name }) => name),
  );
  return prompts.map((prompt) => ({
    ...prompt,
    name: names.get(prompt.name) ?? prompt.name,
    server: server.definition.name,
    own: prompt.name,
  }));
}

import { isRecord } from "../../core/base/json.ts";
import type { ImageBlock, TextBlock } from "../../core/message/message.ts";
import type { ListedPrompt } from "./connection.ts";
import type { McpServer } from "./mcp-server.ts";
import { mcpNames } from "./tool-name.ts";
import { contentBlocks } from "./tool-result.ts";

export interface PromptMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly (TextBlock | ImageBlock)[];
}

/** The messages of a server's prompt; entries that are not messages are left out. */
export function promptMessages(answer: unknown): readonly PromptMessage[] {
  const messages = isRecord(answer) ? answer["messages"] : undefined;
  return (Array.isArray(messages) ? (messages as readonly unknown[]) : []).flatMap((message) => {
    if (!isRecord(message)) return [];
    const { role, content } = message;
    const blocks = contentBlocks(Array.isArray(content) ? content : [content]);
    return blocks.length === 0
      ? []
      : [{ role: role === "assistant" ? ("assistant" as const) : ("user" as const), content: blocks }];
  });
}

export interface McpPrompt extends Omit<ListedPrompt, "name"> {
  readonly name: string;
  readonly server: string;
  readonly own: string;
}

/** The prompts of a server: like its tools, their names begin with `part`. */
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

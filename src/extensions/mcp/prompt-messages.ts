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

/** Skips entries that are not messages. */
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
  readonly serverName: string;
}

/** As with tools, the names of prompts begin with `namePart`. */
export function promptsOf({
  server,
  namePart,
  prompts,
}: {
  readonly server: Pick<McpServer, "definition">;
  readonly namePart: string;
  readonly prompts: readonly ListedPrompt[];
}): readonly McpPrompt[] {
  const names = mcpNames(
    namePart,
    prompts.map(({ name }) => name),
  );
  return prompts.map((prompt) => ({
    ...prompt,
    name: names.get(prompt.name) ?? prompt.name,
    server: server.definition.name,
    serverName: prompt.name,
  }));
}

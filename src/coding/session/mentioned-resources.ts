import { errorMessage } from "../../core/base/errors.ts";
import type { Message } from "../../core/message/message.ts";
import type { McpHub } from "../../extensions/mcp/mcp-hub.ts";

/** Options of {@link mentionedResources}. */
export interface MentionOptions {
  readonly hub: Pick<McpHub, "readResource">;
  readonly signal: AbortSignal;
  readonly warn: (message: string) => void;
}

/** A server and a whole address with its scheme; punctuation behind it ends the sentence. */
const MENTION = /(?<=^|[\s("'`])@([\w.-]+:[a-z][a-z\d+.-]*:[^\s"'`<>]*[^\s"'`<>.,;:!?)\]}])/giu;
const MAX_MENTIONS = 8;

/**
 * The contents of resources of MCP servers that a text mentions as `@server:uri`, a message for each, at most
 * eight. A server that does not run is started. One that cannot be read is told, and its name stays a name.
 */
export async function mentionedResources(
  text: string,
  { hub, signal, warn }: MentionOptions,
): Promise<readonly Message[]> {
  const mentions = [...new Set([...text.matchAll(MENTION)].flatMap(([, mention]) => mention ?? []))];
  const read = mentions.slice(0, MAX_MENTIONS).map(async (mention): Promise<readonly Message[]> => {
    try {
      const content = (await hub.readResource(mention, signal)) ?? [];
      return content.length === 0 ? [] : [{ role: "user", content }];
    } catch (error) {
      signal.throwIfAborted();
      warn(`The resource @${mention} cannot be read: ${errorMessage(error)}`);
      return [];
    }
  });
  return (await Promise.all(read)).flat();
}

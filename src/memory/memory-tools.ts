import { LONG_TERM_MEMORY } from "../core/message/message.ts";
import { defineTool, type Tool } from "../core/tool/tool.ts";
import { type LongTermMemory, recollectionLine } from "./long-term-memory.ts";

/** Options of {@link memoryTools}. */
export interface MemoryToolOptions {
  readonly store: LongTermMemory;
  /** Milliseconds one call may take. */
  readonly timeoutMs: number;
}

/** Most records one call gets. */
const MAX_LIMIT = 50;

/** `record_to_memory` and `retrieve_from_memory`, by which a model uses a long-term memory itself. */
export function memoryTools({ store, timeoutMs }: MemoryToolOptions): readonly Tool[] {
  return [recordTool(store, timeoutMs), retrieveTool(store, timeoutMs)];
}

function recordTool(store: LongTermMemory, timeoutMs: number): Tool {
  return defineTool({
    name: "record_to_memory",
    description: "Keeps facts for later conversations: what the user prefers, decided or wants remembered.",
    parameters: {
      type: "object",
      properties: {
        thinking: { type: "string", description: "Why this is worth keeping." },
        content: {
          type: "array",
          items: { type: "string" },
          minItems: 1,
          maxItems: MAX_LIMIT,
          description: "The facts, each understandable on its own: names and absolute dates, no pronouns.",
        },
      },
      required: ["thinking", "content"],
    },
    access: { write: [LONG_TERM_MEMORY] },
    changesFiles: false,
    timeoutMs,
    execute: async ({ content }, { sessionId, signal }) => {
      const { added, known } = await store.record(content, { sessionId, origin: "model", signal });
      return {
        content: `Recorded ${added}${known > 0 ? `, ${known} known already` : ""}.`,
        title: `${added} recorded`,
      };
    },
  });
}

function retrieveTool(store: LongTermMemory, timeoutMs: number): Tool {
  return defineTool({
    name: "retrieve_from_memory",
    description: "Searches what was kept from earlier conversations.",
    parameters: {
      type: "object",
      properties: {
        keywords: {
          type: "array",
          items: { type: "string" },
          minItems: 1,
          description: "Names, topics, words that what you look for may contain.",
        },
        limit: { type: "integer", minimum: 1, maximum: MAX_LIMIT, description: "Default 5." },
      },
      required: ["keywords"],
    },
    access: { read: [LONG_TERM_MEMORY] },
    readOnly: true,
    timeoutMs,
    execute: async ({ keywords, limit }, { signal }) => {
      const found = await store.retrieve(keywords.join("\n"), { limit: limit ?? 5, signal });
      if (found.length === 0) return { content: "Nothing was found.", title: "nothing" };
      return { content: found.map(recollectionLine).join("\n"), title: `${found.length} found` };
    },
  });
}

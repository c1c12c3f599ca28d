// The agent of docs/tutorial.md: it keeps notes, and asks before it removes one.
import { Agent, defineTool, type Gate } from "nano-agent";

/** Notes by their title. */
export type Notes = Map<string, string>;

export type NotesAgentOptions = Pick<ConstructorParameters<typeof Agent>[0], "model" | "approve" | "journal">;

export function createNotesAgent(notes: Notes, options: NotesAgentOptions): Agent {
  const write = defineTool({
    name: "write_note",
    description: "Writes a note. A note of the same title is replaced.",
    parameters: {
      type: "object",
      properties: { title: { type: "string" }, text: { type: "string" } },
      required: ["title", "text"],
    },
    execute: ({ title, text }) => {
      notes.set(title, text);
      return `wrote ${title}`;
    },
  });

  const remove = defineTool({
    name: "remove_note",
    description: "Removes a note.",
    parameters: { type: "object", properties: { title: { type: "string" } }, required: ["title"] },
    execute: ({ title }) => {
      if (!notes.delete(title)) throw new Error(`There is no note "${title}".`);
      return `removed ${title}`;
    },
  });

  const gate: Gate = {
    check: ({ tool }) =>
      tool.name === "remove_note" ? { action: "ask", reason: "a note would be lost" } : { action: "allow" },
  };

  return new Agent({
    ...options,
    systemPrompt: "You keep short notes for the user.",
    tools: [write, remove],
    permission: gate,
  });
}

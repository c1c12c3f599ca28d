import { pathToFileURL } from "node:url";
import { fromJsonSchema, inputRequired, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

/** A server that speaks the newest version of the protocol, in which a server asks by its answers. */
export function newerServer(): McpServer {
  const server = new McpServer({ name: "newer", version: "1" });
  const text = { type: "object", properties: { text: { type: "string" } } } as const;
  server.registerTool(
    "echo",
    { description: "Echoes", inputSchema: fromJsonSchema<{ readonly text: string }>(text) },
    async (input) => ({ content: [{ type: "text", text: `echo ${input.text}` }] }),
  );
  server.registerTool("ask", { description: "Asks" }, async ({ mcpReq }) => {
    const { choice } = mcpReq.inputResponses ?? {};
    if (choice !== undefined) return { content: [{ type: "text", text: JSON.stringify(choice) }] };
    return inputRequired({
      inputRequests: {
        choice: inputRequired.elicit({
          message: "Which?",
          requestedSchema: { type: "object", properties: { color: { type: "string" } } },
        }),
      },
    });
  });
  server.registerPrompt("greet", { description: "Greets" }, async () => ({
    messages: [{ role: "user", content: { type: "text", text: "Hello." } }],
  }));
  return server;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  serveStdio(newerServer, { legacy: "reject" });

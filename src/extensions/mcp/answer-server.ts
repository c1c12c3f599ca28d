import type { Client } from "@modelcontextprotocol/client";
import { isRecord } from "../../core/base/json.ts";
import { ConnectionError, type ElicitationAnswer, type McpHost, type SamplingRequest } from "./connection.ts";
import type { McpServerDefinition } from "./server-definition.ts";

/** Tokens a server gets where it does not say how many it wants, and at most. */
const MAX_SAMPLING_TOKENS = 8_192;

/** Lets a client answer what its server asks of the person and of the model, as far as the host does. */
export function answerServer(client: Client, server: McpServerDefinition, host: McpHost): void {
  const { elicit, sample } = host;
  const { name } = server;
  if (elicit !== undefined)
    client.setRequestHandler("elicitation/create", async ({ params }, { mcpReq }) => {
      const asked: { readonly [key: string]: unknown } = { ...params };
      const answer: ElicitationAnswer = await elicit(
        {
          server: name,
          message: String(asked["message"] ?? ""),
          ...(isRecord(asked["requestedSchema"]) ? { schema: asked["requestedSchema"] } : {}),
          ...(typeof asked["url"] === "string" ? { url: asked["url"] } : {}),
        },
        mcpReq.signal,
      );
      return { ...answer } as never;
    });
  if (sample !== undefined && server.sampling)
    client.setRequestHandler("sampling/createMessage", async ({ params }, { mcpReq }) => {
      const { text, model } = await sample(samplingRequest(name, { ...params }), mcpReq.signal);
      return { role: "assistant", model, content: { type: "text", text } } as never;
    });
}

function samplingRequest(server: string, params: { readonly [key: string]: unknown }): SamplingRequest {
  const { messages, systemPrompt, maxTokens } = params;
  const limit = typeof maxTokens === "number" && maxTokens > 0 ? maxTokens : MAX_SAMPLING_TOKENS;
  return {
    server,
    ...(typeof systemPrompt === "string" ? { system: systemPrompt } : {}),
    messages: (Array.isArray(messages) ? (messages as readonly unknown[]) : []).map(samplingMessage),
    maxOutputTokens: Math.min(Math.ceil(limit), MAX_SAMPLING_TOKENS),
  };
}

function samplingMessage(message: unknown): SamplingRequest["messages"][number] {
  const { role, content } = isRecord(message) ? message : {};
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  const texts = blocks.map((block) => {
    if (isRecord(block) && block["type"] === "text") return String(block["text"]);
    throw new ConnectionError("Only text can be sent to the model of this client.");
  });
  return { role: role === "assistant" ? "assistant" : "user", text: texts.join("\n") };
}

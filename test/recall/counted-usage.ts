import type { Usage } from "../../src/core/message/message.ts";
import type { ModelRequest } from "../../src/core/model/model.ts";
import { ContextMeter } from "../../src/memory/context/context-meter.ts";

/** What a provider would report of a request: its size as it is estimated. */
export async function countedUsage(request: ModelRequest): Promise<Usage> {
  const { tokens } = await new ContextMeter().measure({
    conversation: {},
    messages: request.messages,
    revision: 0,
    measured: undefined,
    request,
    tools: request.tools ?? [],
    info: undefined,
  });
  return { inputTokens: tokens, outputTokens: 50 };
}

import { messageText } from "../../core/message/message.ts";
import { collect } from "../../core/model/collect.ts";
import type { Model } from "../../core/model/model.ts";
import type { Sample } from "../../extensions/mcp/connection.ts";

/** Lets MCP servers that may do so ask the model of the run. What is asked and answered is no part of the conversation. */
export function samplingWith(model: Model): Sample {
  return async ({ system, messages, maxOutputTokens }, signal) => {
    const { message } = await collect(
      model.stream(
        {
          ...(system === undefined ? {} : { system }),
          messages: messages.map(({ role, text }) => ({ role, content: [{ type: "text", text }] })),
          maxOutputTokens,
        },
        { signal },
      ),
    );
    return { text: messageText(message), model: `${model.provider}/${model.id}` };
  };
}

import { isRecord } from "../../core/base/json.ts";
import type { JsonSchema } from "../../core/base/schema.ts";
import type { Elicit } from "../../extensions/mcp/connection.ts";
import type { NewQuestion } from "./question.ts";
import type { QuestionDesk } from "./question-desk.ts";

/**
 * Puts what an MCP server wants to know to the person of a session, after `onAsk`. Declines where nobody
 * listens.
 */
export function elicitAt(desk: QuestionDesk, onAsk: (message: string) => Promise<void>): Elicit {
  return async ({ server, message, schema, url }, signal) => {
    const asked: NewQuestion =
      url === undefined
        ? {
            type: "elicitation",
            reason: `${server} asks: ${message}`,
            schema: (schema ?? { type: "object" }) as JsonSchema,
          }
        : {
            type: "choice",
            reason: `${server} asks you to open ${url}: ${message}`,
            options: [{ value: "opened", label: "I have opened it" }],
          };
    if (desk.isAttended) await onAsk(asked.reason);
    const value = await desk.askValue(asked, signal);
    if (value === undefined) return { action: "decline" };
    return isRecord(value) ? { action: "accept", content: value } : { action: "accept" };
  };
}

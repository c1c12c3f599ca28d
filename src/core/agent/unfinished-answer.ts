import { NanoAgentError } from "../base/errors.ts";
import type { ContentBlock } from "../message/block.ts";
import { type AssistantMessage, messageText } from "../message/message.ts";
import { calledInText } from "../model/call-markup.ts";
import type { Model } from "../model/model.ts";
import { type RunContext, remark } from "./run-context.ts";

/** The words to a model that says nothing about the results of its calls. */
const SAY_SOMETHING =
  "Your last answer was empty. Go on with the task; if it is done, say what was done and found out.";

/**
 * Looks at an answer that would end the run although nothing came of it: an empty one after the results of
 * calls, and a call that is only text. `again`: the model was told, once. An error: it cannot go on.
 */
export async function unfinished(
  run: RunContext,
  message: AssistantMessage,
): Promise<"again" | NanoAgentError | undefined> {
  const text = messageText(message);
  if (text.trim() !== "") {
    const names = run.tools.specs().map(({ name }) => name);
    const called = calledInText(text, names);
    return called === undefined ? undefined : callAsText(run.model, called);
  }
  // An answer without any block is not among the messages.
  const before = run.state.transcript.messages.findLast(({ role }) => role === "user");
  if (before === undefined) return undefined;
  if (messageText(before) === SAY_SOMETHING) return neverSaid(run.model);
  const content: readonly ContentBlock[] = before.content;
  if (!content.some(({ type }) => type === "tool_result")) return undefined;
  await remark(run, SAY_SOMETHING, { code: "empty" });
  return "again";
}

function neverSaid({ provider, id }: Model): NanoAgentError {
  return new NanoAgentError(
    "invalid_response",
    `${provider} ended two answers of ${id} in a row without a word after the results of its calls. Run again without an input to go on, or try another model.`,
    { details: { provider, model: id }, retryable: true },
  );
}

function callAsText({ provider, id }: Model, tool: string): NanoAgentError {
  return new NanoAgentError(
    "invalid_response",
    `${provider} handed on a call of the tool ${tool} by ${id} as text, so it was not made. Start the server with its parser for the calls of this model (vLLM: --enable-auto-tool-choice --tool-call-parser NAME; SGLang: --tool-call-parser NAME; llama-server: --jinja), or let calls stand in the text: "toolCalls": "text".`,
    { details: { provider, model: id, calledAsText: tool } },
  );
}

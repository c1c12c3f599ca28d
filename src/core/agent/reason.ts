import { NanoAgentError, toNanoAgentError } from "../base/errors.ts";
import { type AssistantMessage, toolCallsOf } from "../message/message.ts";
import type { CollectedAnswer } from "../model/collect.ts";
import type { ModelRequest, ToolChoice } from "../model/model.ts";
import { exchange, failed } from "./exchange.ts";
import type { HookOutputs } from "./hook.ts";
import type { Reasoned } from "./reasoned.ts";
import type { EndlessRepetition } from "./repeated-text.ts";
import type { RequestAccount } from "./request-account.ts";
import { type RunContext, record } from "./run-context.ts";

/**
 * One model request of the conversation: hooks, the request, its parts published as they come, and its answer recorded with what it
 * cost. An answer that is cut is recorded as far as its text had come. Throws only for the journal.
 */
export async function reason(run: RunContext, toolChoice: ToolChoice | undefined): Promise<Reasoned> {
  let request = requestOf(run, toolChoice);
  try {
    if (run.hooks.has("pre_reasoning")) ({ request } = await run.hooks.pre("reasoning", { request }));
  } catch (error) {
    return failed(run, error);
  }
  return exchange(run, request, {
    show: (part) => {
      if (part.type !== "block" && part.type !== "finish" && part.type !== "retry") run.emit(part);
    },
    answered: (account, answer) => recordAnswer(run, account, answer),
    cut: (account, why) => recordCut(run, account, why),
  });
}

function requestOf(run: RunContext, toolChoice: ToolChoice | undefined): ModelRequest {
  const tools = run.tools.specs();
  return {
    ...run.request,
    messages: run.state.transcript.messages.slice(),
    ...(tools.length === 0 ? {} : { tools }),
    ...(tools.length === 0 || toolChoice === undefined ? {} : { toolChoice }),
  };
}

async function recordAnswer(
  run: RunContext,
  account: RequestAccount,
  { message: said, finish }: CollectedAnswer,
): Promise<Reasoned> {
  const own = { message: said, finishReason: finish.finishReason };
  const { message, finishReason, failure } = run.hooks.has("post_reasoning")
    ? await hookedAnswer(run, account.request, own)
    : { ...own, failure: undefined };
  await record(run, {
    type: "assistant_message",
    message,
    finishReason,
    ...account.answered(finish, said),
    ...account.timing(),
    ...(finish.responseId === undefined ? {} : { responseId: finish.responseId }),
  });
  if (failure !== undefined) return failed(run, failure);
  const { cappedBy } = account;
  return { type: "answer", message, finishReason, ...(cappedBy === undefined ? {} : { cappedBy }) };
}

/** The answer as the hooks after it leave it. When one fails it is the model's own, which was paid for and is kept. Never throws. */
async function hookedAnswer(
  run: RunContext,
  request: ModelRequest,
  answer: HookOutputs["reasoning"],
): Promise<HookOutputs["reasoning"] & { readonly failure: NanoAgentError | undefined }> {
  try {
    const hooked = await run.hooks.post("reasoning", { request }, answer);
    const given = new Set(toolCallsOf(answer.message).map(({ id }) => id));
    assertCallIds(hooked, (id) => run.state.transcript.callIds.has(id) && !given.has(id));
    // A message of its own: a hook may give the same one again and again.
    const message = hooked.message === answer.message ? hooked.message : { ...hooked.message };
    return { ...hooked, message, failure: undefined };
  } catch (error) {
    return { ...answer, failure: toNanoAgentError(error) };
  }
}

/** One id for two calls would leave one of them without a result. */
function assertCallIds({ message }: HookOutputs["reasoning"], isUsed: (id: string) => boolean): void {
  const own = new Set<string>();
  for (const { id, name } of toolCallsOf(message)) {
    if (id === "" || own.has(id) || isUsed(id)) {
      throw new NanoAgentError(
        "internal",
        `A hook of post_reasoning gave the call of ${name} the id "${id}", which is empty or in use: give it one of its own.`,
      );
    }
    own.add(id);
  }
}

async function recordCut(
  run: RunContext,
  account: RequestAccount,
  why: "aborted" | EndlessRepetition,
): Promise<void> {
  const partial = account.collector.partial();
  const message = why === "aborted" ? partial : beforeRepetition(partial, why);
  if (message.content.length === 0) return account.void("aborted");
  await record(run, {
    type: "assistant_message",
    message,
    finishReason: { unified: "other", raw: why === "aborted" ? "aborted" : "repetition" },
    ...account.cut(),
    ...account.timing(),
    interrupted: true,
  });
}

/** What was written up to the repetition: the rest would only invite the model to go on. */
function beforeRepetition(
  { role, content }: AssistantMessage,
  { repetition }: EndlessRepetition,
): AssistantMessage {
  const kept = content.map((block, at) =>
    block.type === "text" && at === content.length - 1
      ? { ...block, text: `${block.text.slice(0, -repetition.surplus).toWellFormed()} …` }
      : block,
  );
  return { role, content: kept };
}

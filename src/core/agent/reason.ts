import { defined } from "../base/defined.ts";
import { NanoAgentError, recordedError, toNanoAgentError } from "../base/errors.ts";
import { type AssistantMessage, toolCallsOf } from "../message/message.ts";
import type { CollectedAnswer } from "../model/collect.ts";
import type { ModelRequest, ToolChoice } from "../model/model.ts";
import { exchange, failed, type RequestOutcome, stopped } from "./exchange.ts";
import type { Answer } from "./plugin.ts";
import { beforeTurn, type LeftAnswer, throughPlugins } from "./plugins.ts";
import type { RequestAccount } from "./request-account.ts";
import { type RunContext, record } from "./run-context.ts";
import { isWindowFull, windowFullError } from "./window-full.ts";

/** The next answer of the model; plugins may have a request repeated. Throws only for the journal. */
export async function reason(run: RunContext, toolChoice: ToolChoice | undefined): Promise<RequestOutcome> {
  await beforeTurn(run);
  const answer = stopped(run) ?? (await ask(run, toolChoice, recordUnlessFull));
  if (answer.type !== "failed") return answer;
  const done = await mendedBy(run, answer.error);
  if (done === undefined) return answer;
  return stopped(run) ?? (done === "again" ? ask(run, toolChoice) : answer);
}

/**
 * Records an answer, unless the window had no room for it and a plugin may make some: then it is void, as
 * that of a request which was refused as too long.
 */
async function recordUnlessFull(
  run: RunContext,
  account: RequestAccount,
  answer: CollectedAnswer,
): Promise<RequestOutcome> {
  const { message, finish } = answer;
  const mayMend = run.plugins.some((plugin) => "afterFailure" in plugin);
  if (!mayMend || !isWindowFull(run.model, answer)) return recordAnswer(run, account, answer);
  const { durationMs } = account.timing();
  const charge = account.answered(finish, message);
  await record(run, { type: "model_usage", purpose: "retry", ...charge, durationMs });
  const error = windowFullError(run.model, finish.finishReason);
  await record(run, { type: "retry", attempt: 2, delayMs: 0, error: recordedError(error) });
  return { type: "failed", error };
}

/** The outcome of the first plugin that knows of the failure; undefined where none does. */
async function mendedBy(run: RunContext, error: NanoAgentError): Promise<"again" | "in_vain" | undefined> {
  for (const plugin of run.plugins) {
    const done = await plugin.afterFailure?.(run, error);
    if (done !== undefined) return done;
  }
  return undefined;
}

/**
 * One model request of the conversation: plugins, the request, its parts published as they come, and its
 * answer recorded with what it cost. An answer that is cut is recorded as far as its text had come.
 */
async function ask(
  run: RunContext,
  toolChoice: ToolChoice | undefined,
  answered: typeof recordAnswer = recordAnswer,
): Promise<RequestOutcome> {
  let request = requestOf(run, toolChoice);
  try {
    request = await throughPlugins(run.plugins, request, (plugin, made) => plugin.beforeRequest?.(run, made));
  } catch (error) {
    return failed(run, error);
  }
  return exchange(run, request, {
    show: (part) => {
      if (part.type !== "block" && part.type !== "finish" && part.type !== "retry") run.emit(part);
    },
    answered: (account, answer) => answered(run, account, answer),
    cut: (account, why) => recordCut(run, account, why),
  });
}

function requestOf(run: RunContext, toolChoice: ToolChoice | undefined): ModelRequest {
  const tools = run.tools.specs();
  return {
    ...run.request,
    messages: run.state.transcript.messages.slice(),
    ...(tools.length === 0 ? {} : defined({ tools, toolChoice })),
  };
}

/** Where a plugin fails, the answer is the model's own, which was paid for and is kept. */
async function recordAnswer(
  run: RunContext,
  account: RequestAccount,
  { message: said, finish }: CollectedAnswer,
): Promise<RequestOutcome> {
  const own: Answer = { message: said, finishReason: finish.finishReason };
  let answer = own;
  let failure: unknown;
  try {
    const changed = await throughPlugins(run.plugins, own, (plugin, made) =>
      plugin.afterRequest?.(run, made, account.grant.request),
    );
    if (changed !== own) answer = replacedAnswer(run, own, changed);
  } catch (error) {
    failure = error;
  }
  const { message, finishReason } = answer;
  await record(run, {
    type: "assistant_message",
    message,
    finishReason,
    ...account.answered(finish, said),
    ...account.timing(),
    ...defined({ responseId: finish.responseId }),
  });
  if (failure !== undefined) return failed(run, toNanoAgentError(failure));
  const { cappedBy } = account.grant;
  return { type: "answer", message, finishReason, ...defined({ cappedBy }) };
}

/** The answer that plugins put in the place of the model's own. Throws for call ids that cannot be. */
function replacedAnswer(run: RunContext, own: Answer, changed: Answer): Answer {
  const given = new Set(toolCallsOf(own.message).map(({ id }) => id));
  assertCallIds(changed, (id) => run.state.transcript.callIds.has(id) && !given.has(id));
  // A message of its own: a plugin may give the same one again and again.
  return changed.message === own.message ? changed : { ...changed, message: { ...changed.message } };
}

/** One id for two calls would leave one of them without a result. */
function assertCallIds({ message }: Answer, isUsed: (id: string) => boolean): void {
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
  why: "aborted" | LeftAnswer,
): Promise<void> {
  const partial = account.collector.partial();
  const message = why === "aborted" || why.surplus === 0 ? partial : withoutEnd(partial, why.surplus);
  if (message.content.length === 0) return account.void(why === "aborted" ? why : "failed");
  await record(run, {
    type: "assistant_message",
    message,
    finishReason: { unified: "other", raw: why === "aborted" ? "aborted" : "repetition" },
    ...account.cut(),
    ...account.timing(),
    interrupted: true,
  });
}

/** The answer up to where its surplus begins: to keep more would only invite the model to go on. */
function withoutEnd({ role, content }: AssistantMessage, surplus: number): AssistantMessage {
  const kept = content.map((block, at) =>
    block.type === "text" && at === content.length - 1
      ? { ...block, text: `${block.text.slice(0, -surplus).toWellFormed()} …` }
      : block,
  );
  return { role, content: kept };
}

import { toNanoAgentError } from "../base/errors.ts";
import type { AssistantMessage } from "../message/message.ts";
import type { CollectedAnswer } from "../model/collect.ts";
import type { ModelRequest, StreamPart, ToolChoice } from "../model/model.ts";
import { type HookedAnswer, hookedAnswer, hookedRequest } from "./reason-hooks.ts";
import type { Reasoned } from "./reasoned.ts";
import { receiveParts } from "./receive-parts.ts";
import { redactError } from "./redact-call.ts";
import { EndlessRepetition } from "./repeated-text.ts";
import { RequestAccount } from "./request-account.ts";
import { type RunContext, record } from "./run-context.ts";

/**
 * One model request: publishes its parts as they come and records the answer with what it cost. An answer cut by an abort is
 * recorded as far as its text had come. Throws only for the journal.
 */
export async function reason(run: RunContext, toolChoice: ToolChoice | undefined): Promise<Reasoned> {
  const opened = openAccount(run, toolChoice);
  const account = opened instanceof Promise ? await opened : opened;
  if (!(account instanceof RequestAccount)) return account;
  try {
    await receiveParts(run, { account, show: (part) => publish(run, part) });
    return await recordAnswer(run, account.collector.result(), account);
  } catch (error) {
    if (error instanceof EndlessRepetition) return await recordRepeated(run, error, account);
    const failure = redactError(run.redact, toNanoAgentError(error, "internal"));
    if (failure.code === "journal") throw failure;
    if (run.signal.aborted) {
      await recordPartial(run, account, { message: account.collector.partial(), raw: "aborted" });
      return { type: "aborted" };
    }
    await account.void("failed");
    return { type: "failed", error: failure };
  } finally {
    account.close();
  }
}

/** A request with what is set aside for it. What it has to wait for are hooks, and requests that share its budget. */
function openAccount(
  run: RunContext,
  toolChoice: ToolChoice | undefined,
): RequestAccount | Promise<RequestAccount | Reasoned> {
  const request = requestOf(run, toolChoice);
  if (!run.ledger.isLimited && !run.hooks.has("pre_reasoning")) return RequestAccount.unlimited(run, request);
  return openLimited(run, request);
}

async function openLimited(run: RunContext, request: ModelRequest): Promise<RequestAccount | Reasoned> {
  try {
    const hooked = run.hooks.has("pre_reasoning") ? await hookedRequest(run, request) : request;
    const account = await RequestAccount.open(run, hooked);
    return typeof account === "string" ? { type: "exhausted", limit: account } : account;
  } catch (error) {
    return run.signal.aborted
      ? { type: "aborted" }
      : { type: "failed", error: redactError(run.redact, toNanoAgentError(error, "internal")) };
  }
}

function publish(run: RunContext, part: StreamPart): void {
  if (part.type !== "block" && part.type !== "finish" && part.type !== "retry") run.emit(part);
}

async function recordAnswer(
  run: RunContext,
  { message, finish }: CollectedAnswer,
  account: RequestAccount,
): Promise<Reasoned> {
  const own: HookedAnswer = { message, finishReason: finish.finishReason };
  const hooked = run.hooks.has("post_reasoning") ? await hookedAnswer(run, account.request, own) : own;
  const answer = { message: hooked.message, finishReason: hooked.finishReason };
  const stored = record(run, {
    type: "assistant_message",
    ...answer,
    ...account.answered(finish, message),
    ...account.timing(),
    ...(finish.responseId === undefined ? {} : { responseId: finish.responseId }),
  });
  if (stored instanceof Promise) await stored;
  const { failure } = hooked;
  if (failure !== undefined)
    return run.signal.aborted ? { type: "aborted" } : { type: "failed", error: failure };
  const { cappedBy } = account;
  return { type: "answer", ...answer, ...(cappedBy === undefined ? {} : { cappedBy }) };
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

/** What was written up to the repetition: the rest would only invite the model to go on. */
async function recordRepeated(
  run: RunContext,
  error: EndlessRepetition,
  account: RequestAccount,
): Promise<Reasoned> {
  const { role, content } = account.collector.partial();
  const kept = content.map((block, at) =>
    block.type === "text" && at === content.length - 1
      ? { ...block, text: `${block.text.slice(0, -error.repetition.surplus).toWellFormed()} …` }
      : block,
  );
  await recordPartial(run, account, { message: { role, content: kept }, raw: "repetition" });
  return { type: "failed", error };
}

async function recordPartial(
  run: RunContext,
  account: RequestAccount,
  { message, raw }: { readonly message: AssistantMessage; readonly raw: string },
): Promise<void> {
  if (message.content.length === 0) {
    await account.void("aborted");
    return;
  }
  await record(run, {
    type: "assistant_message",
    message,
    finishReason: { unified: "other", raw },
    ...account.cut(),
    ...account.timing(),
    interrupted: true,
  });
}

import { abortError } from "../base/abort.ts";
import { toNanoAgentError } from "../base/errors.ts";
import type { AssistantMessage } from "../message/message.ts";
import { AnswerCollector } from "../model/collect.ts";
import type { ModelRequest, ToolChoice } from "../model/model.ts";
import { abortableParts } from "./model-parts.ts";
import { hookedAnswer, hookedRequest } from "./reason-hooks.ts";
import type { Reasoned } from "./reasoned.ts";
import { redactError } from "./redact-call.ts";
import { RequestAccount } from "./request-account.ts";
import type { BudgetLimit } from "./result.ts";
import { type RunContext, record } from "./run-context.ts";

/**
 * One model request: publishes its parts as they come and records the answer with what it cost. An answer cut by an abort is
 * recorded as far as its text had come. Throws only for the journal.
 */
export async function reason(run: RunContext, toolChoice: ToolChoice | undefined): Promise<Reasoned> {
  let account: RequestAccount | BudgetLimit;
  try {
    account = await RequestAccount.open(run, await hookedRequest(run, requestOf(run, toolChoice)));
  } catch (error) {
    return run.signal.aborted
      ? { type: "aborted" }
      : { type: "failed", error: redactError(run.redact, toNanoAgentError(error, "internal")) };
  }
  if (typeof account === "string") return { type: "exhausted", limit: account };
  try {
    return await reasonOn(run, account);
  } finally {
    account.close();
  }
}

async function reasonOn(run: RunContext, account: RequestAccount): Promise<Reasoned> {
  const collector = new AnswerCollector(run.state.transcript.callIds);
  const startedAt = performance.now();
  const { request, cappedBy } = account;
  try {
    const parts = abortableParts(run.model.stream(request, { signal: run.signal }), run.signal);
    for await (const part of parts) {
      if (part.type === "retry") await account.void("retry");
      else account.see(part);
      const shown = collector.add(part);
      if (shown.type === "retry") run.emit({ ...shown, error: redactError(run.redact, shown.error) });
      else if (shown.type !== "block" && shown.type !== "finish") run.emit(shown);
      if (run.signal.aborted) throw abortError(run.signal);
    }
    const { message, finish } = collector.result();
    const { failure, ...answer } = await hookedAnswer(run, request, {
      message,
      finishReason: finish.finishReason,
    });
    await record(run, {
      type: "assistant_message",
      ...answer,
      ...account.answered(finish, message),
      durationMs: Math.round(performance.now() - startedAt),
      ...(finish.responseId === undefined ? {} : { responseId: finish.responseId }),
    });
    if (failure === undefined)
      return { type: "answer", ...answer, ...(cappedBy === undefined ? {} : { cappedBy }) };
    return run.signal.aborted ? { type: "aborted" } : { type: "failed", error: failure };
  } catch (error) {
    const failure = redactError(run.redact, toNanoAgentError(error, "internal"));
    if (failure.code === "journal") throw failure;
    if (run.signal.aborted) {
      await recordPartial(run, collector.partial(), { account, startedAt });
      return { type: "aborted" };
    }
    await account.void("failed");
    return { type: "failed", error: failure };
  }
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

async function recordPartial(
  run: RunContext,
  message: AssistantMessage,
  { account, startedAt }: { readonly account: RequestAccount; readonly startedAt: number },
): Promise<void> {
  if (message.content.length === 0) {
    await account.void("aborted");
    return;
  }
  await record(run, {
    type: "assistant_message",
    message,
    finishReason: { unified: "other", raw: "aborted" },
    ...account.cut(),
    durationMs: Math.round(performance.now() - startedAt),
    interrupted: true,
  });
}

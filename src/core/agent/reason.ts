import { abortError } from "../base/abort.ts";
import { toNanoAgentError } from "../base/errors.ts";
import type { AssistantMessage } from "../message/message.ts";
import type { Usage } from "../message/usage.ts";
import { AnswerCollector } from "../model/collect.ts";
import { costOf } from "../model/cost.ts";
import type { FinishReason, ModelRequest, ToolChoice } from "../model/model.ts";
import { hookedAnswer, hookedRequest } from "./reason-hooks.ts";
import type { Reasoned } from "./reasoned.ts";
import { redactError } from "./redact-call.ts";
import { type RunContext, record } from "./run-context.ts";

/**
 * One model request: publishes its parts as they come and records the answer with what it cost. An answer cut by an abort is
 * recorded as far as its text had come. Throws only for the journal.
 */
export async function reason(run: RunContext, toolChoice: ToolChoice | undefined): Promise<Reasoned> {
  const collector = new AnswerCollector(run.state.transcript.callIds);
  const startedAt = performance.now();
  try {
    const request = await hookedRequest(run, requestOf(run, toolChoice));
    const parts = run.model.stream(request, { signal: run.signal });
    for await (const part of parts) {
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
    await recordAnswer(run, {
      ...answer,
      usage: finish.usage,
      durationMs: Math.round(performance.now() - startedAt),
      ...(finish.model === undefined ? {} : { answeredBy: finish.model }),
      ...(finish.responseId === undefined ? {} : { responseId: finish.responseId }),
    });
    if (failure === undefined) return { type: "answer", ...answer };
    return run.signal.aborted ? { type: "aborted" } : { type: "failed", error: failure };
  } catch (error) {
    const failure = redactError(run.redact, toNanoAgentError(error, "internal"));
    if (failure.code === "journal") throw failure;
    if (!run.signal.aborted) return { type: "failed", error: failure };
    await recordPartial(run, collector.partial(), Math.round(performance.now() - startedAt));
    return { type: "aborted" };
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

interface Answer {
  readonly message: AssistantMessage;
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  readonly durationMs: number;
  readonly answeredBy?: string;
  readonly responseId?: string;
}

async function recordAnswer(run: RunContext, answer: Answer): Promise<void> {
  const { answeredBy, ...fields } = answer;
  const price = run.model.info?.price;
  await record(run, {
    type: "assistant_message",
    model: `${run.model.provider}/${answeredBy ?? run.model.id}`,
    ...fields,
    ...(price === undefined ? {} : { costUsd: costOf(answer.usage, price) }),
  });
}

async function recordPartial(run: RunContext, message: AssistantMessage, durationMs: number): Promise<void> {
  if (message.content.length === 0) return;
  await record(run, {
    type: "assistant_message",
    message,
    model: `${run.model.provider}/${run.model.id}`,
    finishReason: { unified: "other", raw: "aborted" },
    usage: { inputTokens: 0, outputTokens: 0 },
    durationMs,
    interrupted: true,
  });
}

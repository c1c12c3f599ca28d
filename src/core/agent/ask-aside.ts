import { abortError } from "../base/abort.ts";
import { toNanoAgentError } from "../base/errors.ts";
import { AnswerCollector, type CollectedAnswer } from "../model/collect.ts";
import { costOf } from "../model/cost.ts";
import type { ModelRequest } from "../model/model.ts";
import { exhaustedLimit } from "./limits.ts";
import type { Reasoned } from "./reasoned.ts";
import { type RunContext, record } from "./run-context.ts";

/**
 * A model request beside the conversation. Its answer is no message of it and its deltas are not published; retries are. What it
 * cost is recorded under `purpose` and counts for the budget, which is looked at first. Throws only for the journal.
 */
export async function askAside(run: RunContext, request: ModelRequest, purpose: string): Promise<Reasoned> {
  if (run.signal.aborted) return { type: "aborted" };
  const limit = exhaustedLimit(run);
  if (limit !== undefined) return { type: "exhausted", limit };
  const startedAt = performance.now();
  try {
    const answer = await collectAside(run, request);
    await recordUsage(run, answer, { purpose, durationMs: Math.round(performance.now() - startedAt) });
    return { type: "answer", message: answer.message, finishReason: answer.finish.finishReason };
  } catch (error) {
    const failure = toNanoAgentError(error, "internal");
    if (failure.code === "journal") throw failure;
    return run.signal.aborted ? { type: "aborted" } : { type: "failed", error: failure };
  }
}

async function collectAside(run: RunContext, request: ModelRequest): Promise<CollectedAnswer> {
  const collector = new AnswerCollector(run.state.transcript.callIds);
  for await (const part of run.model.stream(request, { signal: run.signal })) {
    collector.add(part);
    if (part.type === "retry") run.emit(part);
    if (run.signal.aborted) throw abortError(run.signal);
  }
  return collector.result();
}

async function recordUsage(
  run: RunContext,
  { finish }: CollectedAnswer,
  { purpose, durationMs }: { readonly purpose: string; readonly durationMs: number },
): Promise<void> {
  const price = run.model.info?.price;
  await record(run, {
    type: "model_usage",
    purpose,
    model: `${run.model.provider}/${finish.model ?? run.model.id}`,
    usage: finish.usage,
    durationMs,
    ...(finish.responseId === undefined ? {} : { responseId: finish.responseId }),
    ...(price === undefined ? {} : { costUsd: costOf(finish.usage, price) }),
  });
}

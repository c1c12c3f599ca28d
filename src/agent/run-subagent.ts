import { runNested } from "../core/agent/loop.ts";
import { recordEnd } from "../core/agent/perform.ts";
import type { RunResult } from "../core/agent/result.ts";
import { type Delegation, type Recorder, type Run, record } from "../core/agent/run.ts";
import { invalidArgument } from "../core/base/errors.ts";
import { omitUndefined } from "../core/base/json.ts";
import { userMessage } from "../core/message/message.ts";
import { type SubagentOutcome, type SubagentTask, ToolRegistry } from "../core/tool/tool.ts";
import { assertIterations, assertPriced } from "./options.ts";

const DEFAULT_MAX_ITERATIONS = 20;
const DEFAULT_MAX_DEPTH = 2;

/**
 * Runs a subagent inside the run of the tool call that asked for it, with its own transcript, prompt, tools,
 * model and request limit; everything else is shared. Its entries are tagged with tool name and call id, its
 * events are wrapped. Steering stays with the conversation. Rejects with `invalid_argument` for an invalid
 * task, and if the journal fails.
 */
export async function runSubagent(run: Run, delegation: Delegation): Promise<SubagentOutcome> {
  const { call, task, number } = delegation;
  const depth = (run.subagent?.depth ?? 0) + 1;
  const choice = choiceOf(run, task);
  const { model, effort } = choice();
  assertTask(run, task, depth);
  const startedAt = run.settings.clock.elapsed();
  let toolCalls = 0;
  const emit: Run["emit"] = (event) => {
    if (event.type === "tool_intent") toolCalls++;
    run.emit({
      type: "subagent",
      callId: call.id,
      ...(number === 1 ? {} : { number }),
      agent: task.agent,
      event,
    });
  };
  const scope = `${call.name}/${call.id}${number === 1 ? "" : `/${number}`}`;
  const tools = toolsOf(run, delegation, depth);
  const recorder: Recorder = {
    ...run,
    emit,
    scope: run.scope === undefined ? scope : `${run.scope}/${scope}`,
  };
  await record(recorder, {
    type: "run_start",
    sessionId: run.journal.sessionId,
    model: `${model.provider}/${model.id}`,
    ...omitUndefined({ effort }),
    tools: tools.names(),
    agent: task.agent,
  });
  const { system: _parents, ...request } = run.request;
  const around: Run = {
    ...run,
    model: choice,
    request: { ...request, ...omitUndefined({ system: task.systemPrompt }) },
    subagent: { agent: task.agent, callId: call.id, depth },
    emit,
  };
  const result = await runNested(around, {
    scope,
    message: userMessage(task.prompt),
    tools,
    maxIterations: task.maxIterations ?? DEFAULT_MAX_ITERATIONS,
    onMaxIterations: task.onMaxIterations ?? "summarize",
  });
  await recordEnd(recorder, result);
  return outcomeOf(result, toolCalls, run.settings.clock.elapsed() - startedAt);
}

/** A task's model and effort. Default: those of the run around it, following changes there. */
function choiceOf({ model: around, settings }: Run, task: SubagentTask): Run["model"] {
  const { effort } = task;
  const model = task.model && settings.wrapModel(task.model);
  if (model === undefined && effort === undefined) return around;
  return () => ({ ...around(), ...omitUndefined({ model, effort }) });
}

function assertTask(run: Run, task: SubagentTask, depth: number): void {
  const maxDepth = task.maxDepth ?? DEFAULT_MAX_DEPTH;
  if (depth > maxDepth) {
    throw invalidArgument(
      `A subagent at depth ${depth} exceeds the maximum depth of ${maxDepth}: do this part without one.`,
    );
  }
  if (task.prompt.trim() === "")
    throw invalidArgument(`The subagent ${task.agent} was given no task: write one.`);
  if (task.maxIterations !== undefined) assertIterations(task.maxIterations);
  assertPriced({ budget: run.settings.budget, model: task.model ?? run.model().model });
}

/**
 * A separate registry, without the tool that ends the outer run and, at the deepest level, without the tool
 * that started the subagent: calling it could only fail.
 */
function toolsOf(run: Run, { call, task }: Delegation, depth: number): ToolRegistry {
  const deepest = depth >= (task.maxDepth ?? DEFAULT_MAX_DEPTH);
  const tools = task.tools ?? run.tools.list();
  return new ToolRegistry(
    tools.filter(({ name }) => name !== run.until.finishTool && !(deepest && name === call.name)),
  );
}

function outcomeOf(result: RunResult, toolCalls: number, tookMs: number): SubagentOutcome {
  const { text, stopReason, limit, error, detail, iterations, usage, cost } = result;
  return {
    text,
    stopReason,
    ...omitUndefined({ limit, error, detail }),
    iterations,
    toolCalls,
    usage,
    cost,
    durationMs: Math.round(tookMs),
  };
}

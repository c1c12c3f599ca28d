import { orAborted } from "../base/abort.ts";
import { assertIs } from "../base/check-option.ts";
import { defined } from "../base/defined.ts";
import { errorMessage, misuse, NanoAgentError } from "../base/errors.ts";
import { hashText } from "../base/hash-text.ts";
import { truncateMiddle } from "../base/text.ts";
import type { ToolInput, ToolResultBlock, ToolUseBlock } from "../message/block.ts";
import { mapTexts } from "../message/message.ts";
import { NEVER_RAN, OUTCOME_UNKNOWN } from "../message/transcript.ts";
import { errorResult, toToolResult } from "../tool/output.ts";
import { redactResult, redactUpdates, type Updates } from "../tool/redact-call.ts";
import { Scheduler } from "../tool/schedule.ts";
import type {
  Finish,
  SubagentOutcome,
  ToolAccess,
  ToolContext,
  ToolResult,
  ToolUpdate,
} from "../tool/tool.ts";
import { type Admission, admit, madeCall } from "./admit.ts";
import { CallAbort } from "./call-abort.ts";
import type { CheckpointedCall } from "./checkpointer.ts";
import { NOT_RUN, type SettledCall } from "./permit.ts";
import type { MadeCall } from "./plugin.ts";
import { pluginFailure, throughPlugins } from "./plugins.ts";
import { type RunContext, record } from "./run-context.ts";
import { withCheckpoint } from "./with-checkpoint.ts";

const DEFAULT_ABORT_GRACE_MS = 500;

type ReadyCall = Extract<Admission, { readonly type: "ready" }>;

/**
 * Runs the admitted calls of one answer, together where they do not conflict, and records one result for each
 * that waits for nobody. Resolves to the answer of a finish tool that succeeded. Throws only for the journal.
 */
export async function act(run: RunContext, admissions: readonly Admission[]): Promise<Finish | undefined> {
  // Nothing could bring an answer into a nested run.
  const due = admissions.filter(({ type }) => type !== "open" || run.scope !== undefined);
  const settled = await settleAll(run, due);
  return settled.find(({ result }) => result.finish !== undefined && result.isError !== true)?.result.finish;
}

/** Settles calls, in the order in which they end. Every call ends before the first failure is thrown. */
async function settleAll(run: RunContext, admissions: readonly Admission[]): Promise<readonly SettledCall[]> {
  const [only, second] = admissions;
  // Most answers make one call, which has nothing to wait for.
  if (only !== undefined && second === undefined) return [await settle(run, only)];
  const settled: SettledCall[] = [];
  const failures: unknown[] = [];
  const scheduler = new Scheduler(run.maxParallelToolCalls);
  await Promise.all(
    admissions.map(async (admission) => {
      try {
        settled.push(await scheduler.run(accessOf(run, admission), () => settle(run, admission)));
      } catch (error) {
        failures.push(error);
      }
    }),
  );
  if (failures.length > 0) throw failures[0];
  return settled;
}

function accessOf(run: RunContext, admission: Admission): ToolAccess {
  if (admission.type !== "ready") return "none";
  return run.parallelToolCalls ? accessOfCall(run, admission.tool.name, admission.input) : "exclusive";
}

/** The places a call touches; `none` for a tool that does not exist, whose call will be refused. */
function accessOfCall(run: RunContext, name: string, input: ToolInput): ToolAccess {
  const access = run.tools.get(name)?.access;
  if (typeof access !== "function") return access ?? "none";
  try {
    return access(input as never, {
      cwd: run.cwd,
      accessOf: (other, otherInput) => accessOfCall(run, other, otherInput),
    });
  } catch {
    // A tool that cannot say what it touches runs alone; the same fault will show in its result.
    return "exclusive";
  }
}

/** Brings an admitted call to its one recorded result. */
async function settle(run: RunContext, admission: Admission, parentCallId?: string): Promise<SettledCall> {
  const { call } = admission;
  const startedAt = run.clock.elapsed();
  const settled = await end(run, admission, parentCallId);
  const { result } = settled;
  const { title, metadata, essence } = result;
  const fingerprint = essence === undefined ? undefined : hashText(essence).toString(36);
  await record(run, {
    type: "tool_result",
    callId: call.id,
    name: call.name,
    status: settled.status,
    result: toBlock(call.id, result, run.maxToolResultChars),
    durationMs: Math.round(run.clock.elapsed() - startedAt),
    ...defined({ title, metadata, fingerprint, parentCallId, finish: storable(run, result) }),
  });
  return settled;
}

/** The answer of a tool that ends the run, unless there are secrets in it: nothing takes them out of it. */
function storable({ redact }: RunContext, { finish, isError }: ToolResult): Finish | undefined {
  if (finish === undefined || isError === true) return undefined;
  if (redact === undefined) return finish;
  try {
    const text = JSON.stringify(finish);
    return redact.text(text) === text ? finish : undefined;
  } catch {
    // What JSON cannot say cannot be searched.
    return undefined;
  }
}

/** How an admitted call ends: it is run, or has an end already. */
async function end(
  run: RunContext,
  admission: Admission,
  parentCallId: string | undefined,
): Promise<SettledCall> {
  const { call, type } = admission;
  const asMade = madeCall(run, call, parentCallId);
  const made = type === "ready" ? { ...asMade, input: admission.input } : asMade;
  if (type === "open") {
    const result = errorResult(`${call.name} is answered by the caller and cannot be nested.`);
    return finished(run, { status: "error", result }, made);
  }
  if (type === "refused") return finished(run, admission.settled, made);
  if (run.signal.aborted) return finished(run, NOT_RUN, made);
  // Changes of a hook to files after a call are part of what the call did.
  const work = async (): Promise<SettledCall> => {
    const settled = await execute(run, admission, parentCallId);
    return finished(run, settled, settled === NOT_RUN ? made : { ...made, hasRun: true });
  };
  if (run.checkpointer === undefined) return work();
  return withCheckpoint(run, run.checkpointer, {
    call: checkpointed(run, admission),
    work,
    refuse: (settled) => finished(run, settled, made),
  });
}

function checkpointed(run: RunContext, { call, tool, input }: ReadyCall): CheckpointedCall {
  return { callId: call.id, tool, name: call.name, access: accessOfCall(run, tool.name, input) };
}

/**
 * The end of a call, after its plugins and without secrets, theirs included. What was refused or stopped
 * stays so. Where a plugin throws, the result is withheld: what it was to take out must not get through.
 */
async function finished(
  run: RunContext,
  { status, result }: SettledCall,
  made: MadeCall,
): Promise<SettledCall> {
  const shown = redactResult(run.redact, result);
  let changed: ToolResult;
  try {
    changed = await throughPlugins(run.plugins, shown, (plugin, current) =>
      plugin.afterCall?.(run, current, made),
    );
  } catch (error) {
    changed = errorResult(`The result of the call is withheld. ${pluginFailure(run, error).message}`);
  }
  if (changed === shown) return { status, result: shown };
  const hooked = redactResult(run.redact, changed);
  if (status === "denied" || status === "aborted") return { status, result: hooked };
  return { status: hooked.isError === true ? "error" : "ok", result: hooked };
}

/** Records that a call begins, and runs it. */
async function execute(
  run: RunContext,
  { call, tool, input, judged }: ReadyCall,
  parentCallId: string | undefined,
): Promise<SettledCall> {
  const { id: callId, name } = call;
  await record(run, { type: "tool_intent", callId, name, input, ...defined({ judged, parentCallId }) });
  // A tool that starts under an aborted signal would never hear of it.
  if (run.signal.aborted) return NOT_RUN;
  const timeoutMs = tool.timeoutMs ?? run.toolTimeoutMs;
  const abort = new CallAbort(run.signal, timeoutMs, run.clock);
  const updates = redactUpdates(run.redact, (update) =>
    run.emit({ type: "tool_update", callId, name, ...update }),
  );
  const context = toolContext(run, call, { abort, updates });
  try {
    const work = toToolResult(tool.execute?.(input as never, context), context.update, () => abort.hasEnded);
    const result = await orAborted(work, abort.signal, tool.abortGraceMs ?? DEFAULT_ABORT_GRACE_MS);
    if (abort.timedOut) return { status: "error", result: timeoutResult(timeoutMs, result) };
    if (run.signal.aborted) return { status: "aborted", result: { ...result, isError: true } };
    return { status: result.isError === true ? "error" : "ok", result };
  } catch (error) {
    if (abort.timedOut) return { status: "error", result: timeoutResult(timeoutMs) };
    if (run.signal.aborted) return { status: "aborted", result: errorResult(OUTCOME_UNKNOWN) };
    return { status: "error", result: errorResult(errorMessage(error)) };
  } finally {
    updates.end();
    await abort.end();
  }
}

function timeoutResult(timeoutMs: number, partial?: ToolResult): ToolResult {
  const message = `The call was stopped after ${timeoutMs} ms. Do less in one call, or raise the time limit.`;
  if (partial === undefined || typeof partial.content !== "string") return errorResult(message);
  return errorResult(`${message}\n${partial.content}`);
}

function toolContext(
  run: RunContext,
  call: ToolUseBlock,
  { abort, updates }: { readonly abort: CallAbort; readonly updates: Updates },
): ToolContext {
  const { sessionId } = run.journal;
  let subagents = 0;
  let callNested: ToolContext["callTool"] | undefined;
  return {
    context: run.context,
    signal: abort.signal,
    sessionId,
    transcriptId: run.subagent === undefined ? sessionId : `${sessionId}/${run.scope ?? ""}`,
    callId: call.id,
    idempotencyKey: `${sessionId}/${call.id}`,
    cwd: run.cwd,
    update: (update: ToolUpdate | string) => {
      // A call that was abandoned has its result already.
      if (!abort.hasEnded) updates.push(typeof update === "string" ? { text: update } : update);
    },
    callTool: (name, input) => {
      if (abort.hasEnded) return Promise.resolve(errorResult(NEVER_RAN));
      callNested ??= callMaker({ ...run, signal: abort.inner }, call.id);
      return abort.begin(callNested(name, input));
    },
    listTools: () => run.tools.list(),
    runAgent: (task) => {
      if (abort.hasEnded) {
        const ended = new NanoAgentError("aborted", `The call of ${call.name} has ended.`);
        return abort.begin(Promise.reject<SubagentOutcome>(ended));
      }
      return abort.begin(run.delegate({ ...run, signal: abort.inner }, { call, task, number: ++subagents }));
    },
  };
}

/**
 * The function with which a call makes calls of its own. They are admitted in the order in which they are
 * made, and conflict with one another as any calls do. Throws only for the journal.
 */
export function callMaker(
  run: RunContext,
  parentCallId: string,
  scheduler: Scheduler = new Scheduler(run.maxParallelToolCalls),
): (name: string, input: ToolInput) => Promise<ToolResult> {
  let count = 0;
  let admitted: Promise<unknown> = Promise.resolve();
  const { callIds } = run.state.transcript;
  const nextId = (): string => {
    // A model may have given a call of its own such an id.
    do count++;
    while (callIds.has(`${parentCallId}/${count}`));
    const id = `${parentCallId}/${count}`;
    callIds.add(id);
    return id;
  };
  return async (name, input) => {
    assertIs(`The input of ${name}`, input, "object");
    const call: ToolUseBlock = { type: "tool_use", id: nextId(), name, input: ownCopy(name, input) };
    const own = admitted.then(() => admit(run, call, { parentCallId }));
    admitted = own.catch(() => undefined);
    const admission = await own;
    const settled = await scheduler.run(accessOf(run, admission), () => settle(run, admission, parentCallId));
    return settled.result;
  };
}

/** The input of a call, so that whoever changes their own object meanwhile has not changed what runs. */
function ownCopy(name: string, input: ToolInput): ToolInput {
  try {
    return structuredClone(input);
  } catch (error) {
    throw misuse(`The input of ${name} must be data, without functions: ${errorMessage(error)}`);
  }
}

/** A result as a block of a message: bounded, and without halves of characters. */
export function toBlock(callId: string, result: ToolResult, maxChars: number): ToolResultBlock {
  return {
    type: "tool_result",
    tool_use_id: callId,
    content: mapTexts(result.content, (text) => truncateMiddle(text, maxChars).toWellFormed()),
    ...(result.isError === true ? { is_error: true } : {}),
  };
}

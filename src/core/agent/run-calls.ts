import { type Clock, LinkedAbort, raceAbort, startTimer } from "../base/async.ts";
import { check, OBJECT_SCHEMA } from "../base/check-options.ts";
import { errorMessage, invalidArgument, NanoAgentError } from "../base/errors.ts";
import { omitUndefined } from "../base/json.ts";
import { hashText } from "../base/text.ts";
import type { ToolInput, ToolUseBlock } from "../message/message.ts";
import { INTERRUPTED_BEFORE_START, OUTCOME_UNKNOWN } from "../message/transcript.ts";
import type {
  Finish,
  SubagentOutcome,
  ToolAccess,
  ToolContext,
  ToolResult,
  ToolUpdate,
} from "../tool/tool.ts";
import {
  errorResult,
  redactResult,
  redactUpdates,
  toResultBlock,
  toToolResult,
  type Updates,
} from "../tool/tool-output.ts";
import { type Admission, type FinishedCall, NOT_STARTED, prepareCall, requestedCall } from "./approvals.ts";
import type { NewEntry } from "./entries.ts";
import type { CheckpointedCall, Checkpointer, RequestedCall } from "./ports.ts";
import { applyPlugins, keepPluginFailure, type Run, record } from "./run.ts";

/** A task that has not ended. `ended` never rejects. */
interface OpenTask {
  readonly access: ToolAccess;
  readonly ended: Promise<void>;
}

/**
 * Runs at most `limit` tasks at a time. Tasks whose {@link ToolAccess} conflicts run in the order they came;
 * the others overlap. A task waits only for earlier ones, so there is no deadlock.
 */
export class Scheduler {
  readonly #limit: number;
  readonly #open = new Set<OpenTask>();
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(limit: number) {
    this.#limit = Math.max(1, limit);
  }

  /** Settles as `task` does, once it may run. A task that rejects blocks nothing. */
  run<T>(access: ToolAccess, task: () => Promise<T>): Promise<T> {
    const before = [...this.#open].filter((earlier) => conflict(earlier.access, access));
    const done =
      before.length === 0
        ? this.#withRoom(task)
        : Promise.all(before.map(({ ended }) => ended)).then(() => this.#withRoom(task));
    const forget = (): void => void this.#open.delete(own);
    const own: OpenTask = { access, ended: done.then(forget, forget) };
    this.#open.add(own);
    return done;
  }

  async #withRoom<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limit) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}

function conflict(one: ToolAccess, other: ToolAccess): boolean {
  if (one === "exclusive" || other === "exclusive") return true;
  return writesTo(one, other) || writesTo(other, one);
}

function writesTo(writer: ToolAccess, other: ToolAccess): boolean {
  if (typeof writer === "string" || other === "none" || other === "exclusive") return false;
  const { write = [] } = writer;
  if (other === "read_all") return write.length > 0;
  return write.some((place) => other.read?.includes(place) || other.write?.includes(place));
}

/** The abort of one tool call: by its run, or by its time limit. */
export class CallAbort {
  readonly #call: LinkedAbort;
  readonly #stopTimer: () => void = () => undefined;
  #inner: LinkedAbort | undefined;
  readonly #begun = new Set<Promise<unknown>>();
  /** True if the time limit aborted it. */
  timedOut = false;
  /** True once the call has its result. */
  hasEnded = false;

  /** Starts the timer; a `timeoutMs` of 0 is no limit. Call {@link CallAbort.end}. */
  constructor(run: AbortSignal, timeoutMs: number, clock: Clock) {
    this.#call = new LinkedAbort(run);
    if (timeoutMs > 0)
      this.#stopTimer = startTimer(clock, timeoutMs, () => {
        // The first cause counts.
        this.timedOut = !this.signal.aborted;
        const reason = new DOMException(`The call took longer than ${timeoutMs} ms.`, "TimeoutError");
        this.#call.abort(reason);
      });
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  /** The signal for work the call starts inside the run; aborted when the call ends. */
  get inner(): AbortSignal {
    this.#inner ??= new LinkedAbort(this.signal);
    return this.#inner.signal;
  }

  /** Tracks work the call starts inside the run and may not wait for. */
  track<T>(work: Promise<T>): Promise<T> {
    const forget = (): boolean => this.#begun.delete(work);
    this.#begun.add(work);
    work.then(forget, forget);
    return work;
  }

  /** Resolves when everything the call started has ended: none of it outlives the call. */
  async end(): Promise<void> {
    this.hasEnded = true;
    this.#stopTimer();
    this.#call.unlink();
    this.#inner?.unlink();
    this.#inner?.abort(new NanoAgentError("aborted", "The tool call that began this has ended."));
    if (this.#begun.size > 0) await Promise.allSettled(this.#begun);
  }
}

/** Milliseconds to find out what an aborted call changed, which undo needs. */
const AFTER_GRACE_MS = 5_000;

/**
 * Keeps what a call may change. Resolves to the outcome of a call that could not be undone, so must not run.
 */
async function checkpointBefore(
  run: Run,
  checkpointer: Checkpointer,
  call: CheckpointedCall,
): Promise<FinishedCall | undefined> {
  const before = (async () => checkpointer.before(call))();
  try {
    await raceAbort(before, run.signal);
    return undefined;
  } catch (error) {
    if (!run.signal.aborted)
      return { status: "error", result: errorResult(`Not run: ${errorMessage(error)}`) };
    // Whatever it is still doing, the call it prepares for will not come.
    before.then(() => checkpointer.after(call)).catch(() => undefined);
    return NOT_STARTED;
  }
}

async function checkpointAfter(
  run: Run,
  checkpointer: Checkpointer,
  call: CheckpointedCall,
): Promise<readonly NewEntry[]> {
  try {
    const after = (async () => checkpointer.after(call))();
    return (await raceAbort(after, run.signal, AFTER_GRACE_MS)) ?? [];
  } catch (error) {
    const message = `What ${call.name} changed could not be recorded for undo: ${errorMessage(error)}`;
    run.emit({ type: "warning", message });
    return [];
  }
}

const DEFAULT_ABORT_GRACE_MS = 500;

type ReadyCall = Extract<Admission, { readonly type: "ready" }>;

/**
 * Runs the admitted calls of one answer, in parallel where they do not conflict, and records a result for
 * each that does not wait. Resolves to the answer of a finish tool that succeeded. Throws only when the
 * journal fails.
 */
export async function runCalls(run: Run, admissions: readonly Admission[]): Promise<Finish | undefined> {
  // No answer could reach a nested run.
  const due = admissions.filter(({ type }) => type !== "open" || run.scope !== undefined);
  const settled = await finishCalls(run, due);
  return settled.find(({ result }) => result.finish !== undefined && result.isError !== true)?.result.finish;
}

/** Resolves to the outcomes in the order calls end. Every call ends before the first failure is thrown. */
async function finishCalls(run: Run, admissions: readonly Admission[]): Promise<readonly FinishedCall[]> {
  const [only, second] = admissions;
  // Most answers make one call, which needs no scheduling.
  if (only !== undefined && second === undefined) return [await finishCall(run, only)];
  const settled: FinishedCall[] = [];
  const failures: unknown[] = [];
  const scheduler = new Scheduler(run.settings.maxParallelToolCalls);
  await Promise.all(
    admissions.map(async (admission) => {
      try {
        settled.push(await scheduler.run(accessOf(run, admission), () => finishCall(run, admission)));
      } catch (error) {
        failures.push(error);
      }
    }),
  );
  if (failures.length > 0) throw failures[0];
  return settled;
}

function accessOf(run: Run, admission: Admission): ToolAccess {
  if (admission.type !== "ready") return "none";
  return run.settings.parallelToolCalls
    ? accessOfCall(run, admission.tool.name, admission.input)
    : "exclusive";
}

/** The resources a call touches; `none` for an unknown tool, whose call is refused. */
function accessOfCall(run: Run, name: string, input: ToolInput): ToolAccess {
  const access = run.tools.get(name)?.access;
  if (typeof access !== "function") return access ?? "none";
  try {
    return access(input as never, {
      cwd: run.settings.cwd,
      accessOf: (other, otherInput) => accessOfCall(run, other, otherInput),
    });
  } catch {
    // A tool that cannot say what it touches runs alone; the same error will show in its result.
    return "exclusive";
  }
}

/** Takes an admitted call to its one recorded result. */
async function finishCall(run: Run, admission: Admission, parentCallId?: string): Promise<FinishedCall> {
  const { call } = admission;
  const startedAt = run.settings.clock.elapsed();
  const settled = await outcomeOf(run, admission, parentCallId);
  const { result } = settled;
  const { title, metadata, essence } = result;
  const fingerprint = essence === undefined ? undefined : hashText(essence).toString(36);
  await record(run, {
    type: "tool_result",
    callId: call.id,
    name: call.name,
    status: settled.status,
    result: toResultBlock(call.id, result, run.settings.maxToolResultChars),
    durationMs: Math.round(run.settings.clock.elapsed() - startedAt),
    ...omitUndefined({ title, metadata, fingerprint, parentCallId, finish: storableFinish(run, result) }),
  });
  return settled;
}

/** The answer of a finish tool, unless it contains secrets: a structured value cannot be redacted. */
function storableFinish({ settings: { redact } }: Run, { finish, isError }: ToolResult): Finish | undefined {
  if (finish === undefined || isError === true) return undefined;
  if (redact === undefined) return finish;
  try {
    const text = JSON.stringify(finish);
    return redact.text(text) === text ? finish : undefined;
  } catch {
    // What cannot be written as JSON cannot be searched for secrets.
    return undefined;
  }
}

/** The outcome of an admitted call: it runs, or has an outcome already. */
async function outcomeOf(
  run: Run,
  admission: Admission,
  parentCallId: string | undefined,
): Promise<FinishedCall> {
  const { call, type } = admission;
  const asMade = requestedCall(run, call, parentCallId);
  if (type === "open") {
    const result = errorResult(`${call.name} is answered by the caller and cannot be nested.`);
    return processResult(run, { status: "error", result }, asMade);
  }
  if (type === "refused") return processResult(run, admission.settled, asMade);
  const { tool, input } = admission;
  const made = { ...asMade, input };
  if (run.signal.aborted) return processResult(run, NOT_STARTED, made);
  const { checkpointer } = run.settings;
  if (checkpointer === undefined) return runReady(run, admission, made, parentCallId);
  const access = accessOfCall(run, tool.name, input);
  const kept: CheckpointedCall = { callId: call.id, tool, name: call.name, access };
  const refusal = await checkpointBefore(run, checkpointer, kept);
  if (refusal !== undefined) return processResult(run, refusal, made);
  try {
    // What a hook changes in files after a call counts as part of the call.
    return await runReady(run, admission, made, parentCallId);
  } finally {
    for (const entry of await checkpointAfter(run, checkpointer, kept)) await record(run, entry);
  }
}

async function runReady(
  run: Run,
  admission: ReadyCall,
  made: RequestedCall,
  parentCallId: string | undefined,
): Promise<FinishedCall> {
  const settled = await execute(run, admission, parentCallId);
  return processResult(run, settled, settled === NOT_STARTED ? made : { ...made, hasRun: true });
}

/**
 * The outcome of a call after plugins and redaction, also of what plugins added. A refused or aborted call
 * stays one. If a plugin throws, the result is withheld: the plugin may have been meant to remove something.
 */
async function processResult(
  run: Run,
  { status, result }: FinishedCall,
  made: RequestedCall,
): Promise<FinishedCall> {
  const shown = redactResult(run.settings.redact, result);
  let changed: ToolResult;
  try {
    changed = await applyPlugins(run.shared.plugins, shown, (plugin, current) =>
      plugin.afterCall?.(run, current, made),
    );
  } catch (error) {
    changed = errorResult(`The result of the call is withheld. ${keepPluginFailure(run, error).message}`);
  }
  if (changed === shown) return { status, result: shown };
  const hooked = redactResult(run.settings.redact, changed);
  if (status === "denied" || status === "aborted") return { status, result: hooked };
  return { status: hooked.isError === true ? "error" : "ok", result: hooked };
}

async function execute(
  run: Run,
  { call, tool, input, judged }: ReadyCall,
  parentCallId: string | undefined,
): Promise<FinishedCall> {
  const { id: callId, name } = call;
  await record(run, { type: "tool_intent", callId, name, input, ...omitUndefined({ judged, parentCallId }) });
  // A tool started with an aborted signal would never see the abort event.
  if (run.signal.aborted) return NOT_STARTED;
  const timeoutMs = tool.timeoutMs ?? run.settings.toolTimeoutMs;
  const abort = new CallAbort(run.signal, timeoutMs, run.settings.clock);
  const updates = redactUpdates(run.settings.redact, (update) =>
    run.emit({ type: "tool_update", callId, name, ...update }),
  );
  const context = toolContext(run, call, abort, updates);
  try {
    const work = toToolResult(tool.execute?.(input as never, context), context.update, () => abort.hasEnded);
    const result = await raceAbort(work, abort.signal, tool.abortGraceMs ?? DEFAULT_ABORT_GRACE_MS);
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

function toolContext(run: Run, call: ToolUseBlock, abort: CallAbort, updates: Updates): ToolContext {
  const { sessionId } = run.journal;
  let subagents = 0;
  let callNested: ToolContext["callTool"] | undefined;
  return {
    context: run.settings.context,
    signal: abort.signal,
    sessionId,
    transcriptId: run.subagent === undefined ? sessionId : `${sessionId}/${run.scope ?? ""}`,
    callId: call.id,
    idempotencyKey: `${sessionId}/${call.id}`,
    cwd: run.settings.cwd,
    update: (update: ToolUpdate | string) => {
      // The call was abandoned and has its result.
      if (!abort.hasEnded) updates.push(typeof update === "string" ? { text: update } : update);
    },
    callTool: (name, input) => {
      if (abort.hasEnded) return Promise.resolve(errorResult(INTERRUPTED_BEFORE_START));
      callNested ??= nestedCaller({ ...run, signal: abort.inner }, call.id);
      return abort.track(callNested(name, input));
    },
    listTools: () => run.tools.list(),
    runAgent: (task) => {
      if (abort.hasEnded) {
        const ended = new NanoAgentError("aborted", `The call of ${call.name} has ended.`);
        return abort.track(Promise.reject<SubagentOutcome>(ended));
      }
      return abort.track(
        run.shared.startSubagent({ ...run, signal: abort.inner }, { call, task, number: ++subagents }),
      );
    },
  };
}

/**
 * Returns the function with which a call makes calls of its own. They are prepared in call order and
 * scheduled like any others. Throws only when the journal fails.
 */
export function nestedCaller(
  run: Run,
  parentCallId: string,
  scheduler: Scheduler = new Scheduler(run.settings.maxParallelToolCalls),
): (name: string, input: ToolInput) => Promise<ToolResult> {
  let count = 0;
  let admitted: Promise<unknown> = Promise.resolve();
  const { callIds } = run.state.transcript;
  const nextId = (): string => {
    // A model may have used that id for a call of its own.
    do count++;
    while (callIds.has(`${parentCallId}/${count}`));
    const id = `${parentCallId}/${count}`;
    callIds.add(id);
    return id;
  };
  return async (name, input) => {
    check(input, OBJECT_SCHEMA, `The input of ${name}`);
    const call: ToolUseBlock = { type: "tool_use", id: nextId(), name, input: copyInput(name, input) };
    const own = admitted.then(() => prepareCall(run, call, parentCallId));
    admitted = own.catch(() => undefined);
    const admission = await own;
    const settled = await scheduler.run(accessOf(run, admission), () =>
      finishCall(run, admission, parentCallId),
    );
    return settled.result;
  };
}

/** A copy: later changes to the original do not change what runs. */
function copyInput(name: string, input: ToolInput): ToolInput {
  try {
    return structuredClone(input);
  } catch (error) {
    throw invalidArgument(`The input of ${name} must be data, without functions: ${errorMessage(error)}`);
  }
}

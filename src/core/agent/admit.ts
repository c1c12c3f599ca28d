import { orAborted } from "../base/abort.ts";
import { errorMessage } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import type { SchemaIssue, SchemaResult } from "../base/schema.ts";
import { nearest } from "../base/text.ts";
import type { ToolInput, ToolUseBlock } from "../message/block.ts";
import { NEVER_RAN } from "../message/transcript.ts";
import { errorResult } from "../tool/output.ts";
import type { Tool, ToolResult } from "../tool/tool.ts";
import { type HookedCall, hookedCall } from "./acting-hooks.ts";
import type { ToolStatus } from "./entry.ts";
import type { ApprovalAnswer, Gate, GateDecision, GateRequest } from "./gate.ts";
import { type RunContext, record } from "./run-context.ts";

/** How a call ended, before it is recorded. */
export interface SettledCall {
  readonly status: ToolStatus;
  readonly result: ToolResult;
}

/**
 * What became of a call before it runs: it may (`ready`), it is answered already (`refused`), the caller answers it (`external`), or it
 * waits for approval (`waiting`).
 */
export type Admission =
  | { readonly type: "ready"; readonly call: ToolUseBlock; readonly tool: Tool; readonly input: ToolInput }
  | { readonly type: "refused"; readonly call: ToolUseBlock; readonly settled: SettledCall }
  | { readonly type: "external"; readonly call: ToolUseBlock }
  | { readonly type: "waiting"; readonly call: ToolUseBlock };

/** Admits the calls of one answer, one by one in call order. Throws only for the journal. */
export async function admitAll(
  run: RunContext,
  calls: readonly ToolUseBlock[],
): Promise<readonly Admission[]> {
  const admissions: Admission[] = [];
  for (const [at, call] of calls.entries()) {
    const admission = at < run.maxCallsPerAnswer ? admit(run, call) : oneTooMany(run, call);
    admissions.push(admission instanceof Promise ? await admission : admission);
  }
  return admissions;
}

/** Some models, and servers that repeat themselves, write calls without end. */
function oneTooMany({ maxCallsPerAnswer: most }: RunContext, call: ToolUseBlock): Admission {
  const result = errorResult(
    `Not run: one answer may hold ${most} calls. Make it in the next one if it is still needed.`,
  );
  return { type: "refused", call, settled: { status: "error", result } };
}

/**
 * The first phases of a call: hooks, is it known and valid, and is it permitted? At once where there is nothing to wait for. Never throws
 * but for the journal.
 */
export function admit(
  run: RunContext,
  made: ToolUseBlock,
  parentCallId?: string,
): Admission | Promise<Admission> {
  if (run.gate !== undefined || run.signal.aborted || run.hooks.has("pre_acting"))
    return admitBeside(run, made, parentCallId);
  const prepared = prepare(run, made);
  return prepared instanceof Promise
    ? prepared.then((each) => admitted(run, made, each))
    : admitted(run, made, prepared);
}

/** A call that nobody has anything against. */
function admitted(run: RunContext, call: ToolUseBlock, prepared: Prepared): Admission {
  if (run.signal.aborted) return neverRan(call);
  if ("error" in prepared)
    return { type: "refused", call, settled: { status: "error", result: errorResult(prepared.error) } };
  const { tool, input } = prepared;
  return tool.execute === undefined ? { type: "external", call } : { type: "ready", call, tool, input };
}

function neverRan(call: ToolUseBlock): Admission {
  return { type: "refused", call, settled: { status: "aborted", result: errorResult(NEVER_RAN) } };
}

/** A call that hooks and a gate look at. */
async function admitBeside(
  run: RunContext,
  made: ToolUseBlock,
  parentCallId: string | undefined,
): Promise<Admission> {
  let call = made;
  const refuse = (settled: SettledCall): Admission => ({ type: "refused", call, settled });
  if (run.signal.aborted) return neverRan(call);
  if (run.hooks.has("pre_acting")) {
    const hooked = await hookedCall(run, made, parentCallId);
    if ("refused" in hooked) return refuse(await refusedByHook(run, hooked, { call: made, parentCallId }));
    call = hooked.call;
  }
  const prepared = await prepare(run, call);
  const { gate } = run;
  if (gate !== undefined && !run.signal.aborted && !("error" in prepared)) {
    const { tool, input } = prepared;
    const refusal = await refusalOf(run, gate, {
      callId: call.id,
      tool,
      name: tool.name,
      input,
      cwd: run.cwd,
      sessionId: run.journal.sessionId,
      ...callerOf(run, parentCallId),
      signal: run.signal,
    });
    if (refusal === "waits") return { type: "waiting", call };
    if (refusal !== undefined)
      return refuse({ status: refusal.status, result: errorResult(refusal.message) });
  }
  return admitted(run, call, prepared);
}

/** Who makes a call that is not one of the conversation's own. */
function callerOf(run: RunContext, parentCallId?: string): Pick<GateRequest, "parentCallId" | "agent"> {
  const parent = parentCallId ?? run.subagent?.callId;
  return {
    ...(parent === undefined ? {} : { parentCallId: parent }),
    ...(run.subagent === undefined ? {} : { agent: run.subagent.agent }),
  };
}

async function refusedByHook(
  run: RunContext,
  { refused, failed }: Extract<HookedCall, { readonly refused: string }>,
  { call, parentCallId }: { readonly call: ToolUseBlock; readonly parentCallId: string | undefined },
): Promise<SettledCall> {
  if (failed) return { status: "error", result: errorResult(refused) };
  await record(run, {
    type: "permission_decision",
    callId: call.id,
    name: call.name,
    input: call.input,
    action: "deny",
    by: "rule",
    reason: refused,
    rule: "pre_acting",
    ...(parentCallId === undefined ? {} : { parentCallId }),
  });
  return { status: "denied", result: errorResult(`Tool call was not approved: ${refused}`) };
}

type Prepared = { readonly tool: Tool; readonly input: ToolInput } | { readonly error: string };

function prepare(run: RunContext, call: ToolUseBlock): Prepared | Promise<Prepared> {
  const tool = run.tools.get(call.name);
  if (tool === undefined) return { error: unknownTool(call.name, run.tools.names()) };
  const invalid = call.invalid_input;
  if (invalid?.reason === "truncated") {
    return {
      error:
        "The call was cut off by the output limit and was not run. Write less in one call, or in several steps.",
    };
  }
  if (invalid !== undefined) {
    return {
      error: `The arguments of ${call.name} are not a JSON object, so it was not run. They were: ${clip(invalid.raw)}`,
    };
  }
  const unchecked = (error: unknown): Prepared => ({
    error: `The arguments of ${call.name} could not be checked: ${errorMessage(error)}`,
  });
  try {
    const checking = tool.schema.validate(call.input);
    if (!(checking instanceof Promise)) return checkedCall(tool, call, checking);
    return orAborted(checking, run.signal)
      .then((checked) => checkedCall(tool, call, checked))
      .catch(unchecked);
  } catch (error) {
    return unchecked(error);
  }
}

function checkedCall(tool: Tool, { name }: ToolUseBlock, checked: SchemaResult): Prepared {
  return checked.ok
    ? { tool, input: checked.value as ToolInput }
    : { error: invalidArguments(name, checked.issues) };
}

function unknownTool(name: string, known: readonly string[]): string {
  if (known.length === 0) return `Unknown tool: ${name}. No tools are available: answer in text.`;
  const guess = nearest(name, known);
  const hint = guess === undefined ? "" : ` Did you mean ${guess}?`;
  return `Unknown tool: ${name}.${hint} Available: ${known.join(", ")}.`;
}

function invalidArguments(name: string, issues: readonly SchemaIssue[]): string {
  const lines = issues.map((issue) =>
    issue.path === "" ? issue.message : `${issue.path}: ${issue.message}`,
  );
  return `Invalid arguments for ${name}, so it was not run:\n${lines.join("\n")}`;
}

function clip(text: string): string {
  return text.length <= 500 ? text : `${text.slice(0, 500).toWellFormed()}… (${text.length} characters)`;
}

interface Refusal {
  readonly status: ToolStatus;
  readonly message: string;
}

const NO_DECISION: GateDecision = { action: "deny", reason: "the permission check gave no answer" };

/** Undefined for a call that may run; `waits` for one that waits for approval. */
async function refusalOf(
  run: RunContext,
  gate: Gate,
  request: GateRequest,
): Promise<Refusal | "waits" | undefined> {
  let decision: GateDecision;
  try {
    const answer: unknown = await orAborted(Promise.resolve(gate.check(request)), run.signal);
    decision = isRecord(answer) ? (answer as unknown as GateDecision) : NO_DECISION;
  } catch (error) {
    if (run.signal.aborted) return { status: "aborted", message: NEVER_RAN };
    decision = { action: "deny", reason: `the permission check failed: ${errorMessage(error)}` };
  }
  if (decision.action === "allow") return undefined;
  if (decision.action === "ask") return askedRefusal(run, request, decision);
  // Anything that is not one of the known words refuses: an unknown answer is no permission.
  const reason = decision.reason ?? "a rule forbids it";
  await recordDecision(run, request, { ...decision, decided: "deny", by: "rule", reason });
  return { status: "denied", message: `Tool call was not approved: ${reason}` };
}

async function askedRefusal(
  run: RunContext,
  request: GateRequest,
  decision: GateDecision,
): Promise<Refusal | "waits" | undefined> {
  const why = decision.reason ?? "it needs approval";
  if (run.state.isStopped) return refuseByPerson(run, request, { ...decision, reason: RUN_IS_TO_END });
  if (run.approve === undefined) {
    if (run.onAsk === "pause") return waitOrRefuse(run, request, decision);
    return refuseUnasked(run, request, {
      ...decision,
      reason: `${why.replace(/\.$/, "")}, and there is nobody to ask`,
    });
  }
  let answer: ApprovalAnswer;
  try {
    answer = await orAborted(Promise.resolve(run.approve({ ...request, decision })), run.signal);
  } catch (error) {
    if (run.signal.aborted) return { status: "aborted", message: NEVER_RAN };
    answer = { approved: false, reason: `asking failed: ${errorMessage(error)}` };
  }
  if (answer === "later") return waitOrRefuse(run, request, decision);
  const full = typeof answer === "object" && answer !== null ? answer : { approved: answer };
  if (full.approved === true) {
    await recordDecision(run, request, { ...decision, decided: "allow", by: "person", reason: why });
    return undefined;
  }
  return refuseByPerson(run, request, {
    ...decision,
    reason: full.reason ?? "the user refused it",
    ...(full.stop === true ? { stop: true } : {}),
  });
}

/** Why a call is refused that comes after one with which a person ended the run: nothing more is asked. */
const RUN_IS_TO_END = "the user wants the run to end";

async function refuseByPerson(
  run: RunContext,
  request: GateRequest,
  decision: Omit<Decided, "decided" | "by">,
): Promise<Refusal> {
  await recordDecision(run, request, { ...decision, decided: "deny", by: "person" });
  return { status: "denied", message: `Tool call was not approved: ${decision.reason}` };
}

/** A call of the model itself can wait; in the middle of another call nothing could go on from there. */
async function waitOrRefuse(
  run: RunContext,
  request: GateRequest,
  decision: GateDecision,
): Promise<Refusal | "waits"> {
  const reason = decision.reason ?? "it needs approval";
  if (request.parentCallId !== undefined || run.scope !== undefined) {
    const why = `${reason}, and a call inside another one cannot wait for the answer: make it on its own`;
    return refuseUnasked(run, request, { ...decision, reason: why });
  }
  await record(run, {
    type: "approval_request",
    callId: request.callId,
    name: request.name,
    input: request.input,
    reason,
    ...(decision.rule === undefined ? {} : { rule: decision.rule }),
    ...(decision.part === undefined ? {} : { part: decision.part }),
    ...(decision.suggestion === undefined ? {} : { suggestion: decision.suggestion }),
  });
  return "waits";
}

async function refuseUnasked(
  run: RunContext,
  request: GateRequest,
  decision: GateDecision & { readonly reason: string },
): Promise<Refusal> {
  await recordDecision(run, request, { ...decision, decided: "deny", by: "nobody" });
  return { status: "denied", message: `Tool call was not approved: ${decision.reason}` };
}

interface Decided extends GateDecision {
  readonly decided: "allow" | "deny";
  readonly by: "rule" | "person" | "nobody";
  readonly reason: string;
  readonly stop?: true;
}

async function recordDecision(run: RunContext, request: GateRequest, decision: Decided): Promise<void> {
  await record(run, {
    type: "permission_decision",
    callId: request.callId,
    name: request.name,
    input: request.input,
    action: decision.decided,
    by: decision.by,
    reason: decision.reason,
    ...(decision.rule === undefined ? {} : { rule: decision.rule }),
    ...(decision.suggestion === undefined ? {} : { suggestion: decision.suggestion }),
    ...(decision.stop === undefined ? {} : { stop: decision.stop }),
    ...(request.parentCallId === undefined ? {} : { parentCallId: request.parentCallId }),
  });
}

import { orAborted } from "../base/abort.ts";
import { defined } from "../base/defined.ts";
import { errorMessage } from "../base/errors.ts";
import { asStored, equalJson } from "../base/json.ts";
import type { SchemaIssue } from "../base/schema.ts";
import { didYouMean } from "../base/text.ts";
import type { ToolInput, ToolUseBlock } from "../message/block.ts";
import { errorResult } from "../tool/output.ts";
import type { Tool } from "../tool/tool.ts";
import type { ToolIntentEntry } from "./entry.ts";
import type { GateRequest } from "./gate.ts";
import { NOT_RUN, type Permit, permit, recordPermit, refuse, type SettledCall } from "./permit.ts";
import type { CallVerdict, MadeCall } from "./plugin.ts";
import { pluginFailure } from "./plugins.ts";
import type { RunContext } from "./run-context.ts";

/** The outcome of admitting a call: it may run, has its answer, or waits for the caller or approval. */
export type Admission =
  | {
      readonly type: "ready";
      readonly call: ToolUseBlock;
      readonly tool: Tool;
      readonly input: ToolInput;
      /** The input is one that the gate or a person gave. */
      readonly judged?: true;
    }
  | { readonly type: "refused"; readonly call: ToolUseBlock; readonly settled: SettledCall }
  | { readonly type: "open"; readonly call: ToolUseBlock };

/** Admits the calls of one answer, one by one in call order. Throws only for the journal. */
export async function admitAll(
  run: RunContext,
  calls: readonly ToolUseBlock[],
): Promise<readonly Admission[]> {
  const admissions: Admission[] = [];
  for (const [at, call] of calls.entries())
    admissions.push(at < run.maxCallsPerAnswer ? await admit(run, call) : oneTooMany(run, call));
  return admissions;
}

/** Some models, and servers that repeat themselves, write calls without end. */
export function oneTooMany({ maxCallsPerAnswer: most }: RunContext, call: ToolUseBlock): Admission {
  const result = errorResult(
    `Not run: one answer may hold ${most} calls. Make it in the next one if it is still needed.`,
  );
  return { type: "refused", call, settled: { status: "error", result } };
}

/**
 * The first phases of a call: hooks; known, valid and permitted? `begun`: how it ran before it was cut, if it
 * did. Throws only for the journal.
 */
export async function admit(
  run: RunContext,
  made: ToolUseBlock,
  { parentCallId, begun }: { readonly parentCallId?: string | undefined; readonly begun?: Begun } = {},
): Promise<Admission> {
  if (run.signal.aborted) return { type: "refused", call: made, settled: NOT_RUN };
  const call = await beforeCall(run, made, parentCallId);
  if ("status" in call) return { type: "refused", call: made, settled: call };
  const refused = (settled: SettledCall): Admission => ({ type: "refused", call, settled });
  const prepared = await prepare(run, call);
  if (run.signal.aborted) return refused(NOT_RUN);
  if ("error" in prepared) return refused({ status: "error", result: errorResult(prepared.error) });
  const { tool } = prepared;
  const input = begun?.judged === true ? await asItRan(run, prepared, begun.input) : prepared.input;
  const answer = await permitted(run, {
    callId: call.id,
    tool,
    name: tool.name,
    input,
    cwd: run.cwd,
    sessionId: run.journal.sessionId,
    ...callerOf(run, parentCallId),
    signal: run.signal,
  });
  if (answer === "waiting") return { type: "open", call };
  if ("status" in answer) return refused(answer);
  if (tool.execute === undefined) return { type: "open", call };
  const isAsMade = answer.input === prepared.input;
  return { type: "ready", call, tool, input: answer.input, ...(isAsMade ? {} : { judged: true }) };
}

/** Asks for permission where it is needed, and again for an input that is to run instead. */
async function permitted(run: RunContext, request: GateRequest): Promise<SettledCall | "waiting" | Permit> {
  const { tool, input } = request;
  if (run.permission === undefined && tool.needsApproval === undefined) return { input };
  let answer = await permit(run, request);
  while (answer !== "waiting" && "given" in answer) {
    const { given, isChecked } = answer;
    const checked = isChecked ? { input: given as ToolInput } : await checkInput(run, tool, given);
    if ("error" in checked) {
      const reason = `What a person put in the place of its arguments cannot run. ${checked.error}`;
      return { status: "error", result: errorResult(reason) };
    }
    answer = await permit(run, { ...request, input: checked.input }, answer);
  }
  if (answer === "waiting" || "status" in answer) return answer;
  if (!run.signal.aborted) await recordPermit(run, request, answer);
  return run.signal.aborted ? NOT_RUN : answer;
}

/** Who makes a call that is not one of the conversation's own. */
function callerOf(run: RunContext, parentCallId?: string): Pick<GateRequest, "parentCallId" | "agent"> {
  const { callId, agent } = run.subagent ?? {};
  return defined({ parentCallId: parentCallId ?? callId, agent });
}

/** The call as plugins leave it, or how it ends without being run. Throws only for the journal. */
async function beforeCall(
  run: RunContext,
  call: ToolUseBlock,
  parentCallId: string | undefined,
): Promise<ToolUseBlock | SettledCall> {
  let made = madeCall(run, call, parentCallId);
  for (const plugin of run.plugins) {
    let verdict: CallVerdict | undefined;
    try {
      const judging = plugin.beforeCall?.(run, made);
      if (judging !== undefined) verdict = await judging;
    } catch (error) {
      const { message } = pluginFailure(run, error);
      return { status: "error", result: errorResult(`The call was not run. ${message}`) };
    }
    if (verdict === undefined) continue;
    if ("refuse" in verdict) {
      const { refuse: reason, rule } = verdict;
      const { id: callId, name, input } = call;
      const decided = { by: "rule", code: "hook", rule, reason } as const;
      return refuse(run, { callId, name, input, parentCallId }, decided);
    }
    made = { ...made, input: verdict.input };
  }
  if (made.input === call.input) return call;
  // Arguments that could not be read are replaced by ones that can.
  const { invalid_input: _invalid, ...readable } = call;
  return { ...readable, input: made.input };
}

/** A call as plugins see it. */
export function madeCall(run: RunContext, call: ToolUseBlock, parentCallId?: string): MadeCall {
  const { id: callId, name, input } = call;
  const parent = parentCallId ?? run.subagent?.callId;
  return parent === undefined ? { callId, name, input } : { callId, name, input, parentCallId: parent };
}

type Begun = Pick<ToolIntentEntry, "input" | "judged"> | undefined;

/**
 * What a call ran with, from its record: the schema had made it then, and makes of it only what a journal
 * does not keep, such as a date.
 */
async function asItRan(run: RunContext, { tool, input }: KnownCall, ran: ToolInput): Promise<ToolInput> {
  if (equalJson(asStored(input), ran)) return input;
  const again = await checkInput(run, tool, ran);
  return "input" in again && equalJson(asStored(again.input), ran) ? again.input : ran;
}

interface KnownCall {
  readonly tool: Tool;
  readonly input: ToolInput;
}

type CheckedCall = KnownCall | { readonly error: string };

async function prepare(run: RunContext, call: ToolUseBlock): Promise<CheckedCall> {
  const { name, input, invalid_input: invalid } = call;
  const tool = run.tools.get(name);
  const names = (): readonly string[] => run.tools.specs().map((spec) => spec.name);
  if (tool === undefined) return { error: unknownTool(name, names()) };
  if (invalid?.reason === "truncated") {
    return {
      error:
        "The call was cut off by the output limit and was not run. Write less in one call, or in several steps.",
    };
  }
  if (invalid !== undefined) {
    return {
      error: `The arguments of ${name} are not a JSON object, so it was not run. They were: ${clip(invalid.raw)}`,
    };
  }
  return checkInput(run, tool, input);
}

/** The input as the schema of a tool gives it, or why it does not take it. */
async function checkInput(run: RunContext, tool: Tool, input: unknown): Promise<CheckedCall> {
  const { name } = tool;
  try {
    const checking = tool.schema.validate(input);
    const checked = checking instanceof Promise ? await orAborted(checking, run.signal) : checking;
    if (checked.ok) return { tool, input: checked.value as ToolInput };
    return { error: invalidArguments(name, checked.issues) };
  } catch (error) {
    return { error: `The arguments of ${name} could not be checked: ${errorMessage(error)}` };
  }
}

function unknownTool(name: string, known: readonly string[]): string {
  if (known.length === 0) return `Unknown tool: ${name}. No tools are available: answer in text.`;
  return `Unknown tool: ${name}.${didYouMean(name, known)} Available: ${known.join(", ")}.`;
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

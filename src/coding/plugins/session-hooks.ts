import { resolve } from "node:path";
import type { Approver, GateDecision, GateRequest } from "../../core/agent/ports.ts";
import { type Clock, systemClock } from "../../core/base/async.ts";
import type { Json, JsonObject } from "../../core/base/errors.ts";
import { omitUndefined } from "../../core/base/json.ts";
import { type ToolInput, textOf } from "../../core/message/message.ts";
import type { ToolResult } from "../../core/tool/tool.ts";
import { EventHooks, type HookTrigger } from "../../extensions/command-hooks/event-hooks.ts";
import {
  type HookEvent,
  type HookHandler,
  type HookVerdict,
  readHooks,
} from "../../extensions/command-hooks/read-hooks.ts";
import type { ActingArguments, HookedAgent, HookOptions } from "../../hooks/hook.ts";
import type { Compactor } from "../../memory/context/compactor.ts";
import type { PermissionMode } from "../../permission/permission-mode.ts";
import { withCallMarker } from "../../system/process-watcher.ts";
import type { ShellOptions } from "../../tools/shell/shell-session.ts";
import type { Settings } from "../settings/settings.ts";
import type { OpenSession } from "../setup/open-session.ts";
import type { PermissionGate } from "../setup/permission-gate.ts";

interface SessionHooksOptions {
  readonly hooks: EventHooks;
  readonly cwd: string;
  /** The permission mode that hooks are given before there is a gate. */
  readonly mode: PermissionMode;
  /** Receives hook failures and hooks' messages to the person. */
  readonly onNotice: (message: string) => void;
  readonly clock: Clock;
}

/** The occasion of a `Notification` hook, which matchers look at. */
type NotificationType = "permission_prompt" | "elicitation_dialog" | "idle_prompt";

interface CallState {
  readonly name: string;
  readonly verdict: HookVerdict;
}

interface SubmitVerdict {
  readonly blocked?: string;
  readonly context: readonly string[];
}

const NOTHING_TO_BLOCK: ReadonlySet<HookEvent> = new Set(["SessionStart", "SessionEnd", "Notification"]);

type Call = Pick<ActingArguments, "callId" | "name"> & { readonly parentCallId?: string };

/** Milliseconds that closing a session waits for its hooks. */
const MAX_END_MS = 10_000;
/** Milliseconds after which a person is reminded that the agent is waiting. */
const IDLE_MS = 60_000;

/**
 * Hooks at the events of a session. A hook's allow only answers calls that no rule covers. No method rejects:
 * a hook that fails is reported and changes nothing.
 */
export class SessionHooks {
  readonly #options: SessionHooksOptions;
  readonly #calls = new Map<string, CallState>();
  readonly #closing = new AbortController();
  /** The permission mode that hooks are given. */
  mode: () => PermissionMode;
  #started: Promise<HookVerdict> | undefined;
  #signal: AbortSignal = this.#closing.signal;
  #idle = new AbortController();

  constructor(options: SessionHooksOptions) {
    this.#options = options;
    this.mode = () => options.mode;
  }

  /** From now on, `signal` also ends hooks. */
  setRunSignal(signal: AbortSignal): void {
    this.#idle.abort();
    this.#signal = AbortSignal.any([signal, this.#closing.signal]);
  }

  /** A run has ended while a person is present: notifies them if they do nothing for a minute. */
  startIdleReminder(): void {
    const { hooks, clock } = this.#options;
    if (!hooks.has("Notification")) return;
    this.#idle.abort();
    this.#idle = new AbortController();
    this.#signal = this.#closing.signal;
    const signal = AbortSignal.any([this.#idle.signal, this.#closing.signal]);
    clock.sleep(IDLE_MS, signal).then(
      () => this.notify("idle_prompt", "nano-agent is waiting for your input"),
      () => undefined,
    );
  }

  async notify(type: NotificationType, message: string): Promise<void> {
    await this.#fire("Notification", { name: type, fields: { message, notification_type: type } });
  }

  killNow(): void {
    this.#closing.abort(new Error("the session was closed"));
  }

  get agentHooks(): HookOptions {
    return {
      pre_acting: (agent, call) => this.#beforeCall(agent, call),
      post_acting: (agent, call, result) => this.#afterCall(agent, call, result),
    };
  }

  /** The gate after hooks: ask tightens an allow, allow answers calls that no rule covers. */
  gate(gate: PermissionGate): PermissionGate {
    this.mode = gate.mode;
    return { ...gate, check: async (request) => this.#applyVerdict(request, await gate.check(request)) };
  }

  approver(approve: Approver): Approver {
    return async (request) => {
      const { callId, name, input, decision } = request;
      const verdict = await this.#fire("PermissionRequest", {
        name,
        fields: this.#callFields({ callId, name, input }),
      });
      const decided = verdict.decision;
      if (decided === "deny") return { approved: false, reason: refusalReason(verdict) };
      const isAllowed = decided === "allow" && isWithoutRule(decision) && verdict.updatedInput === undefined;
      if (!isAllowed) await this.notify("permission_prompt", `${name} needs your permission`);
      return isAllowed ? { approved: true, unasked: true } : approve(request);
    };
  }

  compactor(compactor: Compactor): Compactor {
    return {
      isNeeded: (context) => compactor.isNeeded(context),
      preview: (context) => compactor.preview(context),
      compact: async (task) => {
        const { reason, instructions = "", signal } = task;
        const trigger = reason === "manual" ? "manual" : "auto";
        const fields = { trigger, custom_instructions: instructions };
        const verdict = await this.#fire("PreCompact", { name: trigger, fields, signal });
        const blocked = verdict.stop ?? (verdict.decision === "deny" ? refusalReason(verdict) : undefined);
        if (blocked === undefined) return compactor.compact(task);
        task.warn(`The conversation was not compacted: ${blocked}`);
        return undefined;
      },
    };
  }

  /** Tells hooks that the session is open. Text they add is sent with the first message. */
  start(source: "startup" | "resume"): void {
    this.#started = this.#fire("SessionStart", { name: source, fields: { source } });
  }

  async submit(prompt: string, signal: AbortSignal): Promise<SubmitVerdict> {
    const before = (await this.#started)?.context ?? [];
    const verdict = await this.#fire("UserPromptSubmit", { fields: { prompt }, signal });
    const { decision, stop } = verdict;
    const context = [...before, ...verdict.context];
    const isSent = stop === undefined && decision !== "deny";
    if (isSent) this.#started = undefined;
    if (stop !== undefined) return { blocked: stop, context };
    return decision === "deny" ? { blocked: refusalReason(verdict), context } : { context };
  }

  /** The reason to continue the run after its answer; `isActive`: it already continues for such a reason. */
  async stop(isActive: boolean, signal: AbortSignal): Promise<string | undefined> {
    const verdict = await this.#fire("Stop", { fields: { stop_hook_active: isActive }, signal });
    return verdict.decision === "deny" && verdict.stop === undefined ? refusalReason(verdict) : undefined;
  }

  get hasSubmit(): boolean {
    return this.#options.hooks.has("UserPromptSubmit");
  }

  get hasStop(): boolean {
    return this.#options.hooks.has("Stop");
  }

  async end(): Promise<void> {
    this.#idle.abort();
    const signal = AbortSignal.any([AbortSignal.timeout(MAX_END_MS), this.#closing.signal]);
    await this.#fire("SessionEnd", { name: "other", fields: { reason: "other" }, signal });
  }

  async #beforeCall(agent: HookedAgent, call: ActingArguments): Promise<ActingArguments | undefined> {
    const { name, input } = call;
    const fields = this.#callFields(call);
    const verdict = await this.#fire("PreToolUse", { name, fields });
    this.#calls.set(keyOf(call), { name, verdict });
    if (verdict.stop !== undefined) this.#stopAgent(agent, verdict.stop);
    if (verdict.stop !== undefined) return { ...call, refuse: verdict.stop };
    if (verdict.decision === "deny") return { ...call, refuse: refusalReason(verdict) };
    if (verdict.updatedInput === undefined) return undefined;
    return { ...call, input: ownInput({ name, input, cwd: this.#options.cwd }, verdict.updatedInput) };
  }

  async #afterCall(
    agent: HookedAgent,
    call: ActingArguments,
    result: ToolResult,
  ): Promise<ToolResult | undefined> {
    const state = this.#calls.get(keyOf(call));
    this.#calls.delete(keyOf(call));
    const before = state?.verdict.context ?? [];
    // A call that did not run has no result for hooks.
    if (call.hasRun !== true) return withTexts(result, before);
    const { name, callId, input } = call;
    const { cwd } = this.#options;
    const fields = { ...this.#callFields(call), tool_response: peerResponse({ name, input, cwd }, result) };
    const task = {
      tool_use_id: callId,
      ...(typeof input["agent"] === "string" && { agent_type: input["agent"] }),
    };
    const verdict = await this.#fire("PostToolUse", { name, fields });
    const subagentVerdict = name === "task" ? await this.#fire("SubagentStop", { fields: task }) : undefined;
    const stop = verdict.stop ?? subagentVerdict?.stop;
    if (stop !== undefined) this.#stopAgent(agent, stop);
    const after = [verdict, subagentVerdict].flatMap((verdict) =>
      verdict === undefined ? [] : textsOf(verdict),
    );
    return withTexts(result, [...before, ...after]);
  }

  #stopAgent(agent: HookedAgent, reason: string): void {
    this.#options.onNotice(reason);
    agent.stop(reason);
  }

  #applyVerdict(request: GateRequest, decision: GateDecision): GateDecision {
    const state = this.#calls.get(keyOf(request));
    if (state === undefined || state.name !== request.name) return decision;
    const { decision: said, by = "a hook", updatedBy, updatedInput, reason } = state.verdict;
    const asks = reason ?? `the hook ${by} wants it to be asked about`;
    if (said === "ask" && decision.action === "allow")
      return { action: "ask", code: "hook_asks", reason: asks, ...omitUndefined({ place: decision.place }) };
    // A hook that allowed different arguments has not allowed this call.
    const coversInput = updatedInput === undefined || updatedBy === by;
    if (said === "allow" && coversInput && isWithoutRule(decision))
      return { action: "allow", code: "hook_allows", reason: reason ?? `the hook ${by} allows it` };
    return decision;
  }

  async #fire(event: HookEvent, occasion: HookTrigger): Promise<HookVerdict> {
    const verdict = await this.#options.hooks.fire(event, { signal: this.#signal, ...occasion });
    for (const problem of verdict.problems) this.#options.onNotice(problem);
    if (verdict.decision === "deny" && NOTHING_TO_BLOCK.has(event))
      this.#options.onNotice(`a ${event} hook has nothing to block, and says: ${refusalReason(verdict)}`);
    return verdict;
  }

  #callFields({ callId, name, input }: Pick<ActingArguments, "callId" | "name" | "input">): JsonObject {
    const { cwd } = this.#options;
    return { tool_name: name, tool_input: peerInput({ name, input, cwd }), tool_use_id: callId };
  }
}

function keyOf({ callId, parentCallId = "" }: Pick<Call, "callId" | "parentCallId">): string {
  return `${parentCallId}\0${callId}`;
}

/** True for a question asked only because no rule applies. */
function isWithoutRule({ action, code }: GateDecision): boolean {
  return action === "ask" && code === "no_rule";
}

function refusalReason({ reason, by = "a hook" }: HookVerdict): string {
  return reason ?? `the hook ${by} blocked it`;
}

function textsOf(verdict: HookVerdict): readonly string[] {
  const blocked = verdict.decision === "deny" ? [`A hook says: ${refusalReason(verdict)}`] : [];
  return [...blocked, ...verdict.context];
}

function withTexts(result: ToolResult, texts: readonly string[]): ToolResult | undefined {
  if (texts.length === 0) return undefined;
  const { content } = result;
  const text = texts.join("\n\n");
  return {
    ...result,
    content: typeof content === "string" ? `${content}\n\n${text}` : [...content, { type: "text", text }],
  };
}

export interface OpenHooksOptions {
  readonly settings: Settings;
  readonly handlers: readonly HookHandler[];
  /** The variables commands see, never credentials, and the mark that finds a killed agent's processes. */
  readonly shell: Pick<ShellOptions, "env" | "mark" | "watcher">;
  readonly opened: () => OpenSession | undefined;
  readonly onNotice: (message: string) => void;
}

/** The hooks of a session; unusable ones in the settings are reported. */
export function openSessionHooks(options: OpenHooksOptions): SessionHooks {
  const { settings, handlers, shell, opened, onNotice } = options;
  const { config, cwd, folders } = settings;
  const read = Object.entries(config.values.hooks ?? {}).map(([event, groups]) =>
    readHooks({ [event]: groups }, config.sources.get(`hooks.${event}`) ?? "settings"),
  );
  for (const problem of read.flatMap(({ problems }) => problems)) onNotice(problem);
  const { mark = "", watcher } = shell;
  const project = folders[0] ?? cwd;
  const mode = config.values.permissionMode ?? "default";
  const hooks = new EventHooks({
    commands: read.flatMap(({ hooks: commands }) => commands),
    handlers,
    surroundings: () => {
      watcher?.add(mark);
      const env = withCallMarker(omitUndefined(shell.env ?? {}), `${mark}.hook`);
      return {
        cwd,
        watcher,
        env: { ...env, CLAUDE_PROJECT_DIR: project, NANO_AGENT_PROJECT_DIR: project },
      };
    },
    commonInput: () => ({
      session_id: opened()?.journal.sessionId ?? "",
      transcript_path: opened()?.saved?.path ?? "",
      cwd,
      permission_mode: session.mode(),
    }),
  });
  const session = new SessionHooks({ hooks, cwd, mode, onNotice, clock: systemClock });
  return session;
}

interface HookedCall {
  readonly name: string;
  readonly input: ToolInput;
  readonly cwd: string;
}

const FILE_TOOLS: ReadonlySet<string> = new Set(["read", "write", "edit"]);

/** A call's arguments, with `file_path`, `old_string` and `new_string` as published scripts expect them. */
export function peerInput({ name, input, cwd }: HookedCall): JsonObject {
  const path = filePath({ name, input, cwd });
  return { ...(input as JsonObject), ...omitUndefined({ file_path: path }), ...editTexts(name, input) };
}

export function peerResponse(call: HookedCall, { content, isError = false }: ToolResult): Json {
  const text = textOf(content);
  const path = filePath(call);
  return {
    content: text,
    is_error: isError,
    success: !isError,
    ...omitUndefined({ filePath: path }),
    ...(call.name === "bash" && { stdout: text }),
  };
}

/** A hook's returned arguments in the tool's format; its schema refuses unknown fields. */
export function ownInput(call: HookedCall, wanted: NonNullable<HookVerdict["updatedInput"]>): ToolInput {
  const { name, input } = call;
  if (!FILE_TOOLS.has(name)) return wanted;
  const peer = peerInput(call);
  const { file_path: newPath, ...rest } = withOwnEdits(peer, wanted);
  const isOwn = rest["path"] !== undefined && rest["path"] !== input["path"];
  if (newPath === undefined || isOwn) return rest;
  return { ...rest, path: newPath === peer["file_path"] ? input["path"] : newPath };
}

/** Puts the texts of a single edit where the tool expects them; several edits are ambiguous. */
function withOwnEdits(peer: JsonObject, wanted: JsonObject): JsonObject {
  const { old_string: before, new_string: after, ...rest } = wanted;
  if (peer["new_string"] === undefined) return wanted;
  const isSame = ({ old_string, new_string }: JsonObject): boolean =>
    (before === undefined || before === old_string) && (after === undefined || after === new_string);
  if (isSame(peer)) return rest;
  const [edit, ...others] = rest["edits"] as readonly JsonObject[];
  if (edit === undefined || others.length > 0) return wanted;
  return { ...rest, edits: [{ ...edit, old_string: before, new_string: after }] };
}

function editTexts(name: string, { edits }: ToolInput): JsonObject {
  if (name !== "edit" || !Array.isArray(edits)) return {};
  const textsOf = (key: string): string =>
    (edits as readonly (JsonObject | null)[])
      .flatMap((edit) => (typeof edit?.[key] === "string" ? [edit[key]] : []))
      .join("\n");
  return { old_string: textsOf("old_string"), new_string: textsOf("new_string") };
}

function filePath({ name, input: { path }, cwd }: HookedCall): string | undefined {
  if (!FILE_TOOLS.has(name) || typeof path !== "string") return undefined;
  return path.startsWith("~") ? path : resolve(cwd, path);
}

import type { RunOptions } from "../../agent/options.ts";
import type { AgentEvent } from "../../core/agent/entries.ts";
import type { Approvals } from "../../core/agent/ports.ts";
import type { RunResult } from "../../core/agent/result.ts";
import { invalidArgument, NanoAgentError, toNanoAgentError } from "../../core/base/errors.ts";
import { EventStream } from "../../core/base/event-stream.ts";
import { omitUndefined } from "../../core/base/json.ts";
import type { Input } from "../../core/message/input.ts";
import type { ToolInput } from "../../core/message/message.ts";
import type { ToolResult } from "../../core/tool/tool.ts";
import { EvidenceFold } from "../../view/evidence.ts";
import { type EndingSignal, EXIT, SIGNAL_EXITS } from "../../view/exit-code.ts";
import {
  doneOutcome,
  failedOutcome,
  type Outcome,
  type OutcomeFacts,
  outcomeOf,
  RunTally,
  refusedOutcome,
  untilFailedOutcome,
} from "../../view/outcome.ts";
import { explainRemovedFolder } from "../settings/paths.ts";
import { parseDuration } from "../settings/setting.ts";
import type { Composition } from "../setup/compose.ts";
import type { SendOptions, SessionRun } from "./coding-session.ts";
import { commandIn, type PreparedMessage, prepareMessage } from "./prepare-message.ts";
import type { SessionParts } from "./session-agent.ts";
import { SessionQueue } from "./session-queue.ts";

type HostFacts = Pick<OutcomeFacts, "goOn" | "wantsOutput" | "hasSandbox" | "evidence">;

/** A run in progress: its events and outcome, and the means to end it. */
class LiveRun {
  readonly #outcome = Promise.withResolvers<Outcome>();
  readonly #abort = new AbortController();
  readonly #tally = new RunTally();
  readonly #startedAt = performance.now();
  readonly #callerSignal: AbortSignal | undefined;
  readonly #facts: () => HostFacts;
  readonly #onOutcome: (outcome: Outcome) => void;
  readonly #onAbort = (): void => this.abort(this.#callerSignal?.reason);
  #stream: EventStream<AgentEvent> | undefined;
  isOver = false;
  hasEnd = false;
  readonly handle: SessionRun;

  /** `onOutcome` is called before any caller gets the outcome or the end of the events. */
  constructor(
    signal: AbortSignal | undefined,
    facts: () => HostFacts,
    onOutcome: (outcome: Outcome) => void,
  ) {
    this.#facts = facts;
    this.#onOutcome = onOutcome;
    this.#callerSignal = signal;
    if (signal?.aborted === true) this.#onAbort();
    else signal?.addEventListener("abort", this.#onAbort, { once: true });
    // Some callers await the outcome, others iterate over the events.
    this.handle = Object.assign(this.#outcome.promise, { [Symbol.asyncIterator]: () => this.#iterate() });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get outcome(): Promise<Outcome> {
    return this.#outcome.promise;
  }

  get facts(): OutcomeFacts {
    return {
      ...this.#tally.facts,
      ...this.#facts(),
      durationMs: performance.now() - this.#startedAt,
      signal: endingSignal(this.signal),
    };
  }

  abort(reason: unknown): void {
    this.#abort.abort(reason);
  }

  add(event: AgentEvent): void {
    if (this.isOver) return;
    if (event.type === "run_end" && event.scope === undefined) this.hasEnd = true;
    this.#tally.add(event);
    this.#stream?.push(event);
  }

  /** Sets the outcome; a second one is dropped. */
  settle(outcome: Outcome): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#callerSignal?.removeEventListener("abort", this.#onAbort);
    this.#onOutcome(outcome);
    this.#stream?.end();
    this.#outcome.resolve(outcome);
  }

  fail(error: NanoAgentError): void {
    this.settle(failedOutcome(error, this.facts, this.#tally.partialText));
  }

  #iterate(): AsyncIterator<AgentEvent> {
    if (this.#stream !== undefined)
      throw invalidArgument("The events of this run have been read already. Use onEvent to listen twice.");
    const stream = new EventStream<AgentEvent>({
      onCancel: async () => {
        this.abort(new NanoAgentError("aborted", "The reader of the stream stopped reading."));
        await this.#outcome.promise;
      },
    });
    this.#stream = stream;
    if (this.isOver) stream.end();
    return stream;
  }
}

/** The system signal that ended a run, if its abort reason names one. */
function endingSignal({ aborted, reason }: AbortSignal): EndingSignal | undefined {
  if (!aborted || !(reason instanceof NanoAgentError)) return undefined;
  const { signal } = reason.details;
  return typeof signal === "string" && Object.hasOwn(SIGNAL_EXITS, signal)
    ? (signal as EndingSignal)
    : undefined;
}

interface RunHost {
  readonly beforeRun: () => Promise<void>;
  readonly onEvent: (event: AgentEvent) => void;
  readonly onChange: () => void;
  /** A run has ended and could not record it. */
  readonly onFailure: (outcome: Outcome) => void;
  /** True if no run may begin: the session is closed, or other work is in progress. */
  readonly isBlocked: () => boolean;
}

/** Stop reasons after which waiting messages are sent automatically. */
const CONTINUING_REASONS: ReadonlySet<Outcome["stopReason"]> = new Set([
  "completed",
  "finish_tool",
  "structured_output",
  "output_limit",
  "refusal",
  "max_iterations",
]);

/** Times in a row that hooks may keep a run from ending. */
const MAX_STOP_BLOCKS = 3;

/** Failed rounds of the command after which a run gives up. */
const DEFAULT_ROUNDS = 10;

function hasAnswered({ stopReason }: RunResult): boolean {
  return stopReason === "completed" || stopReason === "finish_tool" || stopReason === "structured_output";
}

interface RunStart {
  readonly input?: Input | undefined;
  readonly options?: SendOptions;
  readonly approvals?: Approvals;
  /** It waited in the queue, and returns there if it could not be stored. */
  readonly isQueued?: boolean;
}

/** The runs of a session, one at a time, and the messages that wait for them. */
export class Runs {
  readonly queue: SessionQueue;
  readonly #parts: SessionParts;
  readonly #host: RunHost;
  #run: LiveRun | undefined;
  lastOutcome: Outcome | undefined;
  isStopping = false;
  until: string | undefined;
  /** The changes and checks of the newest run. */
  readonly #evidence: EvidenceFold;
  #isFirst = true;
  readonly #closing = new AbortController();
  readonly #calls = new Set<Promise<unknown>>();

  constructor(parts: SessionParts, host: RunHost) {
    this.#parts = parts;
    this.#host = host;
    this.#evidence = new EvidenceFold(parts.settings.cwd);
    this.queue = new SessionQueue({
      agent: () => parts.current.agent,
      hooks: parts.composed.hooks,
      isSaved: parts.session.saved !== undefined,
      isCommand: (text) => commandIn(text, parts.composed.commands()) !== undefined,
      runSignal: () => this.#run?.signal,
      start: (input) => {
        if (this.#run !== undefined || host.isBlocked()) return false;
        this.start({ input, isQueued: true });
        return true;
      },
      onReady: () => this.sendWaiting(),
      onChange: host.onChange,
      onNotice: (notice) => parts.notices.add(notice),
    });
  }

  get isRunning(): boolean {
    return this.#run !== undefined;
  }

  get #approver(): Partial<Pick<Composition, "approve">> {
    const { composed, questions } = this.#parts;
    return questions.isAttended ? { approve: composed.approve } : {};
  }

  /** Makes a call outside a run; it ends with the session. */
  callTool(name: string, input: ToolInput, signal?: AbortSignal): Promise<ToolResult> {
    const either = AbortSignal.any([...(signal === undefined ? [] : [signal]), this.#closing.signal]);
    const { onEvent } = this.#host;
    const call = this.#parts.current.agent.callTool(name, input, {
      ...this.#approver,
      signal: either,
      onEvent,
    });
    this.#calls.add(call);
    return call.finally(() => this.#calls.delete(call));
  }

  /** Stops the run and all calls; resolves when waiting messages are stored. */
  async close(reason: string): Promise<void> {
    await this.stop(reason);
    this.#closing.abort(new NanoAgentError("aborted", reason));
    await Promise.allSettled(this.#calls);
    await this.queue.settled;
  }

  start(start: RunStart): LiveRun {
    const { signal, schema } = start.options ?? {};
    const facts = (): HostFacts => ({
      wantsOutput: schema !== undefined,
      goOn: this.#continueCommand(),
      hasSandbox: this.#parts.composed.confinement.temporary() !== undefined,
      evidence: this.#evidence.evidence,
    });
    const run: LiveRun = new LiveRun(signal, facts, (outcome) => {
      this.lastOutcome = outcome;
      if (!run.hasEnd) this.#host.onFailure(outcome);
    });
    this.#run = run;
    void this.#perform(run, start);
    return run;
  }

  async stop(reason: string): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    this.queue.hold();
    this.isStopping = true;
    this.#host.onChange();
    run.abort(new NanoAgentError("aborted", reason));
    await run.outcome;
  }

  /** Sends the messages that arrived too late for the run that has ended, then the queue. */
  sendWaiting(): void {
    if (this.resumeAnswered() || this.#run !== undefined || this.#host.isBlocked()) return;
    const isSteered = this.#parts.current.agent.pendingSteering.length > 0;
    const input = isSteered ? undefined : this.queue.next();
    if (input !== undefined || isSteered) this.start({ input, isQueued: true });
  }

  /** Resumes with the answers to restored questions once they are there. Returns true if it does. */
  resumeAnswered(): boolean {
    if (this.#run !== undefined || this.#host.isBlocked()) return false;
    const approvals = this.#parts.questions.takeAnswers();
    if (approvals !== undefined) this.start({ approvals });
    return approvals !== undefined;
  }

  /** Fails the run in progress without waiting for it to end. */
  abandon(): void {
    const run = this.#run;
    this.#run = undefined;
    run?.fail(toNanoAgentError(run.signal.reason ?? "interrupted"));
  }

  async #perform(run: LiveRun, start: RunStart): Promise<void> {
    const { input, options = {}, approvals } = start;
    const parts = this.#parts;
    const { beforeRun, onEvent, onChange } = this.#host;
    const { schema, until = this.until } = options;
    const releases: (() => void | Promise<void>)[] = [];
    let isStored = false;
    onChange();
    try {
      parts.composed.hooks?.setRunSignal(run.signal);
      await beforeRun();
      // Resuming a run of an earlier process: its earlier changes and checks count.
      if (input === undefined && this.#isFirst)
        for (const entry of parts.session.journal.entries()) this.#evidence.add(entry);
      this.#isFirst = false;
      const observed = {
        signal: run.signal,
        onEvent: (event: AgentEvent): void => {
          if (run.isOver) return;
          isStored ||= event.type === "user_message";
          if (event.type === "tool_result") parts.questions.endCall(event.callId);
          this.#evidence.add(event);
          run.add(event);
          onEvent(event);
        },
      };
      const approver = this.#approver;
      const onEnd = (release: () => void | Promise<void>): number => releases.push(release);
      const prepared = await prepareMessage(input, { parts, ...observed, approver, onEnd });
      const runOptions = { ...observed, ...approver, ...omitUndefined({ schema, approvals }) };
      const outcomeFor = await this.#runUntilAccepted(prepared, runOptions, until);
      for (const release of releases.splice(0)) await release();
      const outcome = outcomeFor(run.facts);
      if (approvals !== undefined || outcome.stopReason === "awaiting_approval")
        await parts.questions.restore();
      this.#end(run, () => run.settle(outcome));
    } catch (error) {
      for (const release of releases) await release();
      const failure = toNanoAgentError(explainRemovedFolder(error), "internal");
      if (approvals !== undefined) await parts.questions.restore();
      this.#end(run, () => run.fail(failure));
    }
    await this.#afterRun(run, start, isStored);
  }

  async #afterRun(run: LiveRun, { input, isQueued }: RunStart, isStored: boolean): Promise<void> {
    const { stopReason, exitCode } = await run.outcome;
    if (this.#run !== undefined || this.resumeAnswered()) return;
    if (CONTINUING_REASONS.has(stopReason)) this.sendWaiting();
    else {
      this.queue.holdAll();
      const isHandled = isStored || (exitCode !== EXIT.session && stopReason !== "aborted");
      if (isQueued === true && input !== undefined && !isHandled) this.queue.requeue(input);
    }
    const { composed, questions } = this.#parts;
    if (!this.isRunning && questions.isAttended) composed.hooks?.startIdleReminder();
  }

  /** Ends the run before delivering its outcome, so that a caller awaiting it can send the next message. */
  #end(run: LiveRun, settle: () => void): void {
    if (this.#run === run) this.#run = undefined;
    this.isStopping = false;
    settle();
    this.#host.onChange();
  }

  /** Runs until hooks and the command accept the answer. Resolves to a function that builds the outcome. */
  async #runUntilAccepted(
    prepared: PreparedMessage,
    options: RunOptions & { readonly signal: AbortSignal; readonly onEvent: (event: AgentEvent) => void },
    until: string | undefined,
  ): Promise<(facts: OutcomeFacts) => Outcome> {
    if ("refused" in prepared) return (facts) => refusedOutcome(prepared.refused, facts);
    if ("done" in prepared) return doneOutcome;
    const { agent } = this.#parts.current;
    const {
      maxTurns,
      maxWallTime,
      untilMax: maxRounds = DEFAULT_ROUNDS,
    } = this.#parts.settings.config.values;
    const { approvals: _approvals, ...resumeOptions } = options;
    const wallTimeMs =
      (maxWallTime === undefined ? undefined : parseDuration(maxWallTime)) ?? Number.POSITIVE_INFINITY;
    const deadline = performance.now() + wallTimeMs;
    let turnsLeft = maxTurns ?? Number.POSITIVE_INFINITY;
    const countTurns = (result: RunResult): RunResult => {
      turnsLeft -= result.iterations;
      return result;
    };
    const resume = async (reason: string, signal: AbortSignal): Promise<RunResult | undefined> => {
      if (turnsLeft < 1) return undefined;
      const id = agent.steer(reason);
      const next = countTurns(
        await agent.run(undefined, { ...resumeOptions, signal, maxIterations: turnsLeft }),
      );
      // It belongs to this run alone, even if the run ended before delivering it.
      agent.unsteer(id);
      return next;
    };
    const first = await this.#applyStopHooks(
      countTurns(await agent.run(prepared.input, options)),
      options,
      resume,
    );
    if (until === undefined || !hasAnswered(first)) return (facts) => outcomeOf(first, facts);
    const { enforceUntil } = await import("./enforce-until.ts");
    const { signal, onEvent } = options;
    const { result, failure } = await enforceUntil(first, {
      command: until,
      maxRounds,
      deadline,
      agent,
      signal,
      onEvent,
      hasAnswered,
      resume: async (reason, limit) => {
        const next = await resume(reason, limit);
        return next && this.#applyStopHooks(next, { signal: limit }, resume);
      },
    });
    return (facts) =>
      failure === undefined ? outcomeOf(result, facts) : untilFailedOutcome(result, failure, facts);
  }

  async #applyStopHooks(
    first: RunResult,
    { signal }: { readonly signal: AbortSignal },
    resume: (reason: string, signal: AbortSignal) => Promise<RunResult | undefined>,
  ): Promise<RunResult> {
    const { hooks } = this.#parts.composed;
    let result = first;
    for (let count = 0; count < MAX_STOP_BLOCKS; count++) {
      if (hooks?.hasStop !== true || !CONTINUING_REASONS.has(result.stopReason) || signal.aborted) break;
      const reason = await hooks.stop(count > 0, signal);
      if (reason === undefined || signal.aborted) break;
      const next = await resume(reason, signal);
      if (next === undefined) break;
      result = next;
    }
    return result;
  }

  /** The command that continues the session, if any of it is stored. */
  #continueCommand(): string | undefined {
    const { options, session } = this.#parts;
    const { goOnCommand = (words: string) => `nano-agent -p ${words} "…"` } = options;
    const words = session.resumeFlags();
    return words === undefined ? undefined : goOnCommand(words);
  }
}

import { systemClock } from "../../core/base/clock.ts";
import { inTime } from "../../core/base/in-time.ts";
import type { HookCommand, HookEvent, HookHandler, HookInput, HookVerdict } from "./hook-event.ts";
import { type HookAnswer, readAnswer, readReturned } from "./read-answer.ts";
import { meantName } from "./read-hooks.ts";
import { type HookPlace, runHook } from "./run-hook.ts";

/** Options of {@link EventHooks}. */
export interface EventHooksOptions {
  /** Commands of the settings. */
  readonly commands: readonly HookCommand[];
  /** Functions of extensions. */
  readonly handlers: readonly HookHandler[];
  readonly place: () => Omit<HookPlace, "signal">;
  /** Fields that are the same for all hooks at this moment. */
  readonly facts: () => Pick<HookInput, "session_id" | "transcript_path" | "cwd" | "permission_mode">;
}

/** One occurrence of a hook event. */
export interface HookOccasion {
  /** Looked at by matchers: the name of a tool, or why a session began. */
  readonly name?: string;
  /** Fields of this event, beside those every event has. */
  readonly fields?: { readonly [key: string]: HookInput[string] };
  readonly signal?: AbortSignal;
}

const NO_VERDICT: HookVerdict = { context: [], problems: [] };
const STRICTNESS = { none: 0, allow: 1, ask: 2, deny: 3 } as const;

/** The hooks of the settings and of extensions. */
export class EventHooks {
  readonly #options: EventHooksOptions;

  constructor(options: EventHooksOptions) {
    this.#options = options;
  }

  /** True when an event has hooks at all. */
  has(event: HookEvent): boolean {
    const { commands, handlers } = this.#options;
    return [...commands, ...handlers].some((hook) => hook.event === event);
  }

  /** Runs the hooks of an event side by side. Never rejects: a command that fails is told in `problems`. */
  async fire(event: HookEvent, { name = "", fields = {}, signal }: HookOccasion = {}): Promise<HookVerdict> {
    const { commands, handlers, place, facts } = this.#options;
    const isWanted = (hook: HookCommand | HookHandler): boolean =>
      hook.event === event && meantName(hook, name) !== undefined;
    const [programs, functions] = [commands.filter(isWanted), handlers.filter(isWanted)];
    if (programs.length + functions.length === 0) return NO_VERDICT;
    const input: HookInput = { ...facts(), hook_event_name: event, ...fields };
    // A script is told the name of the tool that its matcher has.
    const inputOf = (hook: HookCommand | HookHandler): HookInput =>
      "tool_name" in fields ? { ...input, tool_name: meantName(hook, name) ?? name } : input;
    const where: HookPlace = { ...place(), signal: signal ?? new AbortController().signal };
    const answers = await Promise.all([
      ...programs.map(async (hook) => readAnswer(hook, await runHook(hook, inputOf(hook), where))),
      ...functions.map((hook) => callHandler(hook, inputOf(hook), where.signal)),
    ]);
    return combine(answers);
  }
}

/** Milliseconds a handler may take. */
const HANDLER_TIMEOUT_MS = 60_000;

async function callHandler(hook: HookHandler, input: HookInput, signal: AbortSignal): Promise<HookAnswer> {
  const bound = { ms: HANDLER_TIMEOUT_MS, clock: systemClock, signal };
  try {
    const answer = await inTime((either) => hook.run(structuredClone(input), either), bound);
    return readReturned(hook.source, answer);
  } catch (error) {
    if (!signal.aborted) hook.onFailure(error);
    return { context: [], problems: [] };
  }
}

/** The strictest decision counts, with the reason of the first that made it. */
function combine(answers: readonly HookAnswer[]): HookVerdict {
  const verdict: HookAnswer = {
    context: answers.flatMap(({ context }) => context),
    problems: answers.flatMap(({ problems }) => problems),
  };
  let strictest: HookAnswer | undefined;
  for (const answer of answers) {
    const { decision = "none", updatedInput, updatedBy, stop } = answer;
    if (STRICTNESS[decision] > STRICTNESS[strictest?.decision ?? "none"]) strictest = answer;
    if (updatedInput !== undefined) Object.assign(verdict, { updatedInput, updatedBy });
    if (stop !== undefined) verdict.stop ??= stop;
  }
  return { ...strictest, ...verdict };
}

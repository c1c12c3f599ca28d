import type { HookCommand, HookEvent, HookInput, HookVerdict } from "./hook-event.ts";
import { type HookAnswer, readAnswer } from "./read-answer.ts";
import { isMeant } from "./read-hooks.ts";
import { type HookPlace, runHook } from "./run-hook.ts";

/** What {@link CommandHooks} works with. */
export interface CommandHooksOptions {
  readonly hooks: readonly HookCommand[];
  readonly place: Omit<HookPlace, "signal">;
  /** What is the same for all hooks at this moment. */
  readonly facts: () => Pick<HookInput, "session_id" | "transcript_path" | "cwd" | "permission_mode">;
}

/** What happens to a hook event. */
export interface HookOccasion {
  /** What matchers look at: the name of a tool, or why a session began. */
  readonly name?: string;
  /** Fields of this event, beside those every event has. */
  readonly fields?: { readonly [key: string]: HookInput[string] };
  readonly signal?: AbortSignal;
}

const NO_VERDICT: HookVerdict = { context: [], problems: [] };
const STRICTNESS = { none: 0, allow: 1, ask: 2, deny: 3 } as const;

/** Hooks that are commands in the settings. */
export class CommandHooks {
  readonly #options: CommandHooksOptions;

  constructor(options: CommandHooksOptions) {
    this.#options = options;
  }

  /** Whether an event has hooks at all. */
  has(event: HookEvent): boolean {
    return this.#options.hooks.some((hook) => hook.event === event);
  }

  /** Runs the hooks of an event side by side and waits for all of them. Never rejects: a hook that fails is told in `problems`. */
  async fire(event: HookEvent, { name = "", fields = {}, signal }: HookOccasion = {}): Promise<HookVerdict> {
    const { hooks, place, facts } = this.#options;
    const meant = hooks.filter((hook) => hook.event === event && isMeant(hook, name));
    if (meant.length === 0) return NO_VERDICT;
    const input: HookInput = { ...facts(), hook_event_name: event, ...fields };
    const where: HookPlace = { ...place, signal: signal ?? new AbortController().signal };
    const answers = await Promise.all(
      meant.map(async (hook) => readAnswer(hook, await runHook(hook, input, where))),
    );
    return combine(answers);
  }
}

/** The strictest decision counts, with the reason of the first that made it. */
function combine(answers: readonly HookAnswer[]): HookVerdict {
  const verdict: HookAnswer = {
    context: answers.flatMap(({ context }) => context),
    problems: answers.flatMap(({ problems }) => problems),
  };
  for (const { decision, reason, by, updatedInput, stop } of answers) {
    if (decision !== undefined && STRICTNESS[decision] > STRICTNESS[verdict.decision ?? "none"]) {
      verdict.decision = decision;
      if (reason === undefined) delete verdict.reason;
      else verdict.reason = reason;
      if (by !== undefined) verdict.by = by;
    }
    if (updatedInput !== undefined) verdict.updatedInput = updatedInput;
    if (stop !== undefined) verdict.stop ??= stop;
  }
  return verdict;
}

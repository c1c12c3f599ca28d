import type { ToolInput } from "../core/message/block.ts";

interface CallAndVerdict {
  /** Rules alone allow it: nobody saw it. */
  readonly isCovered: boolean;
  readonly isStillAllowed: () => boolean;
}

/**
 * Which commands rules alone allow: these run in an environment of their own, and only while what they were
 * judged by is as it was. A command is known by its arguments as an object, never by the id of its call,
 * which a model or its server may give twice.
 */
export class CoveredCalls {
  readonly #judged = new WeakMap<object, CallAndVerdict>();

  /** Notes a decision. The first one counts: what a person was asked about runs as it was shown. */
  note(input: ToolInput, judged: CallAndVerdict): void {
    if (!this.#judged.has(input)) this.#judged.set(input, judged);
  }

  /** Notes that a person is shown a command although the rules allow it: a yes runs it as it was shown. */
  show(input: ToolInput): void {
    this.#judged.set(input, { isCovered: false, isStillAllowed: () => true });
  }

  /** True when a command is one of them; so is one that nothing is known of. */
  readonly isCovered = (input: object): boolean => this.#judged.get(input)?.isCovered !== false;

  /** Why a command must not run any more: another one has changed what it was judged by. */
  readonly refusal = (input: object): string | undefined => {
    const judged = this.#judged.get(input);
    if (judged === undefined || !judged.isCovered || judged.isStillAllowed()) return undefined;
    return "Not run: the rules allowed this command, but what they were judged by (files, links, folders, the mode) has changed since. Make the call again.";
  };
}

import type { ModelInfo } from "../core/model/model.ts";
import type { ShownQuirks } from "./shown-quirks.ts";

/** The facts that requests have taught about one model in this process; shared by all that ask it. */
export interface LearnedModel {
  /** Tokens of the largest request it takes, as it said itself. */
  contextWindow?: number;
  /** True once it has answered: a connection that is refused later is an interruption. */
  hasAnswered: boolean;
  /** Quirks that a refusal has shown; they win over those of the configuration. */
  quirks: { readonly [name: string]: boolean | string | number };
  /** Counts the changes of `quirks`. */
  changes: number;
}

/** The facts of several models, by an address that stands for each. */
export class LearnedModels {
  readonly #models = new Map<string, LearnedModel>();

  /** The facts of an address; always the same object. */
  of(address: string): LearnedModel {
    const known = this.#models.get(address) ?? newLearnedModel();
    this.#models.set(address, known);
    return known;
  }
}

/** The facts of a model with what was learned: the smaller window is the one that holds. */
export function infoWithLearned(
  info: ModelInfo | undefined,
  { contextWindow }: LearnedModel,
): ModelInfo | undefined {
  if (contextWindow === undefined || contextWindow >= (info?.contextWindow ?? Number.POSITIVE_INFINITY))
    return info;
  return { ...info, contextWindow };
}

/** Takes quirks into what is known. False: all of them were known, so they do not help. */
export function learnQuirks(learned: LearnedModel, shown: ShownQuirks): boolean {
  if (Object.entries(shown).every(([name, value]) => learned.quirks[name] === value)) return false;
  learned.quirks = { ...learned.quirks, ...shown };
  learned.changes += 1;
  return true;
}

/** Nothing learned yet. */
export function newLearnedModel(): LearnedModel {
  return { hasAnswered: false, quirks: {}, changes: 0 };
}

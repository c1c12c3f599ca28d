import { assertNumber } from "../base/check-option.ts";

/**
 * Money that runs of several agents share, as `budget: { shared }` of each: together they spend no more than
 * it, by the rules a run keeps with its own budget. Models need known prices.
 */
export class SharedBudget {
  /** US dollars. */
  readonly usd: number;
  #spentUsd: number;
  readonly #reserved: { readonly usd: number }[] = [];
  #released: PromiseWithResolvers<void> | undefined;

  /** `spentUsd`: what is spent of it already. Throws `invalid_argument` for amounts that are none. */
  constructor(usd: number, { spentUsd = 0 }: { readonly spentUsd?: number } = {}) {
    assertNumber("The shared budget", usd, { least: 0, isAbove: true });
    assertNumber("spentUsd", spentUsd, { least: 0 });
    this.usd = usd;
    this.#spentUsd = spentUsd;
  }

  /** US dollars spent by now; infinite once an answer of unknown price is among them. */
  get spentUsd(): number {
    return this.#spentUsd;
  }

  /** US dollars neither spent nor set aside for requests at work. */
  get leftUsd(): number {
    return this.usd - this.#spentUsd - this.#reserved.reduce((sum, each) => sum + each.usd, 0);
  }

  /** True while money is set aside for requests at work. */
  get isAtWork(): boolean {
    return this.#reserved.length > 0;
  }

  /** Resolves when a request gives back what was set aside for it. */
  get released(): Promise<void> {
    return (this.#released ??= Promise.withResolvers<void>()).promise;
  }

  /** Sets money aside. The function gives it back, and takes what was spent instead. */
  setAside(usd: number): (spentUsd: number) => void {
    const reserve = { usd };
    this.#reserved.push(reserve);
    return (spentUsd) => {
      const at = this.#reserved.indexOf(reserve);
      if (at === -1) return;
      this.#reserved.splice(at, 1);
      this.#spentUsd += spentUsd;
      this.#released?.resolve();
      this.#released = undefined;
    };
  }
}

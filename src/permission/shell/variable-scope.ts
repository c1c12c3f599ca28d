import type { VariableValues } from "./shell-command.ts";

/** Variables that a command line, or one that it is part of, sets. */
export interface KnownVariables {
  /** Whether the line sets it. */
  has(name: string): boolean;
  /** Its possible values; `undefined` when they are not known. */
  get(name: string): VariableValues;
}

/** The variables of a nested line before those of the line around it. Costs nothing to make, however many there are. */
export class VariableScope implements KnownVariables {
  readonly #own: ReadonlyMap<string, VariableValues>;
  readonly #outer: KnownVariables | undefined;

  constructor(own: ReadonlyMap<string, VariableValues>, outer?: KnownVariables) {
    this.#own = own;
    this.#outer = outer;
  }

  has(name: string): boolean {
    return this.#own.has(name) || this.#outer?.has(name) === true;
  }

  get(name: string): VariableValues {
    return this.#own.has(name) ? this.#own.get(name) : this.#outer?.get(name);
  }
}

import type { JournalEntry } from "../../../core/agent/entries.ts";

/**
 * Tells which subagent wrote an entry: the innermost one whose `run_start` bears its scope or one above it.
 * Feed it every entry once, in order.
 */
export class ScopeOwners {
  readonly #names = new Map<string, string>();
  readonly #known = new Map<string, string>();

  /** The scope of the subagent; empty for the conversation itself and the phases of its pattern. */
  of({ type, scope = "", ...entry }: JournalEntry): string {
    if (scope === "") return "";
    if (type === "run_start") {
      this.#names.set(scope, "agent" in entry && typeof entry.agent === "string" ? entry.agent : scope);
      // Scopes below it may have been asked for before, by entries that came too early.
      this.#known.clear();
    }
    const known = this.#known.get(scope);
    if (known !== undefined) return known;
    let owner = scope;
    while (owner !== "" && !this.#names.has(owner))
      owner = owner.slice(0, Math.max(0, owner.lastIndexOf("/")));
    this.#known.set(scope, owner);
    return owner;
  }

  /** The name of a subagent by what {@link of} gave; `undefined` for the conversation. */
  nameOf(owner: string): string | undefined {
    return owner === "" ? undefined : (this.#names.get(owner) ?? owner);
  }
}

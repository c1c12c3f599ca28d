import type { Redaction } from "../core/base/text.ts";
import { JournalTail } from "../session/journal-tail.ts";
import { type SessionSummary, summarizeSession } from "../session/read-session.ts";
import { FactsFold, type SessionFacts } from "./session-facts.ts";

/** The facts of a session file, read incrementally. Secrets are removed from its title. */
export class FactsReader {
  readonly #path: string;
  readonly #redaction: Redaction | undefined;
  #summary: SessionSummary | undefined;
  #tail: JournalTail;
  #fold: FactsFold | undefined;

  constructor(path: string, redaction: Redaction | undefined) {
    this.#path = path;
    this.#redaction = redaction;
    this.#tail = new JournalTail(path);
  }

  read(): SessionFacts {
    try {
      // The file of a session is empty until its first record.
      if (this.#summary?.header === undefined) this.#summary = summarizeSession(this.#path);
      this.#fold ??= this.#newFold();
      for (const entry of this.#tail.read())
        if (entry === "reset") this.#fold = this.#newFold();
        else this.#fold.apply(entry);
    } catch {
      // A list shows what is known of a session; opening it reports the problem.
      this.#tail = new JournalTail(this.#path);
      this.#fold = undefined;
    }
    return (this.#fold ?? this.#newFold()).facts(this.#summary?.header?.cwd ?? "");
  }

  #newFold(): FactsFold {
    const { header } = this.#summary ?? {};
    const copiedAt = header?.forkedFrom === undefined ? Number.NEGATIVE_INFINITY : header.time;
    return new FactsFold(this.#redaction, ({ time }) => time <= copiedAt);
  }
}

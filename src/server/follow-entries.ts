import type { JournalEntry } from "../core/agent/entries.ts";
import type { LoopTurns } from "./loop-turns.ts";
import type { PassingEvent, StreamItem } from "./server-api.ts";
import type { EntrySource, EntryTail } from "./session-host.ts";

/** Items that go out together, while there are many. */
const BATCH = 64;
/** Items that may wait for a reader; one that is slower is cut, and goes on behind its last entry. */
const MAX_WAITING = 10_000;
/** Characters that may wait behind others: some entries have megabytes, and subagents pass theirs on. */
const MAX_WAITING_CHARS = 32_000_000;

/** Options of {@link followEntries}. */
export interface FollowEntriesOptions {
  /** Id of the entry to go on behind. Default: from the first. */
  readonly after: string | undefined;
  readonly signal: AbortSignal;
  /** Each batch of stored entries, and what the session waits for, is read in a turn of its own. */
  readonly turns: LoopTurns;
}

/**
 * The entries of a session behind `after` and what passes between them, in batches, until the signal. Ends
 * also where a reader is so slow that too much would have to wait for it. Throws for what cannot be read.
 */
export async function* followEntries(
  source: EntrySource,
  { after, signal, turns }: FollowEntriesOptions,
): AsyncGenerator<readonly StreamItem[], void, undefined> {
  const tail = source.tail(after);
  const waiting = new WaitingItems(tail);
  let isLive = false;
  const stop = source.listen((passing) => {
    // What passes while older entries are sent is told by what it comes to.
    if (isLive && !waiting.hear(passing)) stop();
  });
  const onAbort = (): void => waiting.wake();
  signal.addEventListener("abort", onAbort);
  try {
    for (let found = true; found && !signal.aborted; ) {
      found = false;
      await turns.next();
      for (const entry of tail.read()) {
        found = true;
        if (waiting.add(itemOf(entry)) < BATCH) continue;
        yield waiting.take();
        await turns.next();
        if (signal.aborted) return;
      }
    }
    waiting.readOn();
    isLive = true;
    await turns.next();
    for (const passing of await source.current()) waiting.add({ type: "passing", passing });
    waiting.add({ type: "passing", passing: { type: "ready" } });
    while (!signal.aborted && !waiting.isOver) {
      const batch = waiting.take();
      if (batch.length > 0) yield batch;
      else await waiting.more();
    }
  } finally {
    stop();
    signal.removeEventListener("abort", onAbort);
  }
}

/** The items that wait for one reader. */
class WaitingItems {
  readonly #tail: EntryTail;
  #items: StreamItem[] = [];
  /** Of the items that wait, but for the first one, which nobody had to wait for. */
  #chars = 0;
  #end: { readonly fault?: unknown } | undefined;
  #wake = (): void => undefined;

  constructor(tail: EntryTail) {
    this.#tail = tail;
  }

  /** True when nothing more comes. Throws the fault that ended it, if there was one. */
  get isOver(): boolean {
    if (this.#end !== undefined && "fault" in this.#end) throw this.#end.fault;
    return this.#end !== undefined;
  }

  /** Returns how many wait. */
  add(item: StreamItem): number {
    return this.#items.push(item);
  }

  readOn(): void {
    for (const entry of this.#tail.read()) this.add(itemOf(entry));
  }

  take(): readonly StreamItem[] {
    const items = this.#items;
    this.#items = [];
    this.#chars = 0;
    return items;
  }

  /** Takes in what happens; false when it is over. Whoever tells has more to do: a fault is this reader's. */
  hear(passing: PassingEvent | "entries"): boolean {
    const before = Math.max(1, this.#items.length);
    try {
      if (passing === "entries") this.readOn();
      else this.add({ type: "passing", passing });
      for (const item of this.#items.slice(before)) this.#chars += JSON.stringify(item).length;
      if (this.#items.length > MAX_WAITING || this.#chars > MAX_WAITING_CHARS) this.#end = {};
    } catch (fault) {
      this.#end = { fault };
    }
    if (this.#end !== undefined) this.#items = [];
    this.#wake();
    return this.#end === undefined;
  }

  wake(): void {
    this.#wake();
  }

  /** Resolves when there is something new, or nothing more comes. */
  more(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }
}

function itemOf(entry: JournalEntry | "reset"): StreamItem {
  return entry === "reset" ? { type: "passing", passing: { type: "reset" } } : { type: "entry", entry };
}

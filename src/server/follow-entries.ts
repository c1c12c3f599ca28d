import type { PassingEvent, StreamItem } from "./server-api.ts";
import type { EntrySource } from "./session-host.ts";

/** Items that go out together, while there are many. */
const BATCH = 64;
/** Items that may wait for a reader; one that is slower is cut, and goes on behind its last entry. */
const MAX_WAITING = 10_000;

/**
 * The entries of a session behind `after` and what passes between them, in batches, until the signal. Ends
 * also where a reader is so slow that too much would have to wait for it. Throws for what cannot be read.
 */
export async function* followEntries(
  source: EntrySource,
  after: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<readonly StreamItem[], void, undefined> {
  const tail = source.tail(after);
  let waiting: StreamItem[] = [];
  let isLive = false;
  /** The end of it, and why, where it did not just end. */
  let end: { readonly fault?: unknown } | undefined;
  let wake = (): void => undefined;
  const add = (passing: PassingEvent): number => waiting.push({ type: "passing", passing });
  const take = (): void => {
    for (const entry of tail.read())
      if (entry === "reset") add({ type: "reset" });
      else waiting.push({ type: "entry", entry });
  };
  const hear = (passing: PassingEvent | "entries"): void => {
    try {
      if (passing === "entries") take();
      else add(passing);
      if (waiting.length <= MAX_WAITING) return;
      end = {};
    } catch (fault) {
      // It is this reader's alone: whoever tells has more to do.
      end = { fault };
    }
    waiting = [];
    stop();
  };
  const stop = source.listen((passing) => {
    // What passes while older entries are sent is told by what it comes to.
    if (!isLive) return;
    hear(passing);
    wake();
  });
  const onAbort = (): void => wake();
  signal.addEventListener("abort", onAbort);
  try {
    for (let found = true; found && !signal.aborted; ) {
      found = false;
      for (const entry of tail.read()) {
        found = true;
        if (entry === "reset") add({ type: "reset" });
        else waiting.push({ type: "entry", entry });
        if (waiting.length < BATCH) continue;
        yield waiting;
        waiting = [];
        if (signal.aborted) return;
      }
    }
    take();
    isLive = true;
    const passing = await source.current();
    for (const each of passing) add(each);
    add({ type: "ready" });
    while (!signal.aborted && end === undefined) {
      const batch = waiting;
      waiting = [];
      if (batch.length > 0) yield batch;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
    if (end !== undefined && "fault" in end) throw end.fault;
  } finally {
    stop();
    signal.removeEventListener("abort", onAbort);
  }
}

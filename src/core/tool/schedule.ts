import type { ToolAccess } from "./tool.ts";

/** A task that has not ended. `ended` never rejects. */
interface OpenTask {
  readonly access: ToolAccess;
  readonly ended: Promise<void>;
}

/**
 * Runs tasks as they come, at most `limit` at a time. Tasks whose {@link ToolAccess} conflicts run one after
 * the other in the order they came; the rest overlap. A task waits for earlier ones only: no deadlock.
 */
export class Scheduler {
  readonly #limit: number;
  readonly #open = new Set<OpenTask>();
  #running = 0;
  /** Tasks for which there was no room, in order. */
  readonly #waiting: (() => void)[] = [];

  constructor(limit: number) {
    this.#limit = Math.max(1, limit);
  }

  /** Settles as `task` does, once it could run. A task that rejects holds nothing up. */
  run<T>(access: ToolAccess, task: () => Promise<T>): Promise<T> {
    const before = [...this.#open].filter((earlier) => conflict(earlier.access, access));
    const done =
      before.length === 0
        ? this.#withRoom(task)
        : Promise.all(before.map(({ ended }) => ended)).then(() => this.#withRoom(task));
    const forget = (): void => void this.#open.delete(own);
    const own: OpenTask = { access, ended: done.then(forget, forget) };
    this.#open.add(own);
    return done;
  }

  async #withRoom<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limit) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}

function conflict(one: ToolAccess, other: ToolAccess): boolean {
  if (one === "exclusive" || other === "exclusive") return true;
  return writesTo(one, other) || writesTo(other, one);
}

/** True when the writer writes what the other touches. */
function writesTo(writer: ToolAccess, other: ToolAccess): boolean {
  if (typeof writer === "string" || other === "none" || other === "exclusive") return false;
  const { write = [] } = writer;
  if (other === "read_all") return write.length > 0;
  return write.some((place) => other.read?.includes(place) || other.write?.includes(place));
}

import type { ToolAccess } from "./tool.ts";

/**
 * Runs tasks as they come, at most `limit` at a time. Tasks whose {@link ToolAccess} conflicts run one after
 * the other in the order they came; the rest overlap. A task waits only for earlier ones, so there is no
 * deadlock.
 */
export class Scheduler {
  readonly #order = new AccessOrder();
  readonly #slots: Slots;

  constructor(limit: number) {
    this.#slots = new Slots(limit);
  }

  /** Settles as `task` does, once it could run. A task that rejects holds nothing up. */
  run<T>(access: ToolAccess, task: () => Promise<T>): Promise<T> {
    const before = this.#order.conflictsOf(access);
    const done =
      before.length === 0 ? this.#slots.run(task) : Promise.all(before).then(() => this.#slots.run(task));
    this.#order.add(
      access,
      done.then(
        () => undefined,
        () => undefined,
      ),
    );
    return done;
  }
}

/** Remembers, for tasks in order, which earlier ones a new one must wait for. */
class AccessOrder {
  #all: Promise<void>[] = [];
  #exclusive: Promise<void> | undefined;
  #readAll: Promise<void>[] = [];
  #writes: Promise<void>[] = [];
  readonly #lastWrite = new Map<string, Promise<void>>();
  readonly #readsSince = new Map<string, Promise<void>[]>();

  conflictsOf(access: ToolAccess): readonly Promise<void>[] {
    if (access === "exclusive") return this.#all;
    const before: Promise<void>[] = this.#exclusive === undefined ? [] : [this.#exclusive];
    if (access === "none") return before;
    if (access === "read_all") return [...before, ...this.#writes];
    for (const key of access.read ?? []) before.push(...present(this.#lastWrite.get(key)));
    for (const key of access.write ?? []) {
      before.push(
        ...present(this.#lastWrite.get(key)),
        ...(this.#readsSince.get(key) ?? []),
        ...this.#readAll,
      );
    }
    return before;
  }

  add(access: ToolAccess, done: Promise<void>): void {
    if (access === "exclusive") {
      this.#all = [done];
      this.#exclusive = done;
      this.#readAll = [];
      this.#writes = [];
      this.#lastWrite.clear();
      this.#readsSince.clear();
      return;
    }
    this.#all.push(done);
    if (access === "read_all") this.#readAll.push(done);
    if (typeof access === "string") return;
    for (const key of access.read ?? []) {
      const reads = this.#readsSince.get(key);
      if (reads === undefined) this.#readsSince.set(key, [done]);
      else reads.push(done);
    }
    for (const key of access.write ?? []) {
      this.#lastWrite.set(key, done);
      this.#readsSince.delete(key);
      this.#writes.push(done);
    }
  }
}

/** Lets at most `limit` tasks run; the others wait in order. */
class Slots {
  readonly #limit: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  #nextWaiting = 0;

  constructor(limit: number) {
    this.#limit = Math.max(1, limit);
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limit) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await task();
    } finally {
      const next = this.#waiting[this.#nextWaiting];
      if (next === undefined) this.#running--;
      else {
        this.#nextWaiting++;
        next();
      }
    }
  }
}

function present<T>(value: T | undefined): readonly T[] {
  return value === undefined ? [] : [value];
}

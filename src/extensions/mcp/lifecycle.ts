/**
 * Where the life of a server stands. `idle`: not started yet · `starting`: its tools are not known yet ·
 * `ready` · `waiting`: it failed and is started again after a while, or by the next call · `failed`: it is
 * started again by the next call alone · `needs_login` · `stopped`: for good.
 */
export type Lifecycle =
  | { readonly state: "idle" | "stopped" }
  | { readonly state: "ready"; readonly attempt: number }
  /** `attempt`: starts since it last answered something, this one included. */
  | { readonly state: "starting"; readonly attempt: number }
  | { readonly state: "waiting"; readonly attempt: number; readonly reason: string }
  | { readonly state: "failed"; readonly reason: string }
  | { readonly state: "needs_login"; readonly reason: string };

/** An event of a server. */
export type LifecycleEvent =
  /** Somebody needs it: the first request of a run, or a call. */
  | { readonly type: "wanted" }
  | { readonly type: "opened" }
  | { readonly type: "open_failed"; readonly reason: string; readonly login: boolean }
  /** The connection broke. `served`: it had answered something. */
  | { readonly type: "lost"; readonly reason: string; readonly served: boolean }
  /** The wait before the next start is over. */
  | { readonly type: "due" }
  | { readonly type: "stop" };

/** Starts in a row that are made without being asked for. */
export const MAX_ATTEMPTS = 5;

/** The life of a server after an event; the same object where the event changes nothing. */
export function afterEvent(life: Lifecycle, event: LifecycleEvent): Lifecycle {
  if (life.state === "stopped") return life;
  switch (event.type) {
    case "stop":
      return { state: "stopped" };
    case "wanted":
      return wanted(life);
    case "opened":
      return life.state === "starting" ? { ...life, state: "ready" } : life;
    case "open_failed":
      if (life.state !== "starting") return life;
      return event.login ? { state: "needs_login", reason: event.reason } : again(life.attempt, event.reason);
    case "lost":
      return life.state === "ready" ? again(event.served ? 0 : life.attempt, event.reason) : life;
    case "due":
      return life.state === "waiting" ? { state: "starting", attempt: life.attempt + 1 } : life;
  }
}

function wanted(life: Lifecycle): Lifecycle {
  switch (life.state) {
    case "idle":
    case "failed":
    case "needs_login":
      return { state: "starting", attempt: 1 };
    case "waiting":
      return { state: "starting", attempt: life.attempt + 1 };
    default:
      return life;
  }
}

function again(attempt: number, reason: string): Lifecycle {
  return attempt >= MAX_ATTEMPTS ? { state: "failed", reason } : { state: "waiting", attempt, reason };
}

import type { GateRequest } from "../../core/agent/ports.ts";
import type { PermittedCall, PermittedPlaces } from "../../tools/files/permitted-path.ts";

/** Calls whose place is kept until they run; the oldest go first. One without its place is refused. */
const MAX_PLACES = 50_000;

/**
 * Tells file tools what the permission layer knows: the place each call was judged by, so that a link that is
 * swapped between judging and opening changes nothing, and the files that searching does not show.
 */
export class FileGuard {
  readonly #places = new Map<string, string>();
  #hides: ((path: string) => boolean) | undefined;

  note({ callId, sessionId, input }: GateRequest, place: string): void {
    const path = input["path"];
    this.#places.set(keyOf({ callId, sessionId, path: typeof path === "string" ? path : "." }), place);
    for (const oldest of this.#places.keys()) {
      if (this.#places.size <= MAX_PLACES) return;
      this.#places.delete(oldest);
    }
  }

  /** Says which files a search leaves out, by absolute path. */
  hide(hides: (path: string) => boolean): void {
    this.#hides = hides;
  }

  /** The place a call was judged by, once. */
  readonly permitted: PermittedPlaces = (call) => {
    const key = keyOf(call);
    const place = this.#places.get(key);
    this.#places.delete(key);
    return place;
  };

  /** True when a file is left out of what a search shows. Before anything was judged: every file. */
  readonly excludes = (path: string): boolean => this.#hides?.(path) ?? true;
}

function keyOf({ callId, sessionId, path }: PermittedCall): string {
  return `${sessionId}\0${callId}\0${path}`;
}

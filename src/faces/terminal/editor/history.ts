import { textOf } from "../../../core/message/message.ts";
import { readSession } from "../../../session/read-session.ts";
import type { SessionStore } from "../../../session/session-store.ts";

const MAX_SESSIONS = 30;
const MAX_MESSAGES = 1_000;
const MAX_BYTES = 8_000_000;

/** Earlier inputs, newest last: in this session, and before in this folder, read when first needed. */
export class History {
  readonly #load: () => readonly string[];
  readonly #own: string[] = [];
  #earlier: readonly string[] | undefined;

  /** `load` gives what sessions before this one have, the newest last. */
  constructor(load: () => readonly string[]) {
    this.#load = load;
  }

  add(text: string): void {
    if (text.trim() !== "" && this.#own.at(-1) !== text) this.#own.push(text);
  }

  /** All of it, each text once at its newest place. */
  all(): readonly string[] {
    this.#earlier ??= this.#load();
    return [...new Set([...this.#earlier, ...this.#own].toReversed())].reverse();
  }
}

/** The inputs of a folder's newest sessions, newest last. Unreadable sessions are passed over. */
export function typedBefore(store: SessionStore, cwd: string): readonly string[] {
  const texts: string[][] = [];
  let bytes = 0;
  let count = 0;
  for (const { path, bytes: size } of store.list(cwd).slice(0, MAX_SESSIONS)) {
    bytes += size;
    if (bytes > MAX_BYTES || count >= MAX_MESSAGES) break;
    const typed = typedIn(path);
    count += typed.length;
    texts.unshift([...typed]);
  }
  return texts.flat();
}

function typedIn(path: string): readonly string[] {
  try {
    return readSession(path).entries.flatMap((entry) => {
      if (entry.type !== "user_message" || (entry.source ?? "input") !== "input") return [];
      const text = textOf(entry.message.content, "\n").trim();
      return text === "" ? [] : [text];
    });
  } catch {
    return [];
  }
}

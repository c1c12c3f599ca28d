import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { ReplyFaults } from "./server-step.ts";
import type { Utterance } from "./speech.ts";

/** How a body is sent. */
export interface SendOptions extends ReplyFaults {
  /** Aborted when the client or the server is gone: everything that waits then ends. */
  readonly signal: AbortSignal;
}

/**
 * Sends the parts of a body with the faults asked for. Without faults everything up to the next pause is one
 * write. Resolves when the body has ended, was cut, or nobody is there any more; a stall lasts until then.
 */
export async function sendBody(
  response: ServerResponse,
  parts: Iterable<Utterance | Uint8Array>,
  options: SendOptions,
): Promise<void> {
  const outlet = new Outlet(response, options);
  for (const part of parts) {
    if (outlet.closed) return;
    if (typeof part === "string") outlet.buffer(Buffer.from(part, "utf8"));
    else if (part instanceof Uint8Array) outlet.buffer(Buffer.from(part));
    else {
      await outlet.flush();
      if (!outlet.closed && !(await settled(part.until, options.signal))) {
        response.socket?.destroy();
        return;
      }
    }
  }
  await outlet.flush();
  if (!outlet.closed) response.end();
}

/** Resolves when `until` settles or on abort; to false when it rejects: the request fails there. */
async function settled(until: Promise<unknown> | AbortSignal, signal: AbortSignal): Promise<boolean> {
  const settles: Promise<unknown> = until instanceof AbortSignal ? gone(until) : until;
  const done = settles.then(
    () => true,
    () => false,
  );
  return Promise.race([done, gone(signal).then(() => true)]);
}

/** Resolves when nobody is there any more. */
export async function gone(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

class Outlet {
  readonly #response: ServerResponse;
  readonly #options: SendOptions;
  readonly #gone: Promise<void>;
  #waiting: Buffer[] = [];
  #sent = 0;
  #pieces = 0;
  #stopped = false;

  constructor(response: ServerResponse, options: SendOptions) {
    this.#response = response;
    this.#options = options;
    this.#gone = gone(options.signal);
  }

  /** True when nothing more can or shall be sent. */
  get closed(): boolean {
    return this.#stopped || this.#options.signal.aborted;
  }

  buffer(bytes: Buffer): void {
    this.#waiting.push(bytes);
  }

  async flush(): Promise<void> {
    let rest = Buffer.concat(this.#waiting);
    this.#waiting = [];
    const end = this.#lastByte();
    while (rest.length > 0 && !this.closed) {
      const size = Math.min(this.#pieceSize(), rest.length, end - this.#sent);
      if (size > 0) await this.#write(rest.subarray(0, size));
      rest = rest.subarray(size);
      this.#sent += size;
      if (this.#sent >= end) await this.#stop();
    }
    if (end === 0 && !this.closed) await this.#stop();
  }

  #lastByte(): number {
    const { cut, stall } = this.#options;
    return Math.min(...[cut, stall].map((bound) => (typeof bound === "number" ? bound : Infinity)));
  }

  #pieceSize(): number {
    const { splitBytes } = this.#options;
    if (splitBytes === undefined) return Number.POSITIVE_INFINITY;
    if (typeof splitBytes === "number") return Math.max(1, splitBytes);
    return Math.max(1, splitBytes[Math.min(this.#pieces, splitBytes.length - 1)] ?? 1);
  }

  async #write(piece: Buffer): Promise<void> {
    const { dripMs, splitBytes, signal } = this.#options;
    // A drip that is aborted has nothing more to send.
    if (this.#pieces > 0 && dripMs !== undefined)
      await sleep(dripMs, undefined, { signal }).catch(() => undefined);
    this.#pieces += 1;
    await Promise.race([new Promise((resolve) => this.#response.write(piece, resolve)), this.#gone]);
    // Lets each piece arrive on its own.
    if (splitBytes !== undefined) await new Promise((resolve) => setImmediate(resolve));
  }

  async #stop(): Promise<void> {
    this.#stopped = true;
    this.#response.flushHeaders();
    if (typeof this.#options.cut === "number" && this.#sent >= this.#options.cut) {
      this.#response.socket?.destroy();
      return;
    }
    await this.#gone;
  }
}

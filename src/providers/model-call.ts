import type { Clock } from "../core/base/async.ts";
import { type NanoAgentError, toNanoAgentError } from "../core/base/errors.ts";
import { EventStream } from "../core/base/event-stream.ts";
import type { ModelCallOptions, ModelRequest, StreamPart } from "../core/model/model.ts";
import { abortedError } from "./http-error.ts";
import type { RatePause } from "./rate-pause.ts";
import type { Recovery, RequestRecovery } from "./recovery.ts";

/** How one model is asked, whatever its requests are sent with. */
export interface CallSetup<Encoded> {
  readonly recovery: Recovery;
  readonly encode: (request: ModelRequest) => Encoded | Promise<Encoded>;
  /** Sends a request and hands its answer to `emit`. */
  readonly send: (request: Encoded, emit: (part: StreamPart) => void) => SentRequest;
  /** Shared by what counts against the same limit. Default: requests do not wait for each other. */
  readonly pause?: RatePause;
}

/** A request under way. */
export interface SentRequest {
  /** Resolves with the end of the answer, rejects when there is none. Of no interest after `cancel`. */
  readonly done: Promise<void>;
  readonly cancel: () => void;
  /** Holds the answer back (`true`) or lets it flow again. */
  readonly hold: (held: boolean) => void;
}

/** Milliseconds over which requests that waited for one limit are spread. */
const MAX_SPREAD_MS = 1_000;

/** Without a reason of its own an abort makes an exception with a stack trace. */
const STOPPED = "stopped";

/** One request to a model with all attempts it takes. Begins when its parts are read. */
export class ModelCall<Encoded> {
  readonly parts: EventStream<StreamPart> = new EventStream<StreamPart>({
    onStart: () => void this.#run(),
    onCancel: () => this.#end(),
    onPressure: (isHigh) => this.#sent?.hold(isHigh),
  });
  readonly #setup: CallSetup<Encoded>;
  readonly #recovery: RequestRecovery;
  readonly #signal: AbortSignal | undefined;
  #sent: SentRequest | undefined;
  #wait: AbortController | undefined;
  #hasEnded = false;

  constructor(setup: CallSetup<Encoded>, request: ModelRequest, { signal }: ModelCallOptions) {
    this.#setup = setup;
    this.#recovery = setup.recovery.begin(request);
    this.#signal = signal;
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    if (this.#signal?.aborted === true) {
      this.#onAbort();
      return;
    }
    this.#signal?.addEventListener("abort", this.#onAbort, { once: true });
    try {
      let encoded: Encoded | undefined;
      while (!this.#hasEnded) {
        encoded ??= await this.#setup.encode(this.#recovery.request);
        const waitMs = this.#pausedMs();
        if (waitMs > 0) await this.#sleep(waitMs);
        if (this.#hasEnded) return;
        const error = await this.#attempt(encoded);
        if (this.#hasEnded) return;
        if (error === undefined) {
          this.#recovery.answered();
          this.#end();
          this.parts.end();
        } else if (await this.#recover(error)) encoded = undefined;
      }
    } catch (error) {
      this.#fail(toNanoAgentError(error));
    }
  }

  /** Why the attempt failed; undefined when the answer is complete. */
  async #attempt(encoded: Encoded): Promise<NanoAgentError | undefined> {
    this.#sent = this.#setup.send(encoded, (part) => this.parts.push(part));
    try {
      await this.#sent.done;
      return undefined;
    } catch (error) {
      return toNanoAgentError(error);
    }
  }

  /** Waits before the next attempt; throws where there is none. True: encode the request again. */
  async #recover(error: NanoAgentError): Promise<boolean> {
    const { pause, recovery } = this.#setup;
    const next = this.#recovery.after(error);
    if (next.type === "fail") throw next.error;
    const { delayMs, retry, isChanged } = next;
    if (retry !== undefined) {
      this.parts.discard();
      this.parts.push(retry);
      if (error.code === "rate_limit") pause?.holdUntil(recovery.options.clock.elapsed() + delayMs);
    }
    if (!isChanged) await this.#sleep(delayMs);
    return isChanged;
  }

  /** How long another request's limit holds, a little longer: they shall not all come back together. */
  #pausedMs(): number {
    const { pause, recovery } = this.#setup;
    const { clock, random } = recovery.options;
    const remainingMs = pause?.remainingMs(clock.elapsed()) ?? 0;
    if (remainingMs <= 0) return 0;
    return remainingMs + Math.floor(random() * Math.min(MAX_SPREAD_MS, remainingMs));
  }

  #sleep(delayMs: number): Promise<void> {
    const { clock }: { readonly clock: Clock } = this.#setup.recovery.options;
    this.#wait ??= new AbortController();
    return clock.sleep(delayMs, this.#wait.signal);
  }

  readonly #onAbort = (): void => {
    this.#fail(abortedError(this.#signal));
  };

  /** The reader gets the error at once, instead of what it has not read yet. */
  #fail(error: NanoAgentError): void {
    if (this.#hasEnded) return;
    this.#end();
    this.parts.discard();
    this.parts.fail(error);
  }

  #end(): void {
    this.#hasEnded = true;
    this.#wait?.abort(STOPPED);
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#sent?.cancel();
  }
}

import type { Connection, OpenAnswer, Post } from "./http.ts";

/** The part of the Fetch standard a transport needs. `globalThis.fetch` has this type. */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>;

/** Options of {@link Fetch}. */
export interface FetchInit {
  readonly method: "POST";
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly signal: AbortSignal;
  readonly redirect: "manual";
}

/** Posts with a `fetch` function: for runtimes without `node:http`, and for callers who bring their own. */
export function postWithFetch(fetch: Fetch): Post {
  return (url, { headers, body }): Connection => {
    const controller = new AbortController();
    const { signal } = controller;
    const ask = async (): Promise<OpenAnswer> =>
      new FetchAnswer(
        await fetch(url, { method: "POST", headers: { ...headers }, body, signal, redirect: "manual" }),
      );
    return { answer: ask(), close: () => controller.abort() };
  };
}

class FetchAnswer implements OpenAnswer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | undefined };
  readonly #body: ReadableStream<Uint8Array> | null;
  /** Closed while the flow is stopped. */
  #gate: PromiseWithResolvers<void> | undefined;

  constructor(response: Response) {
    this.status = response.status;
    this.headers = Object.fromEntries(response.headers);
    this.#body = response.body;
  }

  readonly read = async (onText: (text: string) => void): Promise<void> => {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const reader = this.#body?.getReader();
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      await this.#gate?.promise;
      const text = done ? decoder.decode() : decoder.decode(value, { stream: true });
      if (text !== "") onText(text);
      if (done) return;
    }
  };

  readonly pause = (): void => {
    this.#gate ??= Promise.withResolvers<void>();
  };

  readonly resume = (): void => {
    this.#gate?.resolve();
    this.#gate = undefined;
  };

  readonly discard = (): void => {
    this.#body?.cancel().catch(() => undefined);
  };
}

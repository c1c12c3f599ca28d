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
    const init: FetchInit = { method: "POST", headers: { ...headers }, body, signal, redirect: "manual" };
    // A function of the caller may throw at once, which is a rejection too.
    const answer = (async () => openAnswer(await fetch(url, init)))();
    return { answer, close: () => controller.abort() };
  };
}

function openAnswer({ status, headers, body }: Response): OpenAnswer {
  /** Closed while the flow is stopped. */
  let gate: PromiseWithResolvers<void> | undefined;
  return {
    status,
    headers: Object.fromEntries(headers),
    read: async (onText) => {
      const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
      const reader = body?.getReader();
      for (;;) {
        const { done, value } = (await reader?.read()) ?? { done: true };
        await gate?.promise;
        const text = done ? decoder.decode() : decoder.decode(value, { stream: true });
        if (text !== "") onText(text);
        if (done) return;
      }
    },
    pause: () => {
      gate ??= Promise.withResolvers<void>();
    },
    resume: () => {
      gate?.resolve();
      gate = undefined;
    },
    discard: () => void body?.cancel().catch(() => undefined),
  };
}

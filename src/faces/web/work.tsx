import { type Context, createContext, type VNode } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { errorMessage } from "../../core/base/errors.ts";
import { createReader, type Reader, ServerProblem } from "../../server/create-reader.ts";
import { terminalText } from "../../view/safe-text.ts";
import { useWords, type Words } from "./language/language.ts";
import { Button } from "./text/controls.tsx";

/** The outcome of a requested action, shown until dismissed. */
export interface Announcement {
  readonly kind: "good" | "bad";
  readonly text: string;
}

/** Runs actions and stores their outcome for display. */
export interface Work {
  readonly announcement: Announcement | undefined;
  readonly announce: (text: string) => void;
  readonly dismiss: () => void;
  /** Resolves to `undefined` if it failed; the failure is shown. */
  readonly attempt: <T>(work: () => Promise<T>) => Promise<T | undefined>;
}

/** The message to show for an error. After a restart the server has another token. */
export function pageErrorText(error: unknown, words: Words): string {
  return error instanceof ServerProblem && error.status === 401 ? words.signInFirst : errorMessage(error);
}

export function useWork(): Work {
  const words = useWords();
  const [announcement, setSaid] = useState<Announcement>();
  return {
    announcement,
    announce: (text) => setSaid({ kind: "good", text }),
    dismiss: () => setSaid(undefined),
    attempt: async (work) => {
      setSaid(undefined);
      try {
        return await work();
      } catch (error) {
        setSaid({ kind: "bad", text: pageErrorText(error, words) });
        return undefined;
      }
    },
  };
}

/** Grey bars in place of loading content; visible only if it takes a while. */
export function Skeleton(): VNode {
  const words = useWords();
  return (
    <div class="bones" role="status" aria-busy="true">
      <span class="hide">{words.loading}</span>
      {Array.from({ length: 6 }, (_none, at) => (
        <i key={at} aria-hidden="true" />
      ))}
    </div>
  );
}

export function WorkLine({ work: { announcement, dismiss } }: { readonly work: Work }): VNode | null {
  const words = useWords();
  if (announcement === undefined) return null;
  return (
    <p class={`note ${announcement.kind}`} role={announcement.kind === "bad" ? "alert" : "status"}>
      <span>
        {announcement.kind === "bad" && <strong>{words.failed}: </strong>}
        {terminalText(announcement.text)}
      </span>
      <Button look="bare small" onClick={dismiss}>
        {words.dismiss}
      </Button>
    </p>
  );
}

export const ReaderContext: Context<Reader> = createContext(createReader());

export function useReader(): Reader {
  return useContext(ReaderContext);
}

/** The newest loaded value; reloaded when the inputs change. A failure keeps the old value. */
export function useLoaded<T>(load: () => Promise<T | undefined>, inputs: readonly unknown[]): T | undefined {
  const [value, setValue] = useState<T>();
  useEffect(() => {
    let isUnmounted = false;
    const accept = (loaded?: T): void => {
      if (!isUnmounted && loaded !== undefined) setValue(loaded);
    };
    load().then(accept, () => accept());
    return () => {
      isUnmounted = true;
    };
  }, inputs);
  return value;
}

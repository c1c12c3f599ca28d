import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { useWords } from "../language/language.ts";

/** Puts a text on the clipboard. */
export function CopyButton({ text }: { readonly text: string }): VNode {
  const words = useWords();
  const [copied, setCopied] = useState("");
  const copy = (): void => {
    void navigator.clipboard.writeText(text).then(
      () => setCopied(text),
      () => setCopied(""),
    );
  };
  return (
    <button type="button" class="quiet" onClick={copy}>
      {copied === text && text !== "" ? words.copied : words.copy}
    </button>
  );
}

import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { useWords } from "../language/language.ts";

/** Puts a text on the clipboard. */
export function CopyButton({
  text,
  look = "btn small",
  children,
}: {
  readonly text: string;
  readonly look?: string;
  /** Default: the word for it. */
  readonly children?: ComponentChildren;
}): VNode {
  const words = useWords();
  const [copied, setCopied] = useState("");
  const copy = (): void => {
    void navigator.clipboard.writeText(text).then(
      () => setCopied(text),
      () => setCopied(""),
    );
  };
  return (
    <button type="button" class={look} onClick={copy}>
      {copied === text && text !== "" ? words.copied : (children ?? words.copy)}
    </button>
  );
}

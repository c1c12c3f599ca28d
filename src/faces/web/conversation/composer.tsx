import type { VNode } from "preact";
import { useId, useState } from "preact/hooks";
import { useWords } from "../language/language.ts";

/** Options of {@link Composer}. */
interface ComposerProps {
  readonly isRunning: boolean;
  /** Resolves to false when the message did not go out: it stays in the box. */
  readonly send: (text: string, when: "now" | "after") => Promise<boolean>;
  readonly stop: () => void;
}

/** The box that messages are written in. */
export function Composer({ isRunning, send, stop }: ComposerProps): VNode {
  const words = useWords();
  const id = useId();
  const [text, setText] = useState("");
  const [isSending, setSending] = useState(false);
  const submit = async (when: "now" | "after"): Promise<void> => {
    if (text.trim() === "" || isSending) return;
    setSending(true);
    if (await send(text, when)) setText("");
    setSending(false);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // Enter that chooses a word of an input method is none of ours.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void submit(event.altKey ? "after" : "now");
  };
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    void submit("now");
  };
  return (
    <form class="composer" onSubmit={onSubmit}>
      <label for={id} class="hidden">
        {words.message}
      </label>
      <textarea
        id={id}
        rows={Math.min(10, Math.max(2, text.split("\n").length))}
        value={text}
        placeholder={isRunning ? words.messageHintRunning : words.messageHint}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div class="row">
        <button type="submit" class="primary" disabled={isSending || text.trim() === ""}>
          {isRunning ? words.sendNow : words.send}
        </button>
        {isRunning && (
          <>
            <button
              type="button"
              disabled={isSending || text.trim() === ""}
              onClick={() => void submit("after")}
            >
              {words.sendAfter}
            </button>
            <button type="button" class="danger" onClick={stop}>
              {words.stop}
            </button>
          </>
        )}
      </div>
    </form>
  );
}

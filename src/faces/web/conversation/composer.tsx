import type { VNode } from "preact";
import { useId, useState } from "preact/hooks";
import { useWords } from "../language/language.ts";
import { Icon } from "../text/icons.tsx";

/** Options of {@link Composer}. */
interface ComposerProps {
  readonly isRunning: boolean;
  /** The text so far. It outlives a question that takes the place of the box. */
  readonly draft: string;
  readonly change: (draft: string) => void;
  /** Undefined where it is not known. */
  readonly mode: string | undefined;
  readonly model: string;
  /** Resolves to false when the message did not go out: it stays in the box. */
  readonly send: (text: string, when: "now" | "after") => Promise<boolean>;
  readonly stop: () => void;
}

/** The box that messages are written in. */
export function Composer({ isRunning, draft, change, mode, model, send, stop }: ComposerProps): VNode {
  const words = useWords();
  const id = useId();
  const [isSending, setSending] = useState(false);
  const submit = async (when: "now" | "after"): Promise<void> => {
    if (draft.trim() === "" || isSending) return;
    setSending(true);
    if (await send(draft, when)) change("");
    setSending(false);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && isRunning && draft === "") return stop();
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
    <form class={`box${mode === "bypass" ? " bypass" : ""}`} onSubmit={onSubmit}>
      <label for={id} class="hide">
        {words.message}
      </label>
      <textarea
        id={id}
        rows={Math.min(10, draft.split("\n").length)}
        value={draft}
        placeholder={isRunning ? words.messageHintRunning : words.messageHint}
        onInput={({ currentTarget }) => change(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div class="row">
        {mode !== undefined && (
          <span class={`chip mode-${mode}`}>
            <Icon name="auto" />
            {mode}
          </span>
        )}
        <span class="chip cut">{model}</span>
        <span class="end">
          <span class="hint">{isRunning ? words.enterSteers : words.enterSends}</span>
          <Buttons
            isRunning={isRunning}
            canSend={draft.trim() !== "" && !isSending}
            queue={() => void submit("after")}
            stop={stop}
          />
        </span>
      </div>
    </form>
  );
}

interface ButtonsProps {
  readonly isRunning: boolean;
  readonly canSend: boolean;
  readonly queue: () => void;
  readonly stop: () => void;
}

function Buttons({ isRunning, canSend, queue, stop }: ButtonsProps): VNode {
  const words = useWords();
  return (
    <>
      {isRunning && canSend && (
        <button type="button" class="btn" onClick={queue}>
          {words.afterThis}
        </button>
      )}
      {isRunning && (
        <button type="button" class="btn" onClick={stop}>
          {words.stop}
          <kbd>Esc</kbd>
        </button>
      )}
      {(!isRunning || canSend) && (
        <button type="submit" class="btn main round" aria-label={words.send} disabled={!canSend}>
          <Icon name="send" />
        </button>
      )}
    </>
  );
}

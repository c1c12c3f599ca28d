import type { Control } from "./commands/control.ts";

/** Takes queued messages back into the input, one at a time. The queue waits until the last one is back. */
export class QueueEditing {
  readonly #control: Pick<Control, "screen" | "say">;
  /** The place of the message in the input, and whether the queue was held before. */
  #edited: { readonly from: number; readonly wasHeld: boolean } | undefined;

  constructor(control: Pick<Control, "screen" | "say">) {
    this.#control = control;
  }

  /** Adds what is written to the queue, an edited message at its own place. */
  add(text: string): void {
    const { session, input } = this.#control.screen;
    if (session === undefined) return;
    const { queue } = session;
    const id = queue.add(text, input.images);
    const at = this.#edited?.from;
    if (at !== undefined && at < queue.items.length - 1) queue.move(id, at);
  }

  /**
   * Takes the message of that number back, else the one before that which is being edited, else the newest.
   * Without a queue it is the newest message the run has not seen yet.
   */
  takeBack(number: number | undefined): void {
    const { session, input } = this.#control.screen;
    if (session === undefined) return;
    const from = this.#edited?.from;
    if (from !== undefined) this.#putBack();
    const { items } = session.queue;
    const newest = session.view.steering.at(-1);
    if (number === undefined && items.length === 0 && newest !== undefined) {
      this.#putBack();
      const text = session.unsteer(newest.id);
      if (text !== undefined) input.replace(text);
      return;
    }
    const message = items[number === undefined ? Math.max(0, (from ?? items.length) - 1) : number - 1];
    const missing = number === undefined ? "Nothing is queued." : `There is no queued message ${number}.`;
    if (message !== undefined) {
      this.edit(message.id);
      return;
    }
    this.end();
    this.#control.say(missing, "muted");
  }

  edit(id: string): void {
    const { session, input } = this.#control.screen;
    if (session === undefined) return;
    const { queue } = session;
    const wasHeld = this.#edited?.wasHeld ?? queue.held;
    queue.hold();
    this.#putBack();
    const from = queue.items.findIndex((each) => each.id === id);
    const images = queue.items[from]?.images;
    input.replace(queue.remove(id), images);
    this.#edited = { from, wasHeld };
    this.#control.say("alt+enter puts it back into the queue, enter sends it now", "muted");
  }

  /** The text in the input waits again, whatever it says. */
  #putBack(): void {
    const { input } = this.#control.screen;
    const draft = input.whole.trim();
    if (draft !== "") this.add(draft);
    input.clear();
  }

  /** The queue stays held also after the message that is being edited. */
  keepHeld(): void {
    if (this.#edited !== undefined) this.#edited = { ...this.#edited, wasHeld: true };
  }

  /** The message is back, sent or dropped: the queue is as it was before. */
  end(): void {
    const edited = this.#edited;
    if (edited === undefined) return;
    this.#edited = undefined;
    const { screen } = this.#control;
    screen.clearHint();
    if (!edited.wasHeld) screen.session?.queue.release();
  }
}

import type { MessageQueue } from "../../../view/message-queue.ts";
import type { ViewContext } from "../paint/line.ts";
import { line } from "../paint/line.ts";
import type { TerminalEvent } from "../tty/key.ts";
import { keysLine, listLines } from "../views/list-lines.ts";
import type { Panel, PanelRows } from "./panel.ts";

/** Options of a {@link QueuePanel}. */
export interface QueuePanelOptions {
  readonly queue: MessageQueue;
  readonly onEdit: (id: string) => void;
  readonly onClose: () => void;
}

/** The waiting messages, to be edited, dropped, moved or sent one by one. */
export class QueuePanel implements Panel {
  readonly #options: QueuePanelOptions;
  #marked = 0;

  constructor(options: QueuePanelOptions) {
    this.#options = options;
  }

  draw({ width, marks }: ViewContext, maxRows: number): PanelRows {
    const { items, held } = this.#options.queue;
    this.#marked = Math.max(0, Math.min(this.#marked, items.length - 1));
    const head = line(held ? "Queued messages (held)" : "Queued messages", { role: "accent", bold: true });
    const list = items.map(({ text }, index) => ({ label: `${index + 1}. ${text.slice(0, 500)}` }));
    const rows = listLines(list, { marked: this.#marked, maxRows: Math.max(1, maxRows - 2), width, marks });
    const hold = held ? "r resumes" : "h holds them";
    const keys = ["enter edits", "d drops", "s sends now", "alt+up/down moves", hold, "esc closes"];
    return {
      rows: [
        head,
        ...(items.length === 0 ? [line("  none left", { role: "muted" })] : rows),
        keysLine(keys, { marks, width }),
      ],
    };
  }

  handle(event: TerminalEvent): void {
    const { queue } = this.#options;
    const item = queue.items[this.#marked];
    if (event.type === "text" && item !== undefined) this.#letter(event.text, item.id);
    if (event.type === "key") this.#key(event.key, item?.id);
  }

  #key(key: string, id: string | undefined): void {
    const { queue, onEdit, onClose } = this.#options;
    if (key === "up") this.#marked--;
    else if (key === "down") this.#marked++;
    else if ((key === "alt+up" || key === "alt+down") && id !== undefined) {
      const to = this.#marked + (key === "alt+up" ? -1 : 1);
      if (to < 0 || to >= queue.items.length) return;
      queue.move(id, to);
      this.#marked = to;
    } else if (key === "enter" && id !== undefined) onEdit(id);
    else if (key === "escape" || key === "ctrl+c" || key === "alt+q") onClose();
  }

  #letter(text: string, id: string): void {
    const { queue, onEdit } = this.#options;
    if (text === "e") onEdit(id);
    else if (text === "d") queue.remove(id);
    else if (text === "s") queue.sendNow(id);
    else if (text === "h") queue.hold();
    else if (text === "r") queue.release();
  }
}

import { defined } from "../../../core/base/defined.ts";
import { textLines } from "../paint/line.ts";
import type { PickerItem } from "../panels/picker.ts";
import { agoText } from "../views/amounts.ts";
import { type Control, type KnownSession, recordsIn } from "./control.ts";

/** The ways on after {@link openSessions}. */
interface AfterChoice {
  readonly onOpened?: () => void;
  readonly onCancel?: () => void;
}

/** Lets a person choose a session of the folder to go on with; typing also searches what was said in them. */
export function openSessions(control: Control, after: AfterChoice = {}): void {
  const { now } = control.screen.context;
  const current = control.screen.session?.id;
  const items = control.ports.listSessions().filter(({ id }) => id !== current);
  if (items.length === 0) {
    control.say("There is no other session of this folder.", "muted");
    after.onCancel?.();
    return;
  }
  control.pick({
    title: "Go on with",
    items: items.map((session) => itemOf(session, now)),
    search: async (query) => found(await control.ports.command(["sessions", "find", query, "--json"]), now),
    onChoose: (id) =>
      control.run(
        control
          .switchTo(() => control.ports.openSession({ id }), true)
          .then(after.onOpened, (error: unknown) => {
            // Nothing is open yet: choose again.
            if (control.screen.session === undefined) openSessions(control, after);
            throw error;
          }),
      ),
    ...defined({ onCancel: after.onCancel }),
  });
}

function itemOf({ id, title, changedAt }: KnownSession, now: number): PickerItem<string> {
  return {
    label: title.slice(0, 200),
    note: agoText(now - changedAt),
    value: id,
    preview: () => [...textLines(title).slice(0, 4), id],
  };
}

function found(json: string, now: number): readonly PickerItem<string>[] {
  return recordsIn(json).flatMap((row) => {
    if (typeof row["session_id"] !== "string") return [];
    const excerpt = typeof row["excerpt"] === "string" ? row["excerpt"] : "";
    const changed = typeof row["changed_at"] === "string" ? Date.parse(row["changed_at"]) : now;
    return [
      {
        label: excerpt === "" ? row["session_id"] : excerpt,
        note: agoText(now - changed),
        value: row["session_id"],
      },
    ];
  });
}

/** Lets a person search what was typed before, in this session and the ones before it in this folder. */
export function openHistorySearch(control: Control): void {
  const { input } = control.screen;
  const texts = input.past();
  if (texts.length === 0) {
    control.say("Nothing was typed before in this folder.", "muted");
    return;
  }
  control.pick({
    title: "Typed before",
    items: texts.toReversed().map((text) => ({
      label: text.slice(0, 500),
      value: text,
      preview: () => textLines(text).slice(0, 4),
    })),
    onChoose: (text) => {
      input.replace(text);
      control.screen.draw();
    },
  });
}

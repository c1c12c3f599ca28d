import { isRecord, safeParse } from "../../../core/base/json.ts";
import { textLines } from "../paint/line.ts";
import { Picker, type PickerItem } from "../panels/picker.ts";
import { agoText } from "../views/amounts.ts";
import type { Control, KnownSession } from "./control.ts";

/** Lets a person choose a session of the folder to go on with; typing also searches what was said in them. */
export function openSessions(control: Control, onCancel: () => void = () => undefined): void {
  const { now } = control.screen.context;
  const current = control.screen.session?.id;
  const items = control.ports.listSessions().filter(({ id }) => id !== current);
  if (items.length === 0) {
    control.say("There is no other session of this folder.", "muted");
    onCancel();
    return;
  }
  const panel: Picker<string> = new Picker({
    title: "Go on with",
    items: items.map((session) => itemOf(session, now)),
    search: async (query) => found(await control.ports.command(["sessions", "find", query, "--json"]), now),
    onChange: () => control.screen.draw(),
    onChoose: (id) => {
      control.screen.close(panel);
      control.run(control.switchTo(() => control.ports.openSession({ id }), true));
    },
    onCancel: () => {
      control.screen.close(panel);
      onCancel();
    },
  });
  control.screen.open(panel);
}

function itemOf({ id, title, changedAt }: KnownSession, now: number): PickerItem<string> {
  return {
    label: title.slice(0, 200),
    note: agoText(now - changedAt),
    value: id,
    preview: () => [...textLines(title).slice(0, 4), id],
  };
}

/** What a search in the sessions gave. */
function found(json: string, now: number): readonly PickerItem<string>[] {
  const parsed = safeParse(json);
  const rows: readonly unknown[] = parsed.ok && Array.isArray(parsed.value) ? parsed.value : [];
  return rows.flatMap((row) => {
    if (!isRecord(row) || typeof row["session_id"] !== "string") return [];
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

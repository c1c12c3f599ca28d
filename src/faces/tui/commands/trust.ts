import type { Notice } from "../../../app/coding-session/notice.ts";
import { counted } from "../../../core/base/text.ts";
import { withHiddenShown } from "../../../permission/hidden-characters.ts";
import { Picker } from "../panels/picker.ts";
import type { Control } from "./control.ts";

type Untrusted = Extract<Notice, { code: "untrusted" }>;

/** Asks whether what a project brings may act; each thing it brings is in the list with what it would do. */
export function offerTrust(control: Control, { items }: Untrusted): void {
  const rows = items.map(
    ({ kind, path, does }) => `${kind.replace("_", " ")}  ${withHiddenShown(path)}  ${withHiddenShown(does)}`,
  );
  const panel: Picker<"no" | "yes" | "look"> = new Picker<"no" | "yes" | "look">({
    title: `This project brings ${counted(items.length, "thing")} that can act`,
    items: [
      {
        label: "Leave them out",
        note: "they do nothing; nano-agent trust changes that",
        value: "no",
        preview: () => rows,
      },
      { label: "Trust them", note: "exactly this content in this folder", value: "yes", preview: () => rows },
      ...(rows.length > 5 ? [{ label: "See all of them", value: "look" as const, preview: () => rows }] : []),
    ],
    onChoose: (choice) => {
      if (choice === "look") {
        control.print(rows);
        return;
      }
      control.screen.close(panel);
      if (choice === "yes") control.run(approve(control));
    },
    onCancel: () => control.screen.close(panel),
  });
  control.screen.open(panel);
}

async function approve(control: Control): Promise<void> {
  await control.ports.command(["trust", "--yes"]);
  await control.switchTo(() => control.ports.openSession(), false);
  control.say("trusted: it counts from now on", "good");
}

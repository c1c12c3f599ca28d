import { isRecord, safeParse } from "../../../core/base/json.ts";
import { type Line, line, span, textLines, wrapLine } from "../paint/line.ts";
import { Pager } from "../panels/pager.ts";
import type { ViewContext } from "../views/view-context.ts";
import type { Control } from "./control.ts";
import { MODE_WORDS } from "./mode-words.ts";

/** Shows what runs without asking, what is asked and what is refused: the mode, the rules of the settings, the built-in ones. */
export async function showPermissions(control: Control): Promise<void> {
  const { command } = control.ports;
  const [settings, builtIn] = await Promise.all([
    command(["config", "--json"]),
    command(["permissions", "defaults"]),
  ]);
  const mode = control.screen.session?.view.mode ?? "default";
  const rules = rulesIn(settings);
  const panel: Pager = new Pager({
    title: "Permissions",
    rows: (context) => [
      ...fact(
        { label: "mode", text: `${mode}: ${MODE_WORDS[mode] ?? ""}`, note: "/mode changes it" },
        context,
      ),
      ...rules.flatMap((rule) => fact(rule, context)),
      ...(rules.length === 0
        ? fact({ label: "rules", text: "none of your own", note: "Always allow adds one" }, context)
        : []),
      ...fact(
        { label: "", text: "", note: "Those of the command line and of this session hold too." },
        context,
      ),
      [],
      line("Built in", { role: "heading", bold: true }),
      ...textLines(builtIn.trimEnd()).flatMap((row) =>
        wrapLine(line(row), { width: context.width, first: line("  ") }),
      ),
    ],
    onClose: () => control.screen.close(panel),
  });
  control.screen.open(panel);
}

interface Fact {
  readonly label: string;
  readonly text: string;
  readonly note: string;
}

function fact({ label, text, note }: Fact, { width }: ViewContext): readonly Line[] {
  const role = label === "deny" ? "bad" : label === "ask" ? "warning" : label === "allow" ? "good" : "muted";
  const gap = text === "" ? "" : "  ";
  return wrapLine([span(text), span(`${gap}${note}`, { role: "muted" })], {
    width,
    first: line(`  ${label.padEnd(6)}`, { role }),
  });
}

/** The rules that the settings name, each with its file. */
function rulesIn(json: string): readonly Fact[] {
  const parsed = safeParse(json);
  const rows: readonly unknown[] = parsed.ok && Array.isArray(parsed.value) ? parsed.value : [];
  return rows.flatMap((row) => {
    if (!isRecord(row) || typeof row["key"] !== "string" || !Array.isArray(row["value"])) return [];
    const label = LABELS[row["key"]];
    const rules: readonly unknown[] = row["value"];
    return label === undefined
      ? []
      : rules.map((rule) => ({ label, text: String(rule), note: String(row["source"]) }));
  });
}

const LABELS: { readonly [key: string]: string | undefined } = {
  "permissions.allow": "allow",
  "permissions.ask": "ask",
  "permissions.deny": "deny",
  allowedTools: "allow",
  disallowedTools: "deny",
};

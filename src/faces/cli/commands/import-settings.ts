import type { ImportReport } from "../../../coding/import-settings/apply-import.ts";
import {
  IMPORT_SOURCES,
  type ImportItem,
  type ImportPlan,
  type ImportSource,
} from "../../../coding/import-settings/import-plan.ts";
import { userPaths } from "../../../coding/settings/paths.ts";
import { misuse } from "../../../core/base/errors.ts";
import { withHiddenShown } from "../../../permission/hidden-characters.ts";
import { variable } from "../../../system/env.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import { agrees } from "../answer-questions.ts";
import type { CommandCall } from "../command-call.ts";
import { type CommandContext, lookOf, say } from "../command-context.ts";
import { wrapText } from "../wrap-text.ts";

const KINDS: { readonly [K in ImportItem["kind"]]: string } = {
  setting: "Settings",
  rule: "Permission rules",
  hook: "Hooks",
  mcp_server: "MCP servers",
  command: "Commands",
  agent: "Subagents",
  skill: "Skills",
};

/**
 * `nano-agent import-settings AGENT`: shows what can be taken over of another agent's settings and what
 * cannot, and does it once the person agrees (`--yes`: at once). What is there already stays. Exit 3 when
 * there was something to take over and nobody agreed.
 */
export async function importSettings(context: CommandContext, call: CommandCall): Promise<number> {
  const { stdout, environment } = context;
  const source = sourceOf(call);
  const [json, yes] = [call.has("--json"), call.has("--yes")];
  if (yes && variable(environment, "NANO_AGENT_CALL") !== undefined)
    throw misuse("nano-agent import-settings --yes is for people: an agent cannot decide for its user.");
  const paths = userPaths(environment);
  const { applyImport, readForeign } = await import("../../../coding/import-settings/import-parts.ts");
  const plan = await readForeign(source, { home: paths.home, environment });
  const count = plan.items.length;
  if (!json) stdout.write(planText(plan, source, lookOf(context).width));
  const isAgreed = count > 0 && (yes || (!json && (await agrees(context, count, "Take {} over?"))));
  const report = isAgreed ? await applyImport(plan, paths) : undefined;
  if (json) stdout.write(`${JSON.stringify({ ...plan, ...report })}\n`);
  else if (report !== undefined) stdout.write(reportText(report, paths.configFolder));
  if (count === 0 || isAgreed || json) return EXIT.done;
  say(context, `nothing was taken over. To do it: nano-agent import-settings ${source} --yes`);
  return EXIT.refused;
}

function sourceOf({ words: [name = ""] }: CommandCall): ImportSource {
  const source = IMPORT_SOURCES.find((each) => each === name);
  if (source !== undefined) return source;
  throw misuse(`import-settings ${JSON.stringify(name)}: name one of ${IMPORT_SOURCES.join(", ")}.`);
}

function planText({ items, left, notes }: ImportPlan, source: string, width: number | undefined): string {
  const lines: string[] = [];
  const add = (text: string, indent: string): number =>
    lines.push(
      ...wrapText(terminalLine(withHiddenShown(text), 2_000), { width, first: indent, rest: `${indent}  ` }),
    );
  if (items.length === 0) add(`There is nothing to take over from ${source}.`, "");
  for (const [kind, title] of Object.entries(KINDS)) {
    const own = items.filter((item) => item.kind === kind);
    if (own.length > 0) add(`${title} (${own.length}):`, "");
    for (const { does, from } of own) add(`${does}  (${from})`, "  ");
  }
  if (left.length > 0) add(`Not taken over (${left.length}):`, "");
  for (const { what, why, from } of left) add(`${what}: ${why.replace(/\.$/, "")}  (${from})`, "  ");
  for (const note of notes) add(note, "");
  return `${lines.join("\n")}\n`;
}

function reportText({ taken, skipped }: ImportReport, folder: string): string {
  const lines = skipped.map(({ item, why }) => `  left as it is: ${item.does}: ${why}`);
  const done = `Took ${taken.length} over into ${folder}.`;
  return `${[done, ...lines].map((line) => terminalLine(line, 1_000)).join("\n")}\n`;
}

import type { ProjectRule } from "../src/coding/settings/project-rules.ts";
import { type DescribedSchema, jsonSchema } from "../src/coding/settings/setting.ts";
import { PLACED_SETTINGS, SETTINGS } from "../src/coding/settings/setting-table.ts";
import { formOf } from "../src/core/base/check.ts";

/** Where the reference of settings is kept. */
export const SETTINGS_REFERENCE = "docs/settings.md";

/** The reference of settings as Markdown, made from the table the program itself uses. */
export function settingsReference(): string {
  return [
    "# Settings",
    "",
    "<!-- Made by scripts/gen-docs.ts from the program's own table: change that. -->",
    "",
    "What a config file may say: `~/.config/nano-agent/config.json` for you, `nano-agent.json` or `.nano-agent/config.json` for a project. Both",
    "are JSON with comments. What is nearer wins: an option of the command line, then a variable, then the project's files, then yours. Lists of",
    "rules, tools that never run and what commands may see add up instead. `nano-agent config` shows what holds and where it comes from.",
    "",
    "**Project** says what a project's file may do with a setting, and with what is in it: it *counts* where it can only tighten, *up to",
    "yours* where it is a limit, *once [trusted](permissions.md#trusting-a-project)* where it can act, and *never* where it is your own alone.",
    "",
    "| setting | takes | default | also | project | |",
    "|---|---|---|---|---|---|",
    ...PLACED_SETTINGS.filter(({ setting }) => setting.help !== undefined).map(({ path, setting }) =>
      row(path, setting),
    ),
    "",
  ].join("\n");
}

function row(path: readonly string[], setting: DescribedSchema): string {
  const { flag, variable, help = "" } = setting;
  const also = [flag === undefined ? undefined : `--${flag.name}`, variable];
  const named = also.filter((name) => name !== undefined).map((name) => `\`${name}\``);
  const top = path.length === 1 ? projectWords(path[0] as keyof typeof SETTINGS) : "";
  const cells = [
    `\`${path.join(".")}\``,
    formOf(jsonSchema(setting)),
    setting.default ?? "",
    named.join(" "),
    top,
    help,
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function projectWords(name: keyof typeof SETTINGS): string {
  const project: ProjectRule<never> = SETTINGS[name].project;
  if (typeof project === "string") return project;
  return "words" in project ? project.words : "once trusted";
}

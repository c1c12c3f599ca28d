import type { ProjectRule } from "../src/coding/settings/project-rules.ts";
import { type DescribedSchema, jsonSchema } from "../src/coding/settings/setting.ts";
import { PLACED_SETTINGS, SETTINGS } from "../src/coding/settings/setting-table.ts";
import { describeSchema } from "../src/core/base/check-options.ts";

/** Where the reference of settings is kept. */
export const SETTINGS_REFERENCE = "docs/settings.md";

/** The reference of settings as Markdown, made from the table the program itself uses. */
export function settingsReference(): string {
  return [
    "# Settings",
    "",
    "<!-- Made by scripts/gen-docs.ts from the program's own table: change that. -->",
    "",
    "Your settings are in `~/.config/nano-agent/config.json`, those of a project in `nano-agent.json` or `.nano-agent/config.json`. All are JSON with",
    "comments. Command-line options override variables, variables override the project's files, and these override yours. Lists of rules, of",
    "disallowed tools and of variables for commands are combined instead. `nano-agent config` shows the effective settings and their sources.",
    "",
    "The column **project** says when a project's file may use a setting: *counts* if it can only restrict, *up to yours* for a limit,",
    "*once [trusted](permissions.md#trusting-a-project)* if it can act, *never* if the setting is yours alone.",
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
    describeSchema(jsonSchema(setting)),
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

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { EXIT_MEANINGS } from "../src/app/coding-session/exit-code.ts";
import { COMMANDS } from "../src/faces/cli/commands.ts";
import { FLAGS } from "../src/faces/cli/flags.ts";
import { flagForm, groups } from "../src/faces/cli/help.ts";

/** Where the reference is kept. */
export const CLI_REFERENCE = "docs/cli.md";

/** The reference of the command line as Markdown, made from the tables the program itself uses. */
export function cliReference(): string {
  const lines = [
    "# Command line",
    "",
    "<!-- Made by scripts/gen-cli-docs.ts from the program's own tables: change those. -->",
    "",
    "```text",
    "nano-agent [options] [prompt…]",
    "nano-agent <command> [options]",
    "```",
    "",
    "Text that is piped in stands before the prompt, between `<stdin>` marks; without a prompt it is the prompt. A prompt of one word",
    "`@FILE` is read from the file, `-` alone reads it from standard input, `--` ends the options.",
  ];
  for (const group of groups()) {
    lines.push("", `## ${group}`, "", "| option | |", "|---|---|");
    for (const flag of FLAGS.filter((each) => each.group === group))
      lines.push(`| \`${escaped(flagForm(flag))}\` | ${escaped(flag.help)} |`);
  }
  lines.push("", "## Commands", "", "| command | |", "|---|---|");
  for (const { name, usage, help } of COMMANDS)
    lines.push(`| \`nano-agent ${escaped(`${name} ${usage}`.trim())}\` | ${escaped(help)} |`);
  lines.push("", "## Exit codes", "", "| code | meaning |", "|---|---|");
  for (const [code, meaning] of EXIT_MEANINGS) lines.push(`| ${code} | ${meaning} |`);
  return `${lines.join("\n")}\n`;
}

function escaped(text: string): string {
  return text.replaceAll("|", "\\|");
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Not made yet: stale.
    return "";
  }
}

if (import.meta.main) {
  const path = join(process.cwd(), CLI_REFERENCE);
  const text = cliReference();
  if (!process.argv.includes("--check")) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  } else if (readOrEmpty(path) !== text) {
    console.error(`${CLI_REFERENCE} is stale: run node scripts/gen-cli-docs.ts`);
    process.exitCode = 1;
  }
}

import { COMMANDS } from "../src/faces/cli/commands.ts";
import { groups } from "../src/faces/cli/help.ts";
import { actionForm, FLAGS } from "../src/faces/cli/read-options.ts";
import { EXIT_MEANINGS } from "../src/view/exit-code.ts";

/** Where the reference is kept. */
export const CLI_REFERENCE = "docs/cli.md";
/** Where the manual page is kept. */
export const MANUAL_PAGE = "docs/nano-agent.1";

const STDIN =
  "Piped text is prepended to the prompt, between <stdin> marks; without a prompt it is the prompt. A prompt of one word @FILE is read from the file, - alone reads it from standard input, -- ends the options.";

/** The reference of the command line as Markdown, made from the tables the program itself uses. */
export function cliReference(): string {
  const lines = [
    "# Command line",
    "",
    "<!-- Made by scripts/gen-docs.ts from the program's own tables: change those. -->",
    "",
    "```text",
    "nano-agent [options] [prompt…]",
    "nano-agent <command> [options]",
    "```",
    "",
    STDIN.replaceAll(/<stdin>|@FILE|(?<= )-{1,2}(?= )/g, "`$&`"),
  ];
  for (const group of groups()) {
    lines.push("", `## ${group}`, "", "| option | |", "|---|---|");
    for (const flag of FLAGS.filter((each) => each.group === group))
      lines.push(`| \`${escaped(flag.form)}\` | ${escaped(flag.help)} |`);
  }
  lines.push("", "## Commands");
  for (const command of COMMANDS) {
    lines.push("", `### ${command.name}`, "", command.help);
    for (const action of command.actions) {
      lines.push("", "```text", `nano-agent ${actionForm(command, action)}`, "```", "", action.help);
      if (action.options.length === 0) continue;
      lines.push("", "| option | |", "|---|---|");
      for (const option of action.options)
        lines.push(`| \`${escaped(option.form)}\` | ${escaped(option.help)} |`);
    }
  }
  lines.push("", "## Exit codes", "", "| code | meaning |", "|---|---|");
  for (const [code, meaning] of EXIT_MEANINGS) lines.push(`| ${code} | ${meaning} |`);
  return `${lines.join("\n")}\n`;
}

/** The same as a manual page for `man`. */
export function manualPage(): string {
  const lines = [
    '.\\" Made by scripts/gen-docs.ts from the tables of the program: change those.',
    '.TH NANO-AGENT 1 "" "nano-agent" "User Commands"',
    ".SH NAME",
    "nano-agent \\- an agent that reads, edits and runs what a task needs",
    ".SH SYNOPSIS",
    ".B nano-agent",
    "[options] [prompt...]",
    ".br",
    ".B nano-agent",
    "<command> [options]",
    ".SH DESCRIPTION",
    roff(STDIN),
  ];
  for (const group of groups()) {
    lines.push(`.SH ${group.toUpperCase()}`);
    for (const flag of FLAGS.filter((each) => each.group === group))
      lines.push(".TP", `.B ${roff(flag.form)}`, roff(flag.help));
  }
  lines.push(".SH COMMANDS");
  for (const command of COMMANDS) {
    lines.push(`.SS ${command.name}`, roff(command.help));
    for (const action of command.actions) {
      lines.push(".TP", `.B nano\\-agent ${roff(actionForm(command, action))}`, roff(action.help));
      for (const option of action.options)
        lines.push(".RS", ".TP", `.B ${roff(option.form)}`, roff(option.help), ".RE");
    }
  }
  lines.push(".SH EXIT STATUS");
  for (const [code, meaning] of EXIT_MEANINGS) lines.push(".TP", `.B ${code}`, roff(meaning));
  return `${lines.join("\n")}\n`;
}

/** Text without what `man` would take for a request or an escape. */
function roff(text: string): string {
  const plain = text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll("…", "...");
  return /^[.']/.test(plain) ? `\\&${plain}` : plain;
}

function escaped(text: string): string {
  return text.replaceAll("|", "\\|");
}

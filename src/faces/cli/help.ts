import { EXIT_MEANINGS } from "../../view/exit-code.ts";
import { wrapText } from "./command-context.ts";
import { COMMANDS } from "./commands.ts";
import { actionForm, type CommandSpec, FLAGS, type FlagSpec } from "./read-options.ts";

/** The text of `--help`, generated from the tables of options, commands and exit codes. */
export function helpText(): string {
  const lines = [
    "nano-agent [options]                open the screen, where you and the agent talk",
    "nano-agent [options] prompt…        the same, with the prompt sent first",
    "nano-agent -p [options] prompt…     run the prompt without a screen, print the answer and end",
    "nano-agent <command> [options]",
    "",
    "Text that is piped in stands before the prompt; without a prompt it is the prompt. A prompt of one word @FILE is read from",
    "the file, - reads it from standard input, -- ends the options.",
  ];
  for (const group of groups()) {
    lines.push("", `${group}:`);
    for (const flag of FLAGS.filter((each) => each.group === group)) lines.push(...row(flag.form, flag.help));
  }
  lines.push("", "Commands (nano-agent <command> --help says more):");
  for (const { name, help } of COMMANDS) lines.push(...row(name, help));
  lines.push("", "Exit codes:");
  for (const [code, meaning] of EXIT_MEANINGS) lines.push(`  ${String(code).padStart(3)}  ${meaning}`);
  return `${lines.join("\n")}\n`;
}

/** The text of `nano-agent <command> --help`: every action with its options, or only `action`. */
export function commandHelp(command: CommandSpec, action?: string): string {
  const named = command.actions.filter(({ name }) => name === action);
  const lines = [`nano-agent ${command.name}: ${command.help}`];
  for (const each of named.length > 0 ? named : command.actions) {
    lines.push(
      "",
      `nano-agent ${actionForm(command, each)}`,
      ...wrapText(each.help, { width: WIDTH, first: "    " }),
    );
    for (const option of each.options) lines.push(...row(option.form, option.help));
    if (each.runOptions === true)
      lines.push(...row("options of a run", "See nano-agent --help: Run, Permission, Limits."));
  }
  return `${lines.join("\n")}\n`;
}

export function groups(): readonly FlagSpec["group"][] {
  return [...new Set(FLAGS.map((flag) => flag.group))];
}

const WIDTH = 100;

function row(form: string, help: string): readonly string[] {
  return [`  ${form}`, ...wrapText(help, { width: WIDTH, first: "        " })];
}

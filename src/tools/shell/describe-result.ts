import type { OutputText } from "./output-buffer.ts";
import type { ProcessInfo } from "./process-table.ts";
import type { ShellExit } from "./shell-process.ts";

const MAX_LISTED = 10;
const MAX_COMMAND = 120;

export function describeExit(exit: ShellExit): string {
  if (exit.signal !== null) return `killed by ${exit.signal}`;
  const code = exit.code ?? 0;
  // A shell reports the signal that ended its last command as 128 + number.
  const name = code > 128 ? SHELL_SIGNALS[code - 128] : undefined;
  return name === undefined ? `exit code ${code}` : `exit code ${code} (${name})`;
}

const SHELL_SIGNALS: { readonly [signal: number]: string } = {
  2: "SIGINT",
  6: "SIGABRT",
  9: "SIGKILL",
  11: "SIGSEGV",
  13: "SIGPIPE",
  15: "SIGTERM",
};

export function describeDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** The output on lines of its own, `(no output)` if it is empty. */
export function outputLines(output: OutputText, empty = "(no output)"): string {
  if (output.text === "") return `${empty}\n`;
  return output.text.endsWith("\n") ? output.text : `${output.text}\n`;
}

export function listProcesses(processes: readonly ProcessInfo[]): string {
  const lines = processes.slice(0, MAX_LISTED).map(({ pid, command }) => `  ${pid} ${shorten(command)}`);
  if (processes.length > MAX_LISTED) lines.push(`  and ${processes.length - MAX_LISTED} more`);
  return lines.join("\n");
}

export function shorten(command: string): string {
  const line = command.replace(/\s+/g, " ").trim();
  return (line.length <= MAX_COMMAND ? line : `${line.slice(0, MAX_COMMAND - 1)}…`).toWellFormed();
}

import { currentFolder } from "../../coding/settings/paths.ts";
import { loadSettings, type Settings } from "../../coding/settings/settings.ts";
import type { Environment } from "../../system/env.ts";
import { terminalLine } from "../../view/safe-text.ts";
import type { ParsedOptions } from "./read-options.ts";
import type { Output } from "./standard-output.ts";
import { type Style, styleFor } from "./style.ts";
import { widthOf, wrapText } from "./wrap-text.ts";

/** Environment and outputs of a command. */
export interface CommandContext {
  readonly environment: Environment;
  readonly stdout: Output;
  readonly stderr: Output;
}

/** Says something to a person on standard error, on one line or on as many as a terminal takes. */
export function say({ stderr }: Pick<CommandContext, "stderr">, message: string): void {
  const text = terminalLine(message, 2_000);
  const lines = wrapText(text, { width: widthOf(stderr, 2), first: "nano-agent: ", rest: "  " });
  stderr.write(`${lines.join("\n")}\n`);
}

/** Writes what a command found: with `--json` a value for programs, else a text for people. */
export function answer(
  { stdout }: Pick<CommandContext, "stdout">,
  call: Pick<ParsedOptions, "has">,
  { json, text }: { readonly json: () => unknown; readonly text: () => string },
): void {
  stdout.write(call.has("--json") ? `${JSON.stringify(json())}\n` : text());
}

/** How lines for people look on standard output. */
export interface Look {
  readonly style: Style;
  /** Columns; undefined where lines are left as long as they are. */
  readonly width: number | undefined;
}

/** How lines for people look on standard output. */
export function lookOf({ stdout, environment }: CommandContext): Look {
  return { style: styleFor(stdout.isTerminal, environment), width: widthOf(stdout, 1) };
}

/** The settings that hold in the working folder. */
export function settingsHere({ environment }: CommandContext): Promise<Settings> {
  return loadSettings({ environment, cwd: currentFolder() });
}

/** A time for a list, as the clock on the wall showed it: `2026-01-31 12:34`. */
export function listTime(time: number): string {
  const local = time - new Date(time).getTimezoneOffset() * 60_000;
  return new Date(local).toISOString().slice(0, 16).replace("T", " ");
}

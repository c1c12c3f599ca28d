import { onTestFinished } from "vitest";
import { tempFolder } from "../temp-folder.ts";
import { type ScreenProgram, type ScreenProgramOptions, startScreen } from "./screen-program.ts";
import {
  BIN,
  type ProgramInTerminal,
  startInTerminal,
  type TerminalProgramOptions,
} from "./terminal-program.ts";

/** How a shell starts the built command. */
export const COMMAND: string = `${process.execPath} ${BIN}`;

/** How a program is started in a terminal; its folders are temporary ones where none are named. */
type WithFolders<T extends TerminalProgramOptions> = Omit<T, "cwd" | "home"> &
  Partial<Pick<T, "cwd" | "home">>;

/** Starts a program in a terminal of its own; it is killed with the test. */
export function openTerminal(options: WithFolders<TerminalProgramOptions> = {}): ProgramInTerminal {
  const program = startInTerminal(withFolders(options));
  onTestFinished(program.close);
  return program;
}

/** Opens a shell in a terminal, from which {@link COMMAND} is started as a person does. */
export async function openShell(
  options: WithFolders<TerminalProgramOptions> & { readonly env: Readonly<Record<string, string>> },
): Promise<ProgramInTerminal> {
  const program = openTerminal({
    ...options,
    command: ["bash", "--norc", "--noprofile", "-i"],
    env: { ...options.env, PS1: "prompt> " },
  });
  await program.shows("prompt>");
  return program;
}

/** What the screen says when it waits for the first message. */
export const READY = "What is to be done?";

/**
 * Runs the built command in a terminal with a model that follows a script, and waits for its input, or
 * another text.
 */
export async function openScreen(
  steps: Parameters<typeof startScreen>[0],
  { ready = READY, ...options }: WithFolders<ScreenProgramOptions> & { readonly ready?: string } = {},
): Promise<ScreenProgram> {
  const screen = await startScreen(steps, withFolders(options));
  onTestFinished(screen.close);
  await screen.program.shows(ready);
  return screen;
}

function withFolders<T extends WithFolders<TerminalProgramOptions>>(
  options: T,
): T & Pick<TerminalProgramOptions, "cwd" | "home"> {
  return { ...options, cwd: options.cwd ?? tempFolder(), home: options.home ?? tempFolder() };
}

/** What of the rows is not blank. */
export function rowsOf({ emulator }: ProgramInTerminal): readonly string[] {
  return emulator.rows.map((row) => row.trimEnd()).filter((row) => row !== "");
}

/** Leaves the screen by Ctrl+D and tells its exit code. */
export async function leave(program: ProgramInTerminal): Promise<number> {
  program.type("\u0004");
  return (await program.end).code;
}

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

/** For an answer that does not end by itself. */
export const NEVER: Promise<never> = new Promise(() => undefined);

/** What the screen says when it waits for the first message. */
export const READY = "What should nano-agent do?";

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

/** Escapes in texts of others that would act on the terminal, by what they do. */
const ACTING_ESCAPES: readonly (readonly [string, RegExp])[] = [
  ["clipboard", /\u001B\]52/],
  ["title", /\u001B\]2;owned/],
  ["clear", /\u001B\[2J/],
  ["c1", /[\u0080-\u009F]/],
  ["bidi", /\u202E/],
];

/** Which of {@link ACTING_ESCAPES} have reached the terminal. */
export function escapesThrough({ emulator: { written } }: ProgramInTerminal): readonly string[] {
  return ACTING_ESCAPES.flatMap(([name, shape]) => (shape.test(written) ? [name] : []));
}

/** Leaves the screen by Ctrl+D once nothing is at work, and tells its exit code. */
export async function leave(program: ProgramInTerminal): Promise<number> {
  await program.hides("esc stops");
  program.type("\u0004");
  return (await program.end).code;
}

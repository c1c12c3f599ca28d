import { onTestFinished } from "vitest";
import { modelServer, serverEnv } from "../e2e/command.ts";
import { tempFolder } from "../temp-folder.ts";
import { type ProgramInTerminal, startInTerminal, type TerminalProgramOptions } from "./terminal-program.ts";

/** How a program is started in a terminal; its folders are temporary ones where none are named. */
export type TerminalOptions = Omit<TerminalProgramOptions, "cwd" | "home"> &
  Partial<Pick<TerminalProgramOptions, "cwd" | "home">>;

/** Starts a program in a terminal of its own; it is killed with the test. */
export function openTerminal(options: TerminalOptions = {}): ProgramInTerminal {
  const program = startInTerminal({
    ...options,
    cwd: options.cwd ?? tempFolder(),
    home: options.home ?? tempFolder(),
  });
  onTestFinished(program.close);
  return program;
}

/** What the screen says when it waits for the first message. */
export const READY = "What is to be done?";

/** Runs the built command in a terminal with a model that follows a script, and waits for its input. */
export async function openScreen(
  steps: Parameters<typeof modelServer>[0],
  options: TerminalOptions & { readonly chunkSize?: number } = {},
): Promise<{
  readonly program: ProgramInTerminal;
  readonly server: Awaited<ReturnType<typeof modelServer>>;
}> {
  const { chunkSize, ...rest } = options;
  const server = await modelServer(steps, chunkSize === undefined ? {} : { chunkSize });
  const program = openTerminal({ ...rest, env: { ...serverEnv(server), ...rest.env } });
  await program.shows(READY);
  return { program, server };
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

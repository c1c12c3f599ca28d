import { type ScriptedServer, startScriptedServer } from "../../src/testing/scripted-server.ts";
import { type ProgramInTerminal, startInTerminal, type TerminalProgramOptions } from "./terminal-program.ts";

/** How the command is started with a model that follows a script. */
export interface ScreenProgramOptions extends TerminalProgramOptions {
  /** Characters of one delta. */
  readonly chunkSize?: number;
}

/** The command in a terminal, the server that is its model, and what ends both. */
export interface ScreenProgram {
  readonly program: ProgramInTerminal;
  readonly server: ScriptedServer;
  readonly close: () => Promise<void>;
}

/** Runs the built command in a terminal with a model that follows a script. Close it. */
export async function startScreen(
  steps: Parameters<typeof startScriptedServer>[0],
  { chunkSize, env, ...options }: ScreenProgramOptions,
): Promise<ScreenProgram> {
  const server = await startScriptedServer(steps, chunkSize === undefined ? {} : { chunkSize });
  const program = startInTerminal({ ...options, env: { ...modelEnv(server), ...env } });
  return {
    program,
    server,
    close: async () => {
      program.close();
      await server.close();
    },
  };
}

/** The key tests use; must never be printed. */
export const TEST_KEY = "sk-test-0123456789abcdef";

/** Variables that make the command use the server as a Chat Completions model. */
export function modelEnv({ url }: Pick<ScriptedServer, "url">): Readonly<Record<string, string>> {
  return {
    NANO_AGENT_MODEL: "openai/gpt-5",
    // A new folder would be asked about at the start.
    NANO_AGENT_PERMISSION_MODE: "default",
    OPENAI_API_KEY: TEST_KEY,
    OPENAI_BASE_URL: `${url}/v1`,
    NANO_AGENT_MAX_RETRIES: "0",
  };
}

/** Resolves when the row that says what a run does has come to another second. */
export async function nextSecond(program: ProgramInTerminal): Promise<void> {
  await secondsPass(program, 1);
}

/**
 * Resolves when a question that stands takes keys: one that shows something, pressed again and again, has
 * done so. Default: an arrow marks an answer.
 */
export async function takesKeys(
  program: ProgramInTerminal,
  { key = "\u001B[B", shows = /^[▸>] \d/m }: { readonly key?: string; readonly shows?: RegExp } = {},
): Promise<void> {
  const hasShown = (): boolean => shows.test(program.emulator.screen.join("\n"));
  const press = setInterval(() => {
    if (!hasShown()) program.type(key);
  }, PRESS_EVERY_MS);
  try {
    await program.shows(hasShown);
  } finally {
    clearInterval(press);
  }
}

/** More than a question waits for after a key that was for something else. */
const PRESS_EVERY_MS = 400;

async function secondsPass({ emulator, shows }: ProgramInTerminal, count: number): Promise<void> {
  await shows((screen) => secondsIn(screen) >= 0);
  const begin = secondsIn(emulator.screen.join("\n"));
  await shows((screen) => secondsIn(screen) >= begin + count);
}

function secondsIn(screen: string): number {
  const rows = [...screen.matchAll(/^── [●○] .*?(?:(\d+) min )?(\d+) s/gm)];
  return Math.max(-1, ...rows.map(([, minutes = "0", seconds]) => Number(minutes) * 60 + Number(seconds)));
}

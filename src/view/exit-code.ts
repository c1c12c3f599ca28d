import type { ErrorCode } from "../core/base/errors.ts";

const CODES = {
  done: [0, "done"],
  failed: [1, "the run failed (provider or task)"],
  usage: [2, "invalid usage"],
  refused: [3, "a tool call was refused"],
  credentials: [41, "missing or refused credentials"],
  configuration: [52, "invalid configuration file"],
  turnLimit: [53, "turn limit reached"],
  budget: [55, "budget used up"],
  loop: [56, "the model kept repeating itself"],
  session: [60, "the session cannot be opened or written"],
  wallTime: [124, "time limit reached"],
  hangup: [129, "the terminal was closed (SIGHUP)"],
  interrupted: [130, "interrupted (SIGINT)"],
  terminated: [143, "terminated (SIGTERM)"],
} as const;

/** The program's exit codes, by name. */
export const EXIT: { readonly [N in keyof typeof CODES]: (typeof CODES)[N][0] } = Object.fromEntries(
  Object.entries(CODES).map(([name, [code]]) => [name, code]),
) as never;

/** The meaning of each code, for the help. */
export const EXIT_MEANINGS: readonly (readonly [code: number, meaning: string])[] = Object.values(CODES);

/** Signals that end a run, and their exit codes. */
export const SIGNAL_EXITS: { readonly [S in EndingSignal]: number } = {
  SIGINT: EXIT.interrupted,
  SIGTERM: EXIT.terminated,
  SIGHUP: EXIT.hangup,
};

/** A signal that ends a run. */
export type EndingSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

const ERROR_EXITS: { readonly [C in ErrorCode]?: number } = {
  invalid_argument: EXIT.usage,
  unknown_provider: EXIT.usage,
  unknown_model: EXIT.usage,
  missing_credentials: EXIT.credentials,
  authentication: EXIT.credentials,
  invalid_config: EXIT.configuration,
  max_iterations: EXIT.turnLimit,
  journal: EXIT.session,
};

/** The exit code for an error that ended the program or a run. */
export function exitCodeOfError(code: ErrorCode): number {
  return ERROR_EXITS[code] ?? EXIT.failed;
}

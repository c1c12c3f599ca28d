import type { ErrorCode } from "../core/base/errors.ts";

/** The program's exit codes, by meaning. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  credentials: 41,
  configuration: 52,
  turnLimit: 53,
  budget: 55,
  loop: 56,
  session: 60,
  wallTime: 124,
  hangup: 129,
  interrupted: 130,
  terminated: 143,
} as const;

/** The meaning of each code, for the help. */
export const EXIT_MEANINGS: readonly (readonly [code: number, meaning: string])[] = [
  [EXIT.done, "done"],
  [EXIT.failed, "the run failed (provider or task)"],
  [EXIT.usage, "invalid usage"],
  [EXIT.refused, "a tool call was refused"],
  [EXIT.credentials, "missing or refused credentials"],
  [EXIT.configuration, "invalid configuration file"],
  [EXIT.turnLimit, "turn limit reached"],
  [EXIT.budget, "budget used up"],
  [EXIT.loop, "the model kept repeating itself"],
  [EXIT.session, "the session cannot be opened or written"],
  [EXIT.wallTime, "time limit reached"],
  [EXIT.hangup, "the terminal was closed (SIGHUP)"],
  [EXIT.interrupted, "interrupted (SIGINT)"],
  [EXIT.terminated, "terminated (SIGTERM)"],
];

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

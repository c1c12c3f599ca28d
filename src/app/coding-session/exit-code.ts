import type { ErrorCode } from "../../core/base/errors.ts";
import type { StopReason } from "../../core/base/stop-reason.ts";
import type { BudgetLimit } from "../../core/model/ledger.ts";

/** What the program's exit code says. */
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
  [EXIT.usage, "wrong use of the command"],
  [EXIT.refused, "a tool call was refused"],
  [EXIT.credentials, "no credentials, or refused ones"],
  [EXIT.configuration, "a configuration file is not usable"],
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

/** The exit code for an error that ended the program or a run. */
export function exitCodeOfError(code: ErrorCode): number {
  switch (code) {
    case "invalid_argument":
    case "unknown_provider":
    case "unknown_model":
      return EXIT.usage;
    case "missing_credentials":
    case "authentication":
      return EXIT.credentials;
    case "invalid_config":
      return EXIT.configuration;
    case "max_iterations":
      return EXIT.turnLimit;
    case "journal":
      return EXIT.session;
    default:
      return EXIT.failed;
  }
}

/** How a run ended, as far as its exit code depends on it. */
export interface RunEnding {
  readonly stopReason: StopReason;
  readonly limit?: BudgetLimit | undefined;
  readonly errorCode?: ErrorCode | undefined;
  readonly signal?: EndingSignal | undefined;
  /** Tool calls that were refused. */
  readonly denials: number;
  /** True when a value for a schema was asked for and did not come. */
  readonly missesOutput: boolean;
}

/** The exit code of a run. Only a finished run without a refused call is 0. */
export function exitCodeOfRun(ending: RunEnding): number {
  const { stopReason, limit, errorCode, signal, denials, missesOutput } = ending;
  if (signal !== undefined) return SIGNAL_EXITS[signal];
  switch (stopReason) {
    case "completed":
    case "finish_tool":
    case "structured_output":
      if (denials > 0) return EXIT.refused;
      return missesOutput ? EXIT.failed : EXIT.done;
    case "denied":
    case "awaiting_approval":
      return EXIT.refused;
    case "max_iterations":
      return EXIT.turnLimit;
    case "budget":
      return limit === "wall_time" ? EXIT.wallTime : EXIT.budget;
    case "loop_detected":
      return EXIT.loop;
    case "error":
      return errorCode === undefined ? EXIT.failed : exitCodeOfError(errorCode);
    default:
      return EXIT.failed;
  }
}

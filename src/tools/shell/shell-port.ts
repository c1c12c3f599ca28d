/** A command for a {@link ShellPort}. */
export interface PortCommand {
  readonly command: string;
  readonly cwd: string;
  /** The variables it sees. */
  readonly env: { readonly [name: string]: string };
  /** Variables it must not see, whatever the port's own environment has. */
  readonly unset: readonly string[];
  /** Bytes of output worth keeping. */
  readonly maxOutputBytes: number;
  /** Aborted: end the command and all it started. */
  readonly signal: AbortSignal;
  /** Gets new output as it comes, where the port can tell. */
  readonly onText?: (text: string) => void;
  /** Told the name that the terminal has with whoever shows it. */
  readonly onTerminal?: (terminalId: string) => void;
}

/** How a command of a {@link ShellPort} ended. */
export interface PortCommandEnd {
  readonly output: string;
  /** `null`: it was ended by a signal. */
  readonly exitCode: number | null;
  readonly signal?: string | null;
  /** True when the beginning of the output is missing. */
  readonly isTruncated?: boolean;
}

/** Runs commands instead of us: the terminal of an editor. Which may run stays ours to say. */
export interface ShellPort {
  /** Runs a command to its end. Rejects when it cannot be started. */
  run(command: PortCommand): Promise<PortCommandEnd>;
}

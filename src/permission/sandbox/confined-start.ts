/** A command to confine, and the shell that reads it. */
export interface CommandToConfine {
  readonly command: string;
  readonly shell: string;
  readonly cwd: string;
  /** Folders that exist and stay as they are, whatever else may be written. Default: none. */
  readonly protect?: readonly string[];
}

/** How a command is started inside: what the shell tools need of it. */
export interface ConfinedStart {
  readonly file: string;
  readonly args: readonly string[];
  /** Lines that name what it was kept from, and what would allow it. */
  readonly notes: (shown: { readonly output: string; readonly failed: boolean }) => readonly string[];
  /** Called once, when it has ended or could not be started. */
  readonly release: () => void;
}

/** A sandbox that can start commands inside. */
export interface Confiner {
  readonly wrap: (start: CommandToConfine) => Promise<ConfinedStart>;
}

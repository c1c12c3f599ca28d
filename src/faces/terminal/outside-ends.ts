/** Called by {@link watchOutsideEnds}. */
export interface OutsideEnds {
  /** A signal ends the process that nothing else listens for: what can be put back is put back now. */
  readonly onLastMoment: () => void;
  /** The program that started this one is gone, and the shell has the terminal again. */
  readonly onOrphaned: () => void;
}

/** Signals that end a process as they come, with a core file or without one. */
const DEADLY = ["SIGQUIT", "SIGABRT", "SIGALRM", "SIGUSR2", "SIGXCPU", "SIGVTALRM"] as const;
const LOOK_MS = 1_000;

/** Watches for ends that no stream tells of. Keeps the process alive until its result is called. */
export function watchOutsideEnds({ onLastMoment, onOrphaned }: OutsideEnds): () => void {
  const { ppid } = process;
  const timer = setInterval(() => {
    if (process.ppid === ppid) return;
    clearInterval(timer);
    onOrphaned();
  }, LOOK_MS);
  const listeners = DEADLY.map((name) => {
    const listener = (): void => {
      process.off(name, listener);
      onLastMoment();
      // Nothing listens any more, so that whoever waits for the process learns what ended it.
      process.kill(process.pid, name);
    };
    process.on(name, listener);
    return [name, listener] as const;
  });
  return () => {
    clearInterval(timer);
    for (const [name, listener] of listeners) process.off(name, listener);
  };
}

import { closeSync, constants, openSync, readFileSync, readSync } from "node:fs";

/** Somebody to hear keys from, one at a time. */
export interface TerminalKeys {
  /** Takes the terminal until `close`: keys come unechoed and at once. Throws when there is no terminal. */
  open(listener: KeyListener): OpenKeys;
}

/** What {@link TerminalKeys} tells. */
export interface KeyListener {
  /** Characters as they come: mostly one, several when they were pasted or typed faster than they were read. */
  readonly onKeys: (keys: string) => void;
  /** The terminal is gone. */
  readonly onEnd: () => void;
}

/** A terminal that was taken. */
export interface OpenKeys {
  /** Forgets what was typed until now, then begins to listen. */
  readonly start: () => void;
  /** Gives the terminal back as it was. */
  readonly close: () => void;
}

/** The keys of the terminal this process belongs to. */
export const terminalKeys: TerminalKeys = { open: openTerminal };

function openTerminal({ onKeys, onEnd }: KeyListener): OpenKeys {
  if (!isInForeground()) throw new Error("this process runs in the background of its terminal");
  const fd = openSync("/dev/tty", constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOCTTY);
  const { ReadStream } = process.getBuiltinModule("node:tty");
  let stream: InstanceType<typeof ReadStream>;
  try {
    stream = new ReadStream(fd);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  stream.setRawMode(true);
  stream.setEncoding("utf8");
  stream.on("error", onEnd);
  stream.on("end", onEnd);
  return {
    start: () => {
      discard(fd);
      stream.on("data", (data: string | Buffer) => onKeys(data.toString()));
    },
    close: () => {
      stream.removeAllListeners();
      // What goes wrong while a terminal that is gone is given back concerns nobody.
      stream.on("error", () => undefined);
      stream.setRawMode(false);
      stream.destroy();
    },
  };
}

/** Reads what waits and drops it. */
function discard(fd: number): void {
  const buffer = Buffer.alloc(4096);
  try {
    while (readSync(fd, buffer) > 0);
  } catch {
    // Nothing waits any more (EAGAIN), or the terminal is gone, which listening will tell.
  }
}

/** A job in the background would be stopped by asking for keys; where this cannot be told it counts as in front. */
function isInForeground(): boolean {
  try {
    const [, , group, , , foreground] = readFileSync("/proc/self/stat", "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return group === foreground;
  } catch {
    return true;
  }
}

import { closeSync, constants, openSync, readFileSync, readSync } from "node:fs";

/** Somebody to hear keys from, one at a time. */
export interface TerminalKeys {
  /** Takes the terminal until `close`: keys come unechoed and at once. Throws when there is no terminal. */
  open(listener: KeyListener): OpenKeys;
}

/** Hears from {@link TerminalKeys}. */
export interface KeyListener {
  /** Characters as they come: mostly one, several when pasted or typed faster than they were read. */
  readonly onKeys: (keys: string) => void;
  readonly onEnd: () => void;
}

/** A terminal that was taken. */
export interface OpenKeys {
  /** Forgets what was typed until now, Ctrl-C excepted, then begins to listen. */
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
      stream.on("data", (data: string | Buffer) => onKeys(data.toString()));
      if (discard(fd).includes(CTRL_C)) onKeys(CTRL_C);
    },
    close: () => {
      stream.removeAllListeners();
      // Failures while a terminal that is gone is given back concern nobody.
      stream.on("error", () => undefined);
      stream.setRawMode(false);
      stream.destroy();
    },
  };
}

/** Ctrl-C, as it comes from a terminal that hands keys on. */
export const CTRL_C = "\x03";

/** Reads what waits, to be dropped. */
function discard(fd: number): string {
  const buffer = Buffer.alloc(4096);
  let typed = "";
  try {
    for (let length = 1; length > 0; typed += buffer.toString("latin1", 0, length))
      length = readSync(fd, buffer);
  } catch {
    // Nothing waits any more (EAGAIN), or the terminal is gone, which listening will tell.
  }
  return typed;
}

/** A job in the background would be stopped by asking for keys; when in doubt it is in front. */
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

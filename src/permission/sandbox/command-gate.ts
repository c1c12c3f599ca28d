import type { ChildProcess } from "node:child_process";
import { Socket } from "node:net";

/** The descriptor by which a command waits. */
export const GATE_DESCRIPTOR = 4;

/**
 * Read by Bash before the command, from the file that `BASH_ENV` names: built-ins only. It shows the mounts,
 * waits for the word and closes the way to us. Without the word nothing runs, so a command whose agent was
 * killed while it started never begins.
 */
export const GATE_SCRIPT = `unset BASH_ENV
mapfile </proc/self/mountinfo
printf '%s' "\${MAPFILE[@]}" >&4 && printf '\\n' >&4
unset MAPFILE
read -r REPLY <&4 && [ "$REPLY" = go ] || exit 125
unset REPLY
exec 4>&-
`;

/** Longest wait for a command to begin. */
const PATIENCE_MS = 60_000;

/**
 * Lets a command begin when nothing is wrong with the mounts it sees. Rejects otherwise: nothing has run
 * then, and the process is killed.
 */
export async function passGate(
  child: ChildProcess,
  wrongMount: (mountTable: string) => string | undefined,
): Promise<void> {
  const gate = child.stdio[GATE_DESCRIPTOR];
  if (!(gate instanceof Socket)) throw new Error("the process was started without its gate");
  const shown = await mountTableFrom(gate, child);
  const problem = shown === undefined ? "it ended before the command began" : wrongMount(shown);
  if (problem === undefined) {
    gate.end("go\n");
    gate.unref();
    return;
  }
  gate.destroy();
  child.kill("SIGKILL");
  throw new Error(problem);
}

/** Undefined: the process ended, or never showed it. */
function mountTableFrom(gate: Socket, child: ChildProcess): Promise<string | undefined> {
  let text = "";
  return new Promise((resolve) => {
    const patience = setTimeout(() => resolve(undefined), PATIENCE_MS);
    const settle = (shown: string | undefined): void => {
      clearTimeout(patience);
      resolve(shown);
    };
    gate.setEncoding("utf8");
    gate.on("data", (piece: string) => {
      text += piece;
      if (text.endsWith("\n\n")) settle(text);
    });
    gate.on("error", () => settle(undefined));
    gate.once("close", () => settle(undefined));
    child.once("error", () => settle(undefined));
  });
}

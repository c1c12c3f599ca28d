import type { SandboxLimits } from "./sandbox-limits.ts";

/** The end of a confined command, as far as the sandbox had a part in it. */
export interface BlockedCommand {
  readonly output: string;
  readonly network: boolean;
  readonly readOnly: boolean;
  readonly wasRefusedNetwork: boolean;
}

/** Of a long output the end counts: there programs say why they failed. */
const MAX_OUTPUT = 60_000;
const CANNOT_WRITE = /read-only file system|\bEROFS\b|device or resource busy|\bEBUSY\b/i;
const CANNOT_READ = /permission denied|\bEACCES\b|operation not permitted|\bEPERM\b/i;
const NO_SUCH_SOCKET = /address family not supported|\bEAFNOSUPPORT\b/i;
const ASK_FULL = 'call again with access: "full" and a reason';

/** Lines for the result of a command that failed: what the sandbox held back, and how to ask for it. */
export function blockedNotes(limits: SandboxLimits, command: BlockedCommand): readonly string[] {
  const { network, readOnly, wasRefusedNetwork } = command;
  const output = command.output.slice(-MAX_OUTPUT);
  const notes: string[] = [];
  if (wasRefusedNetwork)
    notes.push(
      'no network, and no ports of this machine but those of earlier commands. If it is needed, call again with access: "network" and a reason',
    );
  if (network && NO_SUCH_SOCKET.test(output))
    notes.push(`with the network there are no UNIX sockets. If they are needed, ${ASK_FULL}`);
  if (CANNOT_WRITE.test(output))
    notes.push(
      readOnly
        ? "in plan mode commands write to /tmp only, which is empty for each"
        : `commands write below ${limits.workspace.join(", ")} and $TMPDIR only, and not to what steers git, editors or the agent. If it is needed, ${ASK_FULL}`,
    );
  const key = CANNOT_READ.test(output)
    ? limits.unreadable.find((path) => isNamed(path, limits, output))
    : undefined;
  if (key !== undefined) notes.push(`${key} is closed to commands. If it is needed, ${ASK_FULL}`);
  return notes;
}

function isNamed(path: string, { home }: SandboxLimits, output: string): boolean {
  return (
    output.includes(path) || (path.startsWith(`${home}/`) && output.includes(`~${path.slice(home.length)}`))
  );
}

import { spawn } from "node:child_process";
import { closeSync, openSync, readSync } from "node:fs";
import type { Variables } from "./confined-start.ts";

/** The programs of the system that a wall is built with, by absolute path. */
export interface WallPrograms {
  readonly bwrap: string;
  readonly nsenter: string;
  readonly bash: string;
}

/** Counters of the kernel that rise when a network is refused, and nothing else does. */
const REFUSALS = { Ip: "OutNoRoutes", Udp: "NoPorts", Tcp: "AttemptFails" } as const;
const MAX_COUNTERS = 16_384;

/**
 * A network namespace without a network, for all commands of a session, and the user namespace it belongs to.
 * Open descriptors keep them alive: no process does, and nothing is left when this process ends.
 */
export class SessionNamespaces {
  readonly #user: number;
  readonly #network: number;
  readonly #counters: number;

  private constructor(pid: string) {
    this.#user = openSync(`/proc/${pid}/ns/user`, "r");
    this.#network = openSync(`/proc/${pid}/ns/net`, "r");
    this.#counters = openSync(`/proc/${pid}/net/snmp`, "r");
  }

  /** Makes them. Rejects with what bubblewrap says where the system does not let it. */
  static open({ bwrap, bash }: WallPrograms, env: Variables): Promise<SessionNamespaces> {
    const args = ["--unshare-user", "--unshare-net", "--die-with-parent", "--dev-bind", "/", "/", "--"];
    const child = spawn(bwrap, [...args, bash, "--norc", "-c", "echo $$; read -r _"], { env, cwd: "/" });
    let [output, errors] = ["", ""];
    return new Promise((resolve, reject) => {
      child.stderr.on("data", (text: Buffer) => (errors += text.toString()));
      child.stdout.on("data", (text: Buffer) => {
        output += text.toString();
        const pid = /^(\d+)\n/.exec(output)?.[1];
        if (pid === undefined) return;
        try {
          resolve(new SessionNamespaces(pid));
        } catch (error) {
          reject(error);
        }
        child.stdin.end();
      });
      child.on("error", reject);
      child.stdin.on("error", () => undefined);
      child.on("close", () => reject(new Error(errors.trim() || "it ended without a word")));
    });
  }

  /** The options of `nsenter` for a command in them. Paths lead to our descriptors: it inherits none. */
  join(): readonly string[] {
    const own = `/proc/${process.pid}/fd`;
    const places = [`--user=${own}/${this.#user}`, `--net=${own}/${this.#network}`];
    return [...places, "--preserve-credentials", "--"];
  }

  /** How often the kernel has refused a connection or a name so far. */
  refusals(): number {
    const bytes = Buffer.alloc(MAX_COUNTERS);
    const lines = bytes
      .toString("latin1", 0, readSync(this.#counters, bytes, 0, bytes.length, 0))
      .split("\n");
    return Object.entries(REFUSALS).reduce((sum, [kind, counter]) => {
      const [names = "", values = ""] = lines.filter((line) => line.startsWith(`${kind}: `));
      return sum + Number(values.split(" ")[names.split(" ").indexOf(counter)] ?? 0);
    }, 0);
  }

  close(): void {
    for (const descriptor of [this.#user, this.#network, this.#counters]) closeSync(descriptor);
  }
}

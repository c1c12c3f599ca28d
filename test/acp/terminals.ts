import { type ChildProcess, spawn } from "node:child_process";
import { type ClientApp, methods } from "@agentclientprotocol/sdk";

/** A command in a terminal of the editor. */
export interface Terminal {
  readonly command: string;
  readonly cwd: string | undefined;
  readonly env: { readonly [name: string]: string };
  readonly pid: number | undefined;
  isReleased: boolean;
}

interface Running extends Terminal {
  readonly child: ChildProcess;
  readonly limit: number;
  readonly exit: Promise<{ readonly exitCode: number | null; readonly signal: string | null }>;
  output: string;
  isTruncated: boolean;
}

/** The terminals of an editor: real processes, the methods of the protocol on top. */
export class EditorTerminals {
  readonly #list: Running[] = [];
  readonly #fails: boolean;

  constructor(fails = false) {
    this.#fails = fails;
  }

  /** Every terminal so far, by its number. */
  get list(): readonly Terminal[] {
    return this.#list;
  }

  /** Lets a client offer them. */
  serve(app: ClientApp): ClientApp {
    const { terminal } = methods.client;
    return app
      .onRequest(terminal.create, ({ params }) => ({ terminalId: this.#create(params) }))
      .onRequest(terminal.output, ({ params }) => {
        const { output, isTruncated: truncated } = this.#find(params.terminalId);
        return { output, truncated };
      })
      .onRequest(terminal.waitForExit, ({ params }) => this.#find(params.terminalId).exit)
      .onRequest(terminal.kill, ({ params }) => {
        kill(this.#find(params.terminalId));
        return {};
      })
      .onRequest(terminal.release, ({ params }) => {
        const found = this.#find(params.terminalId);
        found.isReleased = true;
        kill(found);
        return {};
      });
  }

  /** Ends what still runs. */
  close(): void {
    this.#list.forEach(kill);
  }

  #find(id: string): Running {
    const found = this.#list[Number(id.replace("term-", ""))];
    if (found === undefined) throw new Error(`There is no terminal ${id}.`);
    return found;
  }

  #create({ command, args = [], cwd, env = [], outputByteLimit }: CreateParams): string {
    if (this.#fails) throw new Error("There are no terminals today.");
    const variables = Object.fromEntries(env.map(({ name, value }) => [name, value]));
    const child = spawn(command, args, {
      ...(cwd === null || cwd === undefined ? {} : { cwd }),
      env: { PATH: process.env["PATH"] ?? "", ...variables },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const running: Running = {
      command: [command, ...args].join(" "),
      cwd: cwd ?? undefined,
      env: variables,
      pid: child.pid,
      child,
      limit: outputByteLimit ?? 1_000_000,
      output: "",
      isTruncated: false,
      isReleased: false,
      exit: new Promise((resolve) => {
        child.once("error", () => resolve({ exitCode: 127, signal: null }));
        child.once("close", (exitCode, signal) => resolve({ exitCode, signal }));
      }),
    };
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => {
        const whole = running.output + text;
        running.output = whole.slice(-running.limit);
        running.isTruncated ||= running.output.length < whole.length;
      });
    this.#list.push(running);
    return `term-${this.#list.length - 1}`;
  }
}

interface CreateParams {
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string | null;
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly outputByteLimit?: number | null;
}

function kill({ pid }: Terminal): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

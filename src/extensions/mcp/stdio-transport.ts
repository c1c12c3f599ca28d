import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { systemClock } from "../../core/base/async.ts";
import { newId } from "../../core/base/ids.ts";
import { sendSignal } from "../../system/process-identity.ts";
import { type ProcessWatcher, withCallMarker } from "../../system/process-watcher.ts";
import { systemCode } from "../../system/system-error.ts";
import { ConnectionError } from "./connection.ts";
import { lineReader, MAX_MESSAGE_BYTES, readMessages } from "./read-message.ts";
import type { StdioServer } from "./server-definition.ts";

export interface StdioTransportOptions {
  readonly server: StdioServer;
  readonly cwd: string;
  readonly environment: { readonly [name: string]: string };
  readonly watcher: ProcessWatcher | undefined;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** How long a server may take to exit after its standard input closes, and then after SIGTERM. */
const CLOSE_GRACE_MS = 300;
const TERM_GRACE_MS = 1_000;
/** Characters kept of a server's standard error, to explain why it died. */
const MAX_STDERR_CHARS = 2_000;
/** Undelivered messages allowed; at this number, reading from the server pauses. */
const MAX_UNDELIVERED = 256;
/** Consecutive lines that are no messages, beyond which output counts as a flood. */
const MAX_OTHER_LINES = 10_000;

/** The server runs in its own process group, killed at the end. Skips lines that are no messages. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  readonly #options: StdioTransportOptions;
  #child: Child | undefined;
  #stderr = "";
  #otherLines = 0;
  #undelivered = 0;
  #delivery: Promise<void> = Promise.resolve();
  #exited: Promise<void> = Promise.resolve();
  #reason: string | undefined;

  constructor(options: StdioTransportOptions) {
    this.#options = options;
  }

  get reason(): string {
    const last = this.#stderr.trim().split("\n").at(-1)?.trim() ?? "";
    return `${this.#reason ?? "it ended"}${last === "" ? "" : ` (its last words: ${last.slice(0, 300)})`}.`;
  }

  async start(): Promise<void> {
    const { server, cwd, environment, watcher } = this.#options;
    const mark = newId("m");
    const child: Child = spawn(server.command, server.args, {
      cwd: server.cwd ?? cwd,
      env: withCallMarker({ ...environment, ...server.env }, mark),
      detached: process.platform !== "win32",
      shell: process.platform === "win32",
      windowsHide: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child = child;
    const { pid } = child;
    const names = pid === undefined ? [] : [pid, mark];
    for (const name of names) watcher?.add(name);
    this.#exited = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.#reason ??= signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
        // Processes it started must not outlive it.
        this.killNow();
        for (const name of names) watcher?.remove(name);
        resolve();
      });
      child.once("error", () => resolve());
    });
    this.#listen(child);
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (error) => reject(new ConnectionError(spawnProblem(server, error))));
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin;
    const isWritten =
      input?.writable === true &&
      (await new Promise((resolve) => {
        input.write(`${JSON.stringify(message)}\n`, (error) => resolve(!error));
      }));
    if (isWritten) return;
    // The pipe breaks before the exit is known, and the exit is more informative.
    await settlesWithin(CLOSE_GRACE_MS, this.#exited);
    throw new ConnectionError(this.reason);
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#reason ??= "it was ended";
    child.stdin.end();
    if (await settlesWithin(CLOSE_GRACE_MS, this.#exited)) return;
    this.#signal("SIGTERM");
    if (await settlesWithin(TERM_GRACE_MS, this.#exited)) return;
    this.killNow();
    await this.#exited;
  }

  killNow(): void {
    this.#signal("SIGKILL");
  }

  #signal(name: NodeJS.Signals): void {
    const pid = this.#child?.pid;
    if (pid !== undefined) sendSignal(process.platform === "win32" ? pid : -pid, name);
  }

  #listen(child: Child): void {
    child.stdin.on("error", () => undefined);
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-MAX_STDERR_CHARS);
    });
    child.stdout.on(
      "data",
      lineReader((line) => this.#onLine(line)),
    );
    const outputClosed = new Promise<void>((resolve) => child.stdout.once("close", resolve));
    // Wait for neither: a leftover may hold the pipe open, or the process may outlive its pipe.
    const afterExit = this.#exited.then(() => settlesWithin(CLOSE_GRACE_MS, outputClosed));
    const afterOutput = outputClosed.then(() => settlesWithin(CLOSE_GRACE_MS, this.#exited));
    void Promise.race([afterExit, afterOutput]).then(() => {
      this.#reason ??= "it closed its output";
      this.#emitClose();
    });
  }

  #emitClose(): void {
    const { onclose } = this;
    delete this.onclose;
    onclose?.();
  }

  #onLine(line: string | undefined): void {
    if (line === undefined) {
      this.#abandon(`it sent a message of more than ${MAX_MESSAGE_BYTES / 1_048_576} MB`);
      return;
    }
    const messages = readMessages(line);
    if (messages.length > 0) {
      this.#otherLines = 0;
      for (const message of messages) this.#deliver(message);
    } else if (++this.#otherLines > MAX_OTHER_LINES)
      this.#abandon(`it wrote ${MAX_OTHER_LINES} lines that are not messages of the protocol`);
  }

  /** Delivered one by one: notifications about a call must be handled before its answer. */
  #deliver(message: object): void {
    if (++this.#undelivered === MAX_UNDELIVERED) this.#child?.stdout.pause();
    this.#delivery = this.#delivery.then(async () => {
      this.onmessage?.(message as JSONRPCMessage);
      if ("method" in message) await new Promise((resolve) => setImmediate(resolve));
      if (this.#undelivered-- === MAX_UNDELIVERED) this.#child?.stdout.resume();
    });
  }

  #abandon(reason: string): void {
    this.#reason ??= reason;
    this.killNow();
    this.#emitClose();
  }
}

async function settlesWithin(ms: number, event: Promise<void>): Promise<boolean> {
  const wait = new AbortController();
  const timedOut = systemClock.sleep(ms, wait.signal).then(
    () => false,
    () => true,
  );
  const inTime = await Promise.race([event.then(() => true), timedOut]);
  wait.abort();
  return inTime;
}

function spawnProblem({ command }: StdioServer, error: Error): string {
  if (systemCode(error) === "ENOENT")
    return `${command} is not a program that can be found. Check "command", "cwd" and PATH.`;
  return `${command} cannot be started: ${error.message}.`;
}

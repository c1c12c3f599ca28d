import { spawn } from "node:child_process";
import { systemClock, withTimeout } from "../../core/base/async.ts";
import { errorMessage } from "../../core/base/errors.ts";
import { type Fields, isRecord, ownValue, safeParse } from "../../core/base/json.ts";
import { truncateMiddle } from "../../core/base/text.ts";
import { sendSignal } from "../../system/process-identity.ts";
import type { ProcessWatcher } from "../../system/process-watcher.ts";
import {
  type HookCommand,
  type HookEvent,
  type HookHandler,
  type HookInput,
  type HookVerdict,
  matchedName,
} from "./read-hooks.ts";

export interface EventHooksOptions {
  readonly commands: readonly HookCommand[];
  readonly handlers: readonly HookHandler[];
  readonly surroundings: () => Omit<HookSurroundings, "signal">;
  readonly commonInput: () => Pick<HookInput, "session_id" | "transcript_path" | "cwd" | "permission_mode">;
}

export interface HookTrigger {
  /** The value matchers test: the name of a tool, or why a session began. */
  readonly name?: string;
  readonly fields?: { readonly [key: string]: HookInput[string] };
  readonly signal?: AbortSignal;
}

const NO_VERDICT: HookVerdict = { context: [], problems: [] };
const STRICTNESS = { none: 0, allow: 1, ask: 2, deny: 3 } as const;

export class EventHooks {
  readonly #options: EventHooksOptions;

  constructor(options: EventHooksOptions) {
    this.#options = options;
  }

  has(event: HookEvent): boolean {
    const { commands, handlers } = this.#options;
    return [...commands, ...handlers].some((hook) => hook.event === event);
  }

  /** Runs the hooks of an event in parallel. Never rejects: failed commands are reported in `problems`. */
  async fire(event: HookEvent, { name = "", fields = {}, signal }: HookTrigger = {}): Promise<HookVerdict> {
    const { commands, handlers, commonInput } = this.#options;
    const matches = (hook: HookCommand | HookHandler): boolean =>
      hook.event === event && matchedName(hook, name) !== undefined;
    const [programs, functions] = [commands.filter(matches), handlers.filter(matches)];
    if (programs.length + functions.length === 0) return NO_VERDICT;
    const input: HookInput = { ...commonInput(), hook_event_name: event, ...fields };
    // A script sees the tool name that its matcher matched.
    const inputOf = (hook: HookCommand | HookHandler): HookInput =>
      "tool_name" in fields ? { ...input, tool_name: matchedName(hook, name) ?? name } : input;
    const around = this.#options.surroundings();
    const surroundings: HookSurroundings = { ...around, signal: signal ?? new AbortController().signal };
    const answers = await Promise.all([
      ...programs.map(async (hook) => readAnswer(hook, await runHook(hook, inputOf(hook), surroundings))),
      ...functions.map((hook) => callHandler(hook, inputOf(hook), surroundings.signal)),
    ]);
    return combine(answers);
  }
}

const HANDLER_TIMEOUT_MS = 60_000;

async function callHandler(hook: HookHandler, input: HookInput, signal: AbortSignal): Promise<HookAnswer> {
  const bound = { ms: HANDLER_TIMEOUT_MS, clock: systemClock, signal };
  try {
    const answer = await withTimeout((either) => hook.run(structuredClone(input), either), bound);
    return readReturned(hook.source, answer);
  } catch (error) {
    if (!signal.aborted) hook.onFailure(error);
    return { context: [], problems: [] };
  }
}

/** The strictest decision wins, with the reason of the first hook that gave it. */
function combine(answers: readonly HookAnswer[]): HookVerdict {
  const verdict: HookAnswer = {
    context: answers.flatMap(({ context }) => context),
    problems: answers.flatMap(({ problems }) => problems),
  };
  let strictest: HookAnswer | undefined;
  for (const answer of answers) {
    const { decision = "none", updatedInput, updatedBy, stop } = answer;
    if (STRICTNESS[decision] > STRICTNESS[strictest?.decision ?? "none"]) strictest = answer;
    if (updatedInput !== undefined) Object.assign(verdict, { updatedInput, updatedBy });
    if (stop !== undefined) verdict.stop ??= stop;
  }
  return { ...strictest, ...verdict };
}

type HookAnswer = { -readonly [K in keyof HookVerdict]: HookVerdict[K] };

const NO_ANSWER: HookAnswer = { context: [], problems: [] };

/** Exit 0 with a JSON object decides, 2 blocks with stderr as the reason, anything else is a problem. */
function readAnswer(hook: HookCommand, end: HookEnd): HookAnswer {
  const { code, stdout, stderr, failure, isCut } = end;
  const name = hookName(hook);
  if (failure !== undefined) return { ...NO_ANSWER, problems: [`the hook ${name} failed: ${failure}`] };
  if (code === 2) return blockingAnswer(hook, stderr);
  if (code !== 0) {
    const said = stderr === "" ? "" : `: ${stderr.slice(0, 500)}`;
    return {
      ...NO_ANSWER,
      problems: [`the hook ${name} ended with ${code}, which blocks nothing (2 does)${said}`],
    };
  }
  if (!stdout.startsWith("{")) return plainAnswer(hook, stdout);
  if (isCut)
    return { ...NO_ANSWER, problems: [`the hook ${name} answered more than ${MAX_OUTPUT >> 10} KB`] };
  const parsed = safeParse(stdout);
  if (!parsed.ok || !isRecord(parsed.value))
    return {
      ...NO_ANSWER,
      problems: [`the hook ${name} answered what is not JSON: ${stdout.slice(0, 200)}`],
    };
  return toAnswer(name, parsed.value);
}

function hookName({ command, source }: HookCommand): string {
  return `${JSON.stringify(command.length > 120 ? `${command.slice(0, 119)}…` : command)} of ${source}`;
}

function blockingAnswer(hook: HookCommand, stderr: string): HookAnswer {
  const name = hookName(hook);
  const reason = stderr === "" ? `the hook ${name} blocked it` : truncateForModel(stderr);
  // Interpreters also exit with 2 if the script is missing: say so, as it blocks everything.
  const isMissing = /can't open file|No such file or directory|not found/i.test(stderr);
  const problems = isMissing
    ? [
        `the hook ${name} ended with 2, which blocks. Its own script seems to be missing: ${stderr.slice(0, 300)}`,
      ]
    : [];
  return { decision: "deny", reason, by: name, context: [], problems };
}

/** For these events, plain output is sent to the model; for others it is ignored. */
function plainAnswer({ event }: HookCommand, stdout: string): HookAnswer {
  const counts = (event === "UserPromptSubmit" || event === "SessionStart") && stdout !== "";
  return counts ? { ...NO_ANSWER, context: [truncateForModel(stdout)] } : NO_ANSWER;
}

const DECISIONS: { readonly [word: string]: "allow" | "ask" | "deny" | undefined } = {
  allow: "allow",
  approve: "allow",
  ask: "ask",
  deny: "deny",
  block: "deny",
};

function readReturned(name: string, value: unknown): HookAnswer {
  if (value === undefined || value === null) return NO_ANSWER;
  if (isRecord(value)) return toAnswer(name, value);
  return { ...NO_ANSWER, problems: [`the hook of ${name} returned ${typeof value}, which is not an object`] };
}

function toAnswer(name: string, answer: Fields): HookAnswer {
  const specific = isRecord(answer["hookSpecificOutput"]) ? answer["hookSpecificOutput"] : {};
  // Answers to a permission request are nested one level deeper.
  const request = isRecord(specific["decision"]) ? specific["decision"] : {};
  const said: HookAnswer = { context: [], problems: [] };
  const problems: string[] = [];
  const word = specific["permissionDecision"] ?? request["behavior"] ?? answer["decision"];
  const decision = ownValue(DECISIONS, word);
  if (decision !== undefined) {
    const reason = firstText(specific["permissionDecisionReason"], request["message"], answer["reason"]);
    Object.assign(said, { decision, by: name }, reason === undefined ? {} : { reason });
  } else if (word !== undefined)
    problems.push(`the hook ${name} decided ${JSON.stringify(word)}; only allow, ask and deny count`);
  const updated = specific["updatedInput"] ?? request["updatedInput"];
  if (isRecord(updated)) {
    said.updatedInput = updated as NonNullable<HookVerdict["updatedInput"]>;
    said.updatedBy = name;
  } else if (updated !== undefined)
    problems.push(`the hook ${name} gave an updatedInput that is not an object`);
  if (answer["continue"] === false)
    said.stop = firstText(answer["stopReason"]) ?? `the hook ${name} ended the run`;
  const context = texts(specific["additionalContext"], answer["additionalContext"]).slice(0, 1);
  return { ...said, context, problems: [...problems, ...texts(answer["systemMessage"])] };
}

function firstText(...values: readonly unknown[]): string | undefined {
  return texts(...values)[0];
}

function texts(...values: readonly unknown[]): readonly string[] {
  return values
    .filter((value): value is string => typeof value === "string" && value.trim() !== "")
    .map(truncateForModel);
}

const MAX_TEXT_BYTES = 50_000;

function truncateForModel(text: string): string {
  return truncateMiddle(text, { maxBytes: MAX_TEXT_BYTES });
}

/** Bytes read from each output stream; anything beyond is ignored. */
const MAX_OUTPUT = 262_144;

/** How long output is still read after the hook exits while its children hold the pipes open. */
const DRAIN_MS = 250;

/** A hook that kills its parent process kills only this intermediate shell. */
const SHELL: readonly string[] = ["/bin/sh", "-c", '/bin/sh -c "$1"; exit $?', "hook"];

/** How a hook ended. `code` is null if it did not exit by itself. */
interface HookEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly isCut: boolean;
  /** Why it counts as failed: it did not start, timed out, was killed by a signal, or the run was aborted. */
  readonly failure?: string | undefined;
}

interface HookSurroundings {
  readonly cwd: string;
  /** Environment of the hooks: never contains credentials. */
  readonly env: { readonly [name: string]: string };
  readonly signal: AbortSignal;
  readonly watcher?: ProcessWatcher | undefined;
}

/** Runs a hook in its own process group, which is killed when the hook ends. Never rejects. */
function runHook(hook: HookCommand, input: HookInput, place: HookSurroundings): Promise<HookEnd> {
  return new Promise((resolve) => {
    const group = process.platform !== "win32";
    const [program, ...words] = group ? [...SHELL, hook.command] : [hook.command];
    const child = spawn(program ?? "", words, {
      shell: !group,
      cwd: place.cwd,
      env: place.env,
      detached: group,
      windowsHide: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    const { pid } = child;
    if (pid !== undefined) place.watcher?.add(pid);
    const outputs = { stdout: new BoundedBytes(), stderr: new BoundedBytes() };
    const endGroup = (): void => {
      if (pid !== undefined) sendSignal(group ? -pid : pid, "SIGKILL");
    };
    let failure: string | undefined;
    const fail = (why: string): void => {
      failure ??= why;
      endGroup();
    };
    const timer = setTimeout(() => fail(`it took longer than ${hook.timeoutMs / 1_000} s`), hook.timeoutMs);
    const onAbort = (): void => fail("the run was stopped");
    place.signal.addEventListener("abort", onAbort, { once: true });
    let drain: NodeJS.Timeout | undefined;
    let ended: number | null = null;
    let isFinished = false;
    const finish = (): void => {
      if (isFinished) return;
      isFinished = true;
      clearTimeout(timer);
      clearTimeout(drain);
      place.signal.removeEventListener("abort", onAbort);
      child.stdout.destroy();
      child.stderr.destroy();
      const { stdout, stderr } = outputs;
      const texts = { stdout: stdout.text(), stderr: stderr.text(), isCut: stdout.isTruncated };
      resolve({ code: ended, ...texts, failure });
    };
    child.stdout.on("data", (bytes: Buffer) => outputs.stdout.add(bytes));
    child.stderr.on("data", (bytes: Buffer) => outputs.stderr.add(bytes));
    // A hook may ignore its input.
    child.stdin.on("error", () => undefined);
    child.stdin.end(`${JSON.stringify(input)}\n`);
    child.on("error", (error) => {
      failure ??= `it could not be started: ${errorMessage(error)}`;
      finish();
    });
    child.on("exit", (code, signal) => {
      ended = code;
      if (signal !== null) failure ??= `it was ended by ${signal}`;
      // Once the group is gone nothing writes to the pipe, unless a process left the group.
      endGroup();
      if (pid !== undefined) place.watcher?.remove(pid);
      drain = setTimeout(finish, DRAIN_MS);
    });
    child.on("close", finish);
    if (place.signal.aborted) onAbort();
  });
}

class BoundedBytes {
  readonly #chunks: Buffer[] = [];
  #length = 0;
  isTruncated = false;

  add(bytes: Buffer): void {
    const space = MAX_OUTPUT - this.#length;
    this.isTruncated ||= bytes.length > space;
    if (space <= 0) return;
    this.#chunks.push(bytes.subarray(0, space));
    this.#length += Math.min(space, bytes.length);
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString("utf8").trim();
  }
}

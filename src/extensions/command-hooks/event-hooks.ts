import { spawn } from "node:child_process";
import { inTime, systemClock } from "../../core/base/async.ts";
import { errorMessage } from "../../core/base/errors.ts";
import { type Fields, isRecord, ownValue, safeParse } from "../../core/base/json.ts";
import { truncateMiddle } from "../../core/base/text.ts";
import type { ProcessWatcher } from "../../system/process-watcher.ts";
import {
  type HookCommand,
  type HookEvent,
  type HookHandler,
  type HookInput,
  type HookVerdict,
  meantName,
} from "./read-hooks.ts";

export interface EventHooksOptions {
  readonly commands: readonly HookCommand[];
  readonly handlers: readonly HookHandler[];
  readonly place: () => Omit<HookPlace, "signal">;
  readonly facts: () => Pick<HookInput, "session_id" | "transcript_path" | "cwd" | "permission_mode">;
}

export interface HookOccasion {
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
  async fire(event: HookEvent, { name = "", fields = {}, signal }: HookOccasion = {}): Promise<HookVerdict> {
    const { commands, handlers, place, facts } = this.#options;
    const isWanted = (hook: HookCommand | HookHandler): boolean =>
      hook.event === event && meantName(hook, name) !== undefined;
    const [programs, functions] = [commands.filter(isWanted), handlers.filter(isWanted)];
    if (programs.length + functions.length === 0) return NO_VERDICT;
    const input: HookInput = { ...facts(), hook_event_name: event, ...fields };
    // A script sees the tool name that its matcher matched.
    const inputOf = (hook: HookCommand | HookHandler): HookInput =>
      "tool_name" in fields ? { ...input, tool_name: meantName(hook, name) ?? name } : input;
    const where: HookPlace = { ...place(), signal: signal ?? new AbortController().signal };
    const answers = await Promise.all([
      ...programs.map(async (hook) => readAnswer(hook, await runHook(hook, inputOf(hook), where))),
      ...functions.map((hook) => callHandler(hook, inputOf(hook), where.signal)),
    ]);
    return combine(answers);
  }
}

const HANDLER_TIMEOUT_MS = 60_000;

async function callHandler(hook: HookHandler, input: HookInput, signal: AbortSignal): Promise<HookAnswer> {
  const bound = { ms: HANDLER_TIMEOUT_MS, clock: systemClock, signal };
  try {
    const answer = await inTime((either) => hook.run(structuredClone(input), either), bound);
    return readReturned(hook.source, answer);
  } catch (error) {
    if (!signal.aborted) hook.onFailure(error);
    return { context: [], problems: [] };
  }
}

/** The strictest decision wins, with the reason of the first hook that made it. */
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

const NOTHING: HookAnswer = { context: [], problems: [] };

/** Exit 0 with a JSON object decides, 2 blocks with stderr as the reason, anything else is a problem. */
function readAnswer(hook: HookCommand, end: HookEnd): HookAnswer {
  const { code, stdout, stderr, failure, isCut } = end;
  const name = hookName(hook);
  if (failure !== undefined) return { ...NOTHING, problems: [`the hook ${name} failed: ${failure}`] };
  if (code === 2) return blocked(hook, stderr);
  if (code !== 0) {
    const said = stderr === "" ? "" : `: ${stderr.slice(0, 500)}`;
    return {
      ...NOTHING,
      problems: [`the hook ${name} ended with ${code}, which blocks nothing (2 does)${said}`],
    };
  }
  if (!stdout.startsWith("{")) return plainText(hook, stdout);
  if (isCut) return { ...NOTHING, problems: [`the hook ${name} answered more than ${MAX_OUTPUT >> 10} KB`] };
  const parsed = safeParse(stdout);
  if (!parsed.ok || !isRecord(parsed.value))
    return { ...NOTHING, problems: [`the hook ${name} answered what is not JSON: ${stdout.slice(0, 200)}`] };
  return decided(name, parsed.value);
}

function hookName({ command, source }: HookCommand): string {
  return `${JSON.stringify(command.length > 120 ? `${command.slice(0, 119)}…` : command)} of ${source}`;
}

function blocked(hook: HookCommand, stderr: string): HookAnswer {
  const name = hookName(hook);
  const reason = stderr === "" ? `the hook ${name} blocked it` : forModel(stderr);
  // Interpreters also exit with 2 if the script is missing: a person must learn why everything is blocked.
  const isMissing = /can't open file|No such file or directory|not found/i.test(stderr);
  const problems = isMissing
    ? [
        `the hook ${name} ended with 2, which blocks. Its own script seems to be missing: ${stderr.slice(0, 300)}`,
      ]
    : [];
  return { decision: "deny", reason, by: name, context: [], problems };
}

/** For these events, plain output is sent to the model; for others it is ignored. */
function plainText({ event }: HookCommand, stdout: string): HookAnswer {
  const counts = (event === "UserPromptSubmit" || event === "SessionStart") && stdout !== "";
  return counts ? { ...NOTHING, context: [forModel(stdout)] } : NOTHING;
}

const DECISIONS: { readonly [word: string]: "allow" | "ask" | "deny" | undefined } = {
  allow: "allow",
  approve: "allow",
  ask: "ask",
  deny: "deny",
  block: "deny",
};

function readReturned(name: string, value: unknown): HookAnswer {
  if (value === undefined || value === null) return NOTHING;
  if (isRecord(value)) return decided(name, value);
  return { ...NOTHING, problems: [`the hook of ${name} returned ${typeof value}, which is not an object`] };
}

function decided(name: string, answer: Fields): HookAnswer {
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
    .map(forModel);
}

const MAX_TEXT_BYTES = 50_000;

function forModel(text: string): string {
  return truncateMiddle(text, { maxBytes: MAX_TEXT_BYTES });
}

/** Bytes read from each output stream; anything beyond is ignored. */
const MAX_OUTPUT = 262_144;

/** How long the output of an exited hook is still read if a process it started holds the pipes open. */
const DRAIN_MS = 250;

/** A shell between us and the hook: a hook that kills its parent process kills only this shell. */
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

interface HookPlace {
  readonly cwd: string;
  /** Environment of the hooks: never contains credentials. */
  readonly env: { readonly [name: string]: string };
  readonly signal: AbortSignal;
  readonly watcher?: ProcessWatcher | undefined;
}

/** Runs a hook in its own process group, which is killed when the hook ends. Never rejects. */
function runHook(hook: HookCommand, input: HookInput, place: HookPlace): Promise<HookEnd> {
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
    const endGroup = (): void => kill(pid, group);
    let failure: string | undefined;
    const give = (why: string): void => {
      failure ??= why;
      endGroup();
    };
    const timer = setTimeout(() => give(`it took longer than ${hook.timeoutMs / 1_000} s`), hook.timeoutMs);
    const onAbort = (): void => give("the run was stopped");
    place.signal.addEventListener("abort", onAbort, { once: true });
    let drain: NodeJS.Timeout | undefined;
    let ended: number | null = null;
    let isOver = false;
    const finish = (): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      clearTimeout(drain);
      place.signal.removeEventListener("abort", onAbort);
      child.stdout.destroy();
      child.stderr.destroy();
      const { stdout, stderr } = outputs;
      const texts = { stdout: stdout.text(), stderr: stderr.text(), isCut: stdout.isCut };
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

function kill(pid: number | undefined, group: boolean): void {
  try {
    if (pid !== undefined) process.kill(group ? -pid : pid, "SIGKILL");
  } catch {
    // The group is already gone.
  }
}

class BoundedBytes {
  readonly #chunks: Buffer[] = [];
  #length = 0;
  isCut = false;

  add(bytes: Buffer): void {
    const room = MAX_OUTPUT - this.#length;
    this.isCut ||= bytes.length > room;
    if (room <= 0) return;
    this.#chunks.push(bytes.subarray(0, room));
    this.#length += Math.min(room, bytes.length);
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString("utf8").trim();
  }
}

import type { ResumeOptions } from "../../coding/session/coding-session.ts";
import { misuse } from "../../core/base/errors.ts";
import { defined } from "../../core/base/json.ts";
import { assertSessionId } from "../../session/session-file.ts";
import { NO_VALUE, type ParsedOptions } from "./read-options.ts";

/** The session of a run as the command line names it. */
export interface SessionFlags {
  /** False: nothing of the run is kept on disk. */
  readonly keep: boolean;
  /** Id of the new session or copy. */
  readonly sessionId: string | undefined;
  readonly resume: ResumeOptions | undefined;
}

/** The session options of a run. Throws `invalid_argument` for bad ids and options that disagree. */
export function readSessionFlags(flags: ParsedOptions): SessionFlags {
  const named = flags.text("--resume");
  const sessionId = flags.text("--session-id");
  if (named !== undefined && named !== NO_VALUE) assertSessionId(named, "--resume");
  if (sessionId !== undefined) assertSessionId(sessionId, "--session-id");
  assertAgreement(flags);
  const step = readStep(flags.text("--from"));
  const id = named === undefined || named === NO_VALUE ? "last" : named;
  const fork = flags.has("--fork-session");
  const isResumed = flags.has("--continue") || named !== undefined;
  return {
    keep: !flags.has("--no-session"),
    sessionId,
    resume: isResumed ? { id, fork, ...defined({ step }) } : undefined,
  };
}

/** A step number of the command line. Throws `invalid_argument` for what is not a whole number from 1. */
export function readStep(text: string | undefined): number | undefined {
  if (text === undefined || /^[1-9]\d{0,8}$/.test(text)) return text === undefined ? undefined : Number(text);
  throw misuse(
    `--from ${JSON.stringify(text)}: write the number of a step, from 1. nano-agent sessions show prints them.`,
  );
}

function assertAgreement(flags: ParsedOptions): void {
  const from = (["--continue", "--resume"] as const).filter((name) => flags.has(name));
  const [other] = [...from, ...(flags.has("--fork-session") ? ["--fork-session"] : [])];
  if (from.length > 1)
    throw misuse("--continue takes the newest session and --resume names one. Leave one out.");
  if (flags.has("--from") && from.length === 0)
    throw misuse(
      "--from goes back to a step of a session: say which session, with --continue or --resume ID.",
    );
  if (flags.has("--no-session") && other !== undefined)
    throw misuse(`--no-session keeps nothing and ${other} goes on with what was kept. Leave one out.`);
  if (flags.has("--fork-session") && from.length === 0)
    throw misuse("--fork-session copies a session: say which, with --continue or --resume ID.");
  if (from.length > 0 && flags.has("--session-id") && !flags.has("--fork-session"))
    throw misuse("--session-id names a new session. With --continue and --resume it needs --fork-session.");
}

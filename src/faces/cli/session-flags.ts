import type { SessionChoice } from "../../app/open-session.ts";
import { assertSessionId } from "../../session/session-id.ts";
import type { ParsedFlags } from "./parse-flags.ts";
import { usageError } from "./usage-error.ts";

/** What the options say about the session of a run. Throws `invalid_argument` for what is no id and for options that disagree. */
export function readSessionFlags(flags: ParsedFlags): SessionChoice {
  const resume = flags.text("resume");
  const sessionId = flags.text("session-id");
  const fork = flags.has("fork-session");
  const isContinued = flags.has("continue");
  if (resume !== undefined) assertSessionId(resume, "--resume");
  if (sessionId !== undefined) assertSessionId(sessionId, "--session-id");
  if (isContinued && resume !== undefined)
    throw usageError("--continue takes the newest session and --resume names one. Leave one out.");
  const goesOn = isContinued || resume !== undefined;
  const others = { "--continue": isContinued, "--resume": resume !== undefined, "--fork-session": fork };
  const [other] = Object.entries(others).find(([, given]) => given) ?? [];
  if (flags.has("no-session") && other !== undefined)
    throw usageError(`--no-session keeps nothing and ${other} goes on with what was kept. Leave one out.`);
  if (fork && !goesOn)
    throw usageError("--fork-session copies a session: say which, with --continue or --resume ID.");
  if (goesOn && !fork && sessionId !== undefined)
    throw usageError(
      "--session-id names a new session. With --continue and --resume it needs --fork-session.",
    );
  return {
    keep: !flags.has("no-session"),
    fork,
    ...(isContinued ? { from: { type: "newest" } as const } : {}),
    ...(resume === undefined ? {} : { from: { type: "id", id: resume } as const }),
    ...(sessionId === undefined ? {} : { sessionId }),
  };
}

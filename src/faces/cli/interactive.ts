import type { CodingSession } from "../../coding/session/coding-session.ts";
import { prepareCodingSession } from "../../coding/session/prepare-coding-session.ts";
import { currentFolder, existingFolder } from "../../coding/settings/paths.ts";
import { newUuid } from "../../core/base/ids.ts";
import { omitUndefined } from "../../core/base/json.ts";
import type { CommandContext } from "./command-context.ts";
import { EndingSignals } from "./ending-signals.ts";
import { UncaughtErrors } from "./foreign-code.ts";
import { readPromptIfAny } from "./prompt.ts";
import { type RunFlags, sessionOptionsOf } from "./run-flags.ts";

declare const NANO_AGENT_VERSION: string;

export interface InteractiveFlags extends RunFlags {
  /** True for `--resume` without an id: the person chooses. */
  readonly picksSession: boolean;
}

export async function runInteractive(
  { environment }: CommandContext,
  flags: InteractiveFlags,
): Promise<number> {
  using signals = new EndingSignals();
  const cwd =
    flags.cwd === undefined ? existingFolder(currentFolder(), "cwd") : existingFolder(flags.cwd, "--cwd");
  const { words } = flags;
  const prompt = await readPromptIfAny({ words, stdin: "terminal", cwd, onNotice: () => undefined });
  const { openScreen, wantsPlain } = await import("../terminal/open-screen.ts");
  let isFirst = true;
  const strays = new UncaughtErrors({ drawsScreen: true });
  return await openScreen({
    environment,
    cwd,
    isPlain: flags.plain || wantsPlain(environment),
    prompt,
    picksSession: flags.picksSession,
    isResumed: flags.session.resume !== undefined,
    prepare: async ({ resume, fresh = false, acceptServer }) => {
      const newId = flags.session.sessionId ?? newUuid();
      const { resume: asked, sessionId, ...options } = sessionOptionsOf(flags, { cwd, environment, newId });
      // Options for the resumed session (a copy) also apply to the one chosen from the list.
      const chosen =
        resume === undefined ? undefined : { ...(isFirst ? flags.session.resume : {}), ...resume };
      const goesOn = chosen ?? (fresh ? undefined : asked);
      const prepared = await prepareCodingSession({
        ...options,
        acceptServer,
        adoptErrors: strays.adopt,
        // A requested id applies only to the first session.
        sessionId: isFirst && sessionId !== undefined ? sessionId : newUuid(),
        ...omitUndefined({ resume: goesOn }),
        goOnCommand: (words) => `nano-agent ${words}`,
      });
      const open = async (): Promise<CodingSession> => {
        const session = await prepared.open();
        isFirst = false;
        return session;
      };
      return { ...prepared, open };
    },
    handlesError: strays.take,
    version: NANO_AGENT_VERSION,
    endings: signals,
  });
}

import { systemClock } from "../../core/base/clock.ts";
import { defined } from "../../core/base/defined.ts";
import { EventHooks } from "../../extensions/command-hooks/event-hooks.ts";
import type { HookHandler } from "../../extensions/command-hooks/hook-event.ts";
import { readHooks } from "../../extensions/command-hooks/read-hooks.ts";
import { CALL_VARIABLE } from "../../tools/shell/shell.ts";
import type { OpenSession } from "../open-session.ts";
import type { Settings } from "../settings.ts";
import { SessionHooks } from "./session-hooks.ts";

/** What {@link openSessionHooks} works with. */
export interface OpenHooksOptions {
  readonly settings: Settings;
  readonly handlers: readonly HookHandler[];
  /** What commands of the agent see: never credentials. */
  readonly shell: { readonly env?: { readonly [name: string]: string | undefined } };
  readonly opened: () => OpenSession | undefined;
  readonly onNotice: (message: string) => void;
}

/** The hooks of a session; those of the settings that cannot be used are told. */
export function openSessionHooks(options: OpenHooksOptions): SessionHooks {
  const { settings, handlers, shell, opened, onNotice } = options;
  const { config, cwd, folders } = settings;
  const read = Object.entries(config.values.hooks ?? {}).map(([event, groups]) =>
    readHooks({ [event]: groups }, config.sources.get(`hooks.${event}`) ?? "settings"),
  );
  for (const problem of read.flatMap(({ problems }) => problems)) onNotice(problem);
  const project = folders[0] ?? cwd;
  const mode = config.values.permissionMode ?? "default";
  const hooks = new EventHooks({
    commands: read.flatMap(({ hooks: commands }) => commands),
    handlers,
    place: () => ({
      cwd,
      env: {
        ...defined(shell.env ?? {}),
        CLAUDE_PROJECT_DIR: project,
        NANO_AGENT_PROJECT_DIR: project,
        ...markOf(opened()),
      },
    }),
    facts: () => ({
      session_id: opened()?.journal.sessionId ?? "",
      transcript_path: opened()?.kept?.path ?? "",
      cwd,
      permission_mode: session.mode,
    }),
  });
  const session = new SessionHooks({ hooks, cwd, mode, onNotice, clock: systemClock });
  return session;
}

/** By this mark what a killed run left behind is found. */
function markOf(session: OpenSession | undefined): { readonly [name: string]: string } {
  return session?.kept === undefined ? {} : { [CALL_VARIABLE]: `${session.kept.writer}/hook` };
}

import type { Journal } from "../../core/agent/journal.ts";
import { systemClock } from "../../core/base/clock.ts";
import { EventHooks } from "../../extensions/command-hooks/event-hooks.ts";
import type { HookHandler } from "../../extensions/command-hooks/hook-event.ts";
import { readHooks } from "../../extensions/command-hooks/read-hooks.ts";
import { JsonlJournal } from "../../session/jsonl-journal.ts";
import { CALL_VARIABLE } from "../../tools/shell/shell.ts";
import type { Settings } from "../settings.ts";
import { SessionHooks } from "./session-hooks.ts";

/** What {@link openSessionHooks} works with. */
export interface OpenHooksOptions {
  readonly settings: Settings;
  /** Those of extensions. */
  readonly handlers: readonly HookHandler[];
  /** What commands of the agent see: never credentials. */
  readonly shell: { readonly env?: { readonly [name: string]: string | undefined } };
  /** The journal, once it is open. */
  readonly journal: () => Journal | undefined;
  readonly onNotice: (message: string) => void;
}

/** The hooks of a session; those of the settings that cannot be used are told. */
export function openSessionHooks(options: OpenHooksOptions): SessionHooks {
  const { settings, handlers, shell, journal, onNotice } = options;
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
    place: () => ({ cwd, env: hookEnvironment(shell.env ?? {}, { project, journal: journal() }) }),
    facts: () => {
      const open = journal();
      return {
        session_id: open?.sessionId ?? "",
        transcript_path: open instanceof JsonlJournal ? open.path : "",
        cwd,
        permission_mode: session.mode,
      };
    },
  });
  const session = new SessionHooks({ hooks, cwd, mode, onNotice, clock: systemClock });
  return session;
}

function hookEnvironment(
  env: { readonly [name: string]: string | undefined },
  { project, journal }: { readonly project: string; readonly journal: Journal | undefined },
): { readonly [name: string]: string } {
  const variables = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    ...Object.fromEntries(variables),
    CLAUDE_PROJECT_DIR: project,
    NANO_AGENT_PROJECT_DIR: project,
    // By this mark what a killed run left behind is found.
    ...(journal instanceof JsonlJournal ? { [CALL_VARIABLE]: `${journal.writer}/hook` } : {}),
  };
}

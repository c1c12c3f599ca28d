import { systemClock } from "../../core/base/clock.ts";
import { defined } from "../../core/base/defined.ts";
import { EventHooks } from "../../extensions/command-hooks/event-hooks.ts";
import type { HookHandler } from "../../extensions/command-hooks/hook-event.ts";
import { readHooks } from "../../extensions/command-hooks/read-hooks.ts";
import { markedEnvironment } from "../../system/process-watcher.ts";
import type { ShellOptions } from "../../tools/shell/shell-session.ts";
import type { Settings } from "../settings/settings.ts";
import type { OpenSession } from "../setup/open-session.ts";
import { SessionHooks } from "./session-hooks.ts";

/** Options of {@link openSessionHooks}. */
export interface OpenHooksOptions {
  readonly settings: Settings;
  readonly handlers: readonly HookHandler[];
  /** The variables that commands see, never credentials, and the mark that finds a killed agent's. */
  readonly shell: Pick<ShellOptions, "env" | "mark" | "watcher">;
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
  const { mark = "", watcher } = shell;
  const project = folders[0] ?? cwd;
  const mode = config.values.permissionMode ?? "default";
  const hooks = new EventHooks({
    commands: read.flatMap(({ hooks: commands }) => commands),
    handlers,
    place: () => {
      watcher?.add(mark);
      const env = markedEnvironment(defined(shell.env ?? {}), `${mark}.hook`);
      return {
        cwd,
        watcher,
        env: { ...env, CLAUDE_PROJECT_DIR: project, NANO_AGENT_PROJECT_DIR: project },
      };
    },
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

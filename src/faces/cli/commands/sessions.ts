import { currentFolder, userPaths } from "../../../coding/settings/paths.ts";
import { sessionStore } from "../../../coding/setup/open-session.ts";
import { removeSession } from "../../../coding/setup/undo-place.ts";
import type { SessionFile } from "../../../session/session-store.ts";
import { EXIT } from "../../../view/exit-code.ts";
import type { CommandCall, SessionCall } from "../command-call.ts";
import type { CommandContext } from "../command-context.ts";
import { exportSession } from "../sessions/export-session.ts";
import { listSessions, verifySessions } from "../sessions/list-sessions.ts";
import { showSession } from "../sessions/show-session.ts";
import { showStats } from "../sessions/show-stats.ts";

const ACTIONS: { readonly [name: string]: (call: SessionCall) => number | Promise<number> } = {
  list: (call) => {
    const search = call.text("--search");
    return search === undefined ? listSessions(call) : find(call, search);
  },
  find: (call) => find(call, call.words.join(" ")),
  show: (call) => (call.has("--stats") ? showStats : showSession)(call, chosen(call)),
  export: (call) => exportSession(call, chosen(call)),
  verify: verifySessions,
  compact: async (call) => (await import("../sessions/large-actions.ts")).compactSession(call, chosen(call)),
  replay: async (call) => (await import("../sessions/large-actions.ts")).replayCommand(call, chosen(call)),
  import: async (call) => (await import("../sessions/large-actions.ts")).importCommand(call),
  rm: async (call) => {
    const { context, store } = call;
    const session = chosen(call);
    await removeSession({ paths: userPaths(context.environment), store }, session);
    context.stdout.write(`Removed ${session.sessionId}\n`);
    return EXIT.done;
  },
};

/** `nano-agent sessions …`: what is kept of earlier runs. */
export async function sessions(context: CommandContext, call: CommandCall): Promise<number> {
  const store = sessionStore(userPaths(context.environment));
  const code = await ACTIONS[call.action]?.({ ...call, context, store, cwd: currentFolder() });
  return code ?? EXIT.usage;
}

async function find(call: SessionCall, text: string): Promise<number> {
  const { findCommand } = await import("../sessions/large-actions.ts");
  return findCommand(call, text);
}

/** The session a command names; the newest of the working folder when it names none. */
function chosen({ store, cwd, words }: SessionCall): SessionFile {
  const [id] = words;
  return id === undefined ? store.newest(cwd) : store.find(id, cwd);
}

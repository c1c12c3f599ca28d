import { EXIT } from "../../../app/coding-session/exit-code.ts";
import { currentFolder, userPaths } from "../../../app/config/paths.ts";
import { sessionStore } from "../../../app/open-session.ts";
import { redactionFor } from "../../../app/secrets.ts";
import { loadSettings } from "../../../app/settings.ts";
import { removeSession } from "../../../app/undo.ts";
import type { SessionFile, SessionStore } from "../../../session/session-store.ts";
import type { CommandCall } from "../command-call.ts";
import type { CommandContext } from "../command-context.ts";
import { readStep } from "../session-flags.ts";
import { exportSession } from "../sessions/export-session.ts";
import { listSessions } from "../sessions/list-sessions.ts";
import { showSession } from "../sessions/show-session.ts";
import { showStats } from "../sessions/show-stats.ts";
import { verifySessions } from "../sessions/verify-sessions.ts";
import { usageError } from "../usage-error.ts";

interface ActionCall extends CommandCall {
  readonly context: CommandContext;
  readonly store: SessionStore;
  readonly cwd: string;
}

const ACTIONS: { readonly [name: string]: (call: ActionCall) => number | Promise<number> } = {
  list: (call) => {
    const search = call.text("--search");
    if (search !== undefined) return find(call, search);
    const { context, store, cwd, has } = call;
    return listSessions(context.stdout, store.list(has("--all") ? undefined : cwd), {
      json: has("--json"),
      cwd,
    });
  },
  find: (call) => find(call, call.words.join(" ")),
  show: (call) => {
    const show = call.has("--stats") ? showStats : showSession;
    return show(call.context.stdout, chosen(call), { json: call.has("--json") });
  },
  export: async (call) => {
    const { context, cwd } = call;
    const format = exportFormat(call);
    const { config } = await loadSettings({ environment: context.environment, cwd });
    const redact = redactionFor(context.environment, config.values);
    return exportSession(context, chosen(call), { format, file: call.text("--output"), cwd, redact });
  },
  verify: ({ context, words }) => verifySessions(context, words),
  compact: async (call) => {
    if (call.has("--preview") && call.has("--undo"))
      throw usageError(
        "sessions compact shows what would happen or takes it back. Leave --preview or --undo out.",
      );
    const session = chosen(call);
    const { compactSession } = await import("../sessions/large-actions.ts");
    const action = call.has("--preview") ? "preview" : call.has("--undo") ? "undo" : "compact";
    return compactSession(call, session, { action, json: call.has("--json") });
  },
  replay: async (call) => {
    const session = chosen(call);
    const { replayCommand } = await import("../sessions/large-actions.ts");
    return replayCommand(call.context, session, {
      from: readStep(call.text("--from")),
      model: call.text("--model"),
      liveTools: call.has("--live-tools"),
      workspace: call.text("--workspace"),
      yolo: call.has("--yolo"),
      allowedTools: call.list("--allowed-tools"),
      json: call.has("--json"),
    });
  },
  import: async ({ context, store, cwd, words, has }) => {
    const { importCommand } = await import("../sessions/large-actions.ts");
    return importCommand(context, words, { store, cwd, json: has("--json") });
  },
  rm: async (call) => {
    const session = chosen(call);
    await removeSession({ paths: userPaths(call.context.environment), store: call.store }, session);
    call.context.stdout.write(`Removed ${session.sessionId}\n`);
    return EXIT.done;
  },
};

/** `nano-agent sessions …`: what is kept of earlier runs. */
export async function sessions(context: CommandContext, call: CommandCall): Promise<number> {
  const store = sessionStore(userPaths(context.environment));
  const code = await ACTIONS[call.action]?.({ ...call, context, store, cwd: currentFolder() });
  return code ?? EXIT.usage;
}

async function find(call: ActionCall, text: string): Promise<number> {
  const { findCommand } = await import("../sessions/large-actions.ts");
  const { context, store, cwd, has } = call;
  return findCommand(context, text, { store, cwd: has("--all") ? undefined : cwd, json: has("--json") });
}

function exportFormat({ has, text }: CommandCall): "markdown" | "json" | "html" {
  const formats = (["markdown", "json", "html"] as const).filter(
    (format) => text("--format") === format || (format !== "html" && has(`--${format}`)),
  );
  const [format = "markdown", other] = formats;
  if (other === undefined) return format;
  throw usageError("sessions export writes one format: markdown, json or html. Leave the others out.");
}

/** The session a command names; the newest of the working folder when it names none. */
function chosen({ store, cwd, words }: ActionCall): SessionFile {
  const [id] = words;
  return id === undefined ? store.newest(cwd) : store.find(id, cwd);
}

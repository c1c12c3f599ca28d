import { EXIT } from "../../../app/coding-session/exit-code.ts";
import { currentFolder, userPaths } from "../../../app/config/paths.ts";
import { sessionStore } from "../../../app/open-session.ts";
import { redactionFor } from "../../../app/secrets.ts";
import { loadSettings } from "../../../app/settings.ts";
import { removeSession } from "../../../app/undo.ts";
import { nearest } from "../../../core/base/text.ts";
import type { SessionFile, SessionStore } from "../../../session/session-store.ts";
import type { CommandContext } from "../command-context.ts";
import { exportSession } from "../sessions/export-session.ts";
import { listSessions } from "../sessions/list-sessions.ts";
import {
  readSessionWords,
  type SessionOptions,
  type SessionWords,
  stepNumber,
} from "../sessions/session-words.ts";
import { showSession } from "../sessions/show-session.ts";
import { showStats } from "../sessions/show-stats.ts";
import { verifySessions } from "../sessions/verify-sessions.ts";
import { usageError } from "../usage-error.ts";

/** What a word behind `sessions` does. */
interface Action {
  readonly usage: string;
  readonly options: SessionOptions;
  readonly run: (call: ActionCall) => number | Promise<number>;
}

interface ActionCall extends SessionWords {
  readonly context: CommandContext;
  readonly store: SessionStore;
  readonly cwd: string;
}

const ACTIONS: { readonly [name: string]: Action } = {
  list: {
    usage: "list [--all] [--search TEXT] [--json]",
    options: { "--all": "flag", "--search": "text", "--json": "flag" },
    run: (call) => {
      if (call.words.length > 0) throw tooMany("list", call.words[0]);
      const search = call.text("--search");
      if (search !== undefined) return find(call, search);
      const { context, store, cwd, has } = call;
      return listSessions(context.stdout, store.list(has("--all") ? undefined : cwd), {
        json: has("--json"),
        cwd,
      });
    },
  },
  find: {
    usage: "find TEXT… [--all] [--json]",
    options: { "--all": "flag", "--json": "flag" },
    run: (call) => {
      if (call.words.length === 0)
        throw usageError("sessions find needs a text: nano-agent sessions find TEXT");
      return find(call, call.words.join(" "));
    },
  },
  show: {
    usage: "show [ID] [--stats] [--json]",
    options: { "--stats": "flag", "--json": "flag" },
    run: (call) => {
      const show = call.has("--stats") ? showStats : showSession;
      return show(call.context.stdout, chosen(call, "show"), { json: call.has("--json") });
    },
  },
  export: {
    usage: "export [ID] [--format markdown|json|html] [--output FILE]",
    options: { "--format": "text", "--markdown": "flag", "--json": "flag", "--output": "text", "-o": "text" },
    run: async (call) => {
      const { context, cwd } = call;
      const format = exportFormat(call);
      const file = call.text("--output") ?? call.text("-o");
      const { config } = await loadSettings({ environment: context.environment, cwd });
      const redact = redactionFor(context.environment, config.values);
      return exportSession(context, chosen(call, "export"), { format, file, cwd, redact });
    },
  },
  verify: {
    usage: "verify FILE…",
    // It writes nothing else: the option does no harm.
    options: { "--json": "flag" },
    run: ({ context, words }) => {
      if (words.length === 0)
        throw usageError("sessions verify needs files: nano-agent sessions verify FILE…");
      return verifySessions(context, words);
    },
  },
  compact: {
    usage: "compact [ID] [--preview|--undo] [--json]",
    options: { "--preview": "flag", "--undo": "flag", "--json": "flag" },
    run: async (call) => {
      if (call.has("--preview") && call.has("--undo"))
        throw usageError(
          "sessions compact shows what would happen or takes it back. Leave --preview or --undo out.",
        );
      const session = chosen(call, "compact");
      const { compactSession } = await import("../sessions/large-actions.ts");
      const action = call.has("--preview") ? "preview" : call.has("--undo") ? "undo" : "compact";
      return compactSession(call, session, { action, json: call.has("--json") });
    },
  },
  replay: {
    usage:
      "replay ID [--from N [--model NAME]] [--live-tools [--workspace FOLDER] [--allowed-tools NAMES] [--yolo]] [--json]",
    options: {
      "--from": "text",
      "--model": "text",
      "--live-tools": "flag",
      "--workspace": "text",
      "--allowed-tools": "text",
      "--yolo": "flag",
      "--json": "flag",
    },
    run: async (call) => {
      const session = chosen(call, "replay");
      const { replayCommand } = await import("../sessions/large-actions.ts");
      return replayCommand(call.context, session, {
        from: stepNumber(call.text("--from")),
        model: call.text("--model"),
        liveTools: call.has("--live-tools"),
        workspace: call.text("--workspace"),
        yolo: call.has("--yolo"),
        allowedTools: call.list("--allowed-tools"),
        json: call.has("--json"),
      });
    },
  },
  import: {
    usage: "import FILE… [--json]",
    options: { "--json": "flag" },
    run: async ({ context, store, cwd, words, has }) => {
      if (words.length === 0)
        throw usageError("sessions import needs files: nano-agent sessions import FILE…");
      const { importCommand } = await import("../sessions/large-actions.ts");
      return importCommand(context, words, { store, cwd, json: has("--json") });
    },
  },
  rm: {
    usage: "rm ID",
    options: {},
    run: async (call) => {
      if (call.words.length === 0)
        throw usageError("sessions rm needs the id of a session: nano-agent sessions rm ID");
      const session = chosen(call, "rm");
      await removeSession({ paths: userPaths(call.context.environment), store: call.store }, session);
      call.context.stdout.write(`Removed ${session.sessionId}\n`);
      return EXIT.done;
    },
  },
};

/** `nano-agent sessions …`: what is kept of earlier runs. */
export async function sessions(context: CommandContext, args: readonly string[]): Promise<number> {
  const [name = "list", ...rest] = args[0]?.startsWith("-") === true ? ["list", ...args] : args;
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (action === undefined) throw unknownAction(name);
  return action.run({
    ...readSessionWords(rest, { name, ...action }),
    context,
    store: sessionStore(userPaths(context.environment)),
    cwd: currentFolder(),
  });
}

async function find(call: ActionCall, text: string): Promise<number> {
  const { findCommand } = await import("../sessions/large-actions.ts");
  const { context, store, cwd, has } = call;
  return findCommand(context, text, { store, cwd: has("--all") ? undefined : cwd, json: has("--json") });
}

function exportFormat({ has, text }: SessionWords): "markdown" | "json" | "html" {
  const named = [text("--format"), ...["markdown", "json"].filter((format) => has(`--${format}`))].filter(
    (format) => format !== undefined,
  );
  const [format = "markdown"] = named;
  if (named.some((other) => other !== format))
    throw usageError("sessions export writes one format: markdown, json or html. Leave the others out.");
  if (format === "markdown" || format === "json" || format === "html") return format;
  throw usageError(`--format ${JSON.stringify(format)}: unknown. One of: markdown, json, html.`);
}

/** The session a command names; the newest of the working folder when it names none. */
function chosen({ store, cwd, words }: ActionCall, action: string): SessionFile {
  const [id, more] = words;
  if (more !== undefined) throw tooMany(action, more);
  return id === undefined ? store.newest(cwd) : store.find(id, cwd);
}

function tooMany(action: string, word = ""): Error {
  return usageError(`nano-agent sessions ${action}: ${JSON.stringify(word)} is one word too many.`);
}

function unknownAction(name: string): Error {
  const known = Object.keys(ACTIONS);
  const guess = nearest(name, known);
  const hint = guess === undefined ? "" : ` Did you mean ${guess}?`;
  const usages = Object.values(ACTIONS).map(({ usage }) => `nano-agent sessions ${usage}`);
  return usageError(`Unknown: sessions ${name}.${hint} Usage: ${usages.join(" · ")}`);
}

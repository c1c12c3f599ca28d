import { userPaths } from "../../../app/config/paths.ts";
import { sessionStore } from "../../../app/open-session.ts";
import { redactionFor } from "../../../app/secrets.ts";
import { loadSettings } from "../../../app/settings.ts";
import { nearest } from "../../../core/base/text.ts";
import type { SessionFile, SessionStore } from "../../../session/session-store.ts";
import type { CommandContext } from "../command-context.ts";
import { EXIT } from "../exit-code.ts";
import { exportSession } from "../sessions/export-session.ts";
import { listSessions } from "../sessions/list-sessions.ts";
import { showSession } from "../sessions/show-session.ts";
import { verifySessions } from "../sessions/verify-sessions.ts";
import { usageError } from "../usage-error.ts";

/** What a word behind `sessions` does. */
interface Action {
  readonly usage: string;
  /** Options it knows. */
  readonly options: readonly string[];
  readonly run: (call: ActionCall) => number | Promise<number>;
}

interface ActionCall {
  readonly context: CommandContext;
  readonly store: SessionStore;
  readonly cwd: string;
  readonly words: readonly string[];
  readonly has: (option: string) => boolean;
}

const ACTIONS: { readonly [name: string]: Action } = {
  list: {
    usage: "list [--all] [--json]",
    options: ["--all", "--json"],
    run: ({ context, store, cwd, words, has }) => {
      if (words.length > 0) throw tooMany("list", words[0]);
      const sessions = store.list(has("--all") ? undefined : cwd);
      return listSessions(context.stdout, sessions, { json: has("--json"), cwd });
    },
  },
  show: {
    usage: "show [ID] [--json]",
    options: ["--json"],
    run: (call) => showSession(call.context.stdout, chosen(call, "show"), { json: call.has("--json") }),
  },
  export: {
    usage: "export [ID] [--markdown|--json]",
    options: ["--markdown", "--json"],
    run: async (call) => {
      if (call.has("--markdown") && call.has("--json"))
        throw usageError("sessions export writes Markdown or JSON. Leave --markdown or --json out.");
      const { environment, stdout } = call.context;
      const { config } = await loadSettings({ environment, cwd: call.cwd });
      const redact = redactionFor(environment, config.values);
      return exportSession(stdout, chosen(call, "export"), { json: call.has("--json"), redact });
    },
  },
  verify: {
    usage: "verify FILE…",
    options: [],
    run: ({ context, words }) => {
      if (words.length === 0)
        throw usageError("sessions verify needs files: nano-agent sessions verify FILE…");
      return verifySessions(context, words);
    },
  },
  rm: {
    usage: "rm ID",
    options: [],
    run: async (call) => {
      if (call.words.length === 0)
        throw usageError("sessions rm needs the id of a session: nano-agent sessions rm ID");
      const session = chosen(call, "rm");
      const { removeSession } = await import("../../../app/undo.ts");
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
  const given = rest.filter((word) => word.startsWith("-") && word !== "--");
  const unknown = given.find((option) => !action.options.includes(option));
  if (unknown !== undefined)
    throw usageError(`sessions ${name} does not know ${unknown}. Usage: nano-agent sessions ${action.usage}`);
  return action.run({
    context,
    store: sessionStore(userPaths(context.environment)),
    cwd: process.cwd(),
    words: rest.filter((word) => !word.startsWith("-")),
    has: (option) => given.includes(option),
  });
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

import { resolve } from "node:path";
import { EXIT } from "../../../app/coding-session/exit-code.ts";
import { currentFolder, userPaths } from "../../../app/config/paths.ts";
import { sessionStore } from "../../../app/open-session.ts";
import { loadSettings } from "../../../app/settings.ts";
import { changedRuns, type UndoPlace, withRollbackPlace } from "../../../app/undo.ts";
import { nearest } from "../../../core/base/text.ts";
import type { TurnPlace } from "../../../session/checkpoints/checkpoint-history.ts";
import {
  type RollbackReport,
  redo as redoFiles,
  undo as undoFiles,
} from "../../../session/checkpoints/rollback.ts";
import type { SessionFile, SessionStore } from "../../../session/session-store.ts";
import { rollbackJson, rollbackText } from "../../terminal/rollback-text.ts";
import type { CommandContext } from "../command-context.ts";
import { turnsText } from "../undo/turns-text.ts";
import { usageError } from "../usage-error.ts";

/** `nano-agent undo …`: puts files back to how they were before a turn, or lists the turns that changed files. */
export async function undo(context: CommandContext, args: readonly string[]): Promise<number> {
  const words = undoWords(args, {
    name: "undo",
    options: ["--list", "--force", "--dry-run", "--json", "--session"],
  });
  const { store, session } = chosenSession(context, words);
  if (words.has("--list")) {
    if (words.turn !== undefined || words.paths.length > 0)
      throw usageError("undo --list takes no turn and no path. Leave them out.");
    const runs = changedRuns(session);
    context.stdout.write(
      words.has("--json") ? `${JSON.stringify(runs)}\n` : turnsText(runs, session.sessionId),
    );
    return EXIT.done;
  }
  const to = words.turn === undefined ? undefined : turnPlace(words.turn);
  const report = await withRollbackPlace(await undoPlace(context, store), session, (place) =>
    undoFiles(place, {
      ...(to === undefined ? {} : { to }),
      paths: words.paths.map((path) => resolve(path)),
      force: words.has("--force"),
      dryRun: words.has("--dry-run"),
    }),
  );
  return tell(context, report, words);
}

/** `nano-agent redo …`: takes the newest undo back. */
export async function redo(context: CommandContext, args: readonly string[]): Promise<number> {
  const words = undoWords(args, { name: "redo", options: ["--force", "--dry-run", "--json", "--session"] });
  if (words.turn !== undefined || words.paths.length > 0)
    throw usageError(
      "nano-agent redo takes back the newest undo as a whole. Leave the turn and the paths out.",
    );
  const { store, session } = chosenSession(context, words);
  const report = await withRollbackPlace(await undoPlace(context, store), session, (place) =>
    redoFiles(place, { force: words.has("--force"), dryRun: words.has("--dry-run") }),
  );
  return tell(context, report, words);
}

function tell({ stdout, stderr }: CommandContext, report: RollbackReport, words: UndoWords): number {
  const isDry = words.has("--dry-run");
  const isGood =
    report.status !== "refused" && report.failed.every(({ isKeptFolder }) => isKeptFolder === true);
  if (words.has("--json")) stdout.write(`${JSON.stringify(rollbackJson(report, isDry))}\n`);
  else (isGood ? stdout : stderr).write(rollbackText(report, isDry));
  return isGood ? EXIT.done : EXIT.failed;
}

async function undoPlace({ environment }: CommandContext, store: SessionStore): Promise<UndoPlace> {
  const { config } = await loadSettings({ environment, cwd: currentFolder() });
  return { paths: userPaths(environment), store, limits: config.values.undoLimits };
}

interface UndoWords {
  readonly turn: string | undefined;
  readonly paths: readonly string[];
  readonly session: string | undefined;
  readonly has: (option: string) => boolean;
}

function undoWords(
  args: readonly string[],
  { name, options }: { readonly name: string; readonly options: readonly string[] },
): UndoWords {
  const end = args.indexOf("--");
  const before = [...(end === -1 ? args : args.slice(0, end))];
  const given = new Set<string>();
  const words: string[] = [];
  let session: string | undefined;
  for (let word = before.shift(); word !== undefined; word = before.shift()) {
    const [option = "", value] = word.split(/=(.*)/s);
    if (!word.startsWith("-")) words.push(word);
    else if (option === "--session") {
      session = value ?? before.shift();
      if (session === undefined)
        throw usageError("--session needs the id of a session. See nano-agent sessions list.");
    } else if (options.includes(word)) given.add(word);
    else throw unknownOption(name, word, options);
  }
  const [turn, more] = words;
  if (more !== undefined)
    throw usageError(
      `nano-agent ${name}: ${JSON.stringify(more)} is one word too many. Write paths behind --: nano-agent ${name} ${turn} -- PATH…`,
    );
  return { turn, paths: end === -1 ? [] : args.slice(end + 1), session, has: (option) => given.has(option) };
}

function unknownOption(name: string, word: string, options: readonly string[]): Error {
  const guess = nearest(word, options);
  const hint = guess === undefined ? "" : ` Did you mean ${guess}?`;
  return usageError(`nano-agent ${name} does not know ${word}.${hint} Options: ${options.join(", ")}.`);
}

function turnPlace(word: string): TurnPlace {
  const [, run, turn] = /^([1-9]\d{0,8})(?:\.([1-9]\d{0,8}))?$/.exec(word) ?? [];
  if (run === undefined)
    throw usageError(
      `${JSON.stringify(word)} is no turn. Write a number such as 2, or 2.3; see nano-agent undo --list. Paths stand behind --.`,
    );
  return { run: Number(run), turn: turn === undefined ? 0 : Number(turn) };
}

function chosenSession(
  { environment }: CommandContext,
  { session }: UndoWords,
): { readonly store: SessionStore; readonly session: SessionFile } {
  const store = sessionStore(userPaths(environment));
  const cwd = currentFolder();
  return { store, session: session === undefined ? store.newest(cwd) : store.find(session, cwd) };
}

import type { AgentEvent, CheckpointEntry, FileVersion, ToolResultEntry } from "../core/agent/entries.ts";
import { pluralize } from "../core/base/text.ts";
import type { ToolInput } from "../core/message/message.ts";
import { oneLine } from "./call-text.ts";
import { parseUntilNote, type UntilNote } from "./session-notes.ts";

/** Commands that test, build, lint or check types. `*`: any characters; a leading folder is ignored. */
const TABLE = `
npm|pnpm|yarn|bun test|t
npm|pnpm|yarn|bun run test*|build*|lint*|check*|type*
pnpm|yarn build|lint|check|typecheck
deno test|lint|check
node --test
vitest|jest|mocha|ava|tap
playwright|cypress test|run
tsc|vue-tsc|eslint|oxlint|stylelint
biome check|lint|ci
prettier --check|-c
vite|next|astro build
python|python3 -m pytest|unittest|mypy|pyright
pytest|py.test|tox|nox|mypy|pyright|basedpyright|flake8|pylint
ruff check
cargo test|t|build|b|check|c|clippy|nextest
go test|build|vet
golangci-lint run
make test*|check*|build*|lint*|all
just|task|rake test*|check*|build*|lint*
mvn|mvnw test|verify|compile|package
gradle|gradlew test|check|build
dotnet|swift|zig|bazel test|build
ctest|rspec|phpunit|phpstan|shellcheck|actionlint
cmake --build
composer|mix test
node|tsx|bun|python|python3|ruby|php|bash|sh test*|check*|*.test.*|*_test.*|*.spec.*
test.*|check.*|run-tests*
`;

/** The table as published: one command, or a few of one kind, per line. */
export const CHECK_COMMANDS: readonly string[] = TABLE.trim().split("\n");

const PATTERNS = CHECK_COMMANDS.map((row) => row.split(" ").map((word) => word.split("|").map(wordPattern)));

interface WordPattern {
  readonly isOption: boolean;
  readonly pattern: RegExp;
}

function wordPattern(word: string): WordPattern {
  const parts = word.split("*").map((part) => part.replaceAll(".", "\\."));
  return { isOption: word.startsWith("-"), pattern: new RegExp(`^(?:.*/)?${parts.join("[^/\\s]*")}$`) };
}

/** Programs that run the command after them, with their own arguments. */
const WRAPPERS =
  /^(?:npx|bunx|pnpm exec|pnpm dlx|yarn exec|npm exec|bundle exec|uv run|poetry run|pdm run|hatch run|time|env|nice|xvfb-run|timeout \S+|[A-Za-z_]\w*=\S*)(?: --)? /;

/** Options with which such a command checks nothing or never ends. */
const NON_CHECK_OPTION =
  /^(?:--?v(?:ersion)?|--?h(?:elp)?|--watch(?:All)?|-w|--init|--fix-dry-run|--dry-run|--collect-only|--list(?:Tests)?|--print-config|--showConfig)$/;

/** The checks in a Bash line, and whether its exit code reports their result. */
interface CheckLine {
  /** The commands of the line that are in the table. */
  readonly command: string;
  /** True if exit code 0 of the line means that all of them ended with 0. */
  readonly isTold: boolean;
  /** True if nothing follows them in the line. */
  readonly isLast: boolean;
}

/** Finds the commands of the table in a line; `undefined` if it has none. */
export function checkLine(line: string): CheckLine | undefined {
  const commands = simpleCommands(line);
  const places = commands.flatMap(({ words }, at) => (isCheck(words) ? [at] : []));
  const [first] = places;
  const last = places.at(-1);
  if (first === undefined || last === undefined) return undefined;
  return {
    command: places.map((at) => commands[at]?.words.join(" ") ?? "").join(" && "),
    isTold:
      commands.slice(first + 1).every(({ joiner }) => joiner === "&&") &&
      commands.slice(1, first + 1).every(({ joiner }) => joiner !== "||") &&
      !/&\s*$/.test(line),
    isLast: last === commands.length - 1,
  };
}

function isCheck(all: readonly string[]): boolean {
  let text = all.join(" ");
  for (let rest = text.replace(WRAPPERS, ""); rest !== text; rest = text.replace(WRAPPERS, "")) text = rest;
  const [program = "", ...rest] = text.split(" ");
  if (rest.some((word) => NON_CHECK_OPTION.test(word))) return false;
  const words = [program, ...rest];
  return PATTERNS.some((pattern) => {
    // Options between a program and its task, such as `npm --silent test`.
    const meant = pattern[1]?.some(({ isOption }) => isOption) === true ? words : withoutOptions(words);
    return pattern.every((choices, at) => choices.some(({ pattern: own }) => own.test(meant[at] ?? "")));
  });
}

/** Program and operands. Anything after `-c` or `-e` is code. */
function withoutOptions(words: readonly string[]): readonly string[] {
  const code = words.findIndex((word) => word === "-c" || word === "-e");
  const before = code < 0 ? words : words.slice(0, code);
  return before.filter((word, at) => at === 0 || !word.startsWith("-"));
}

interface SimpleCommand {
  readonly words: readonly string[];
  /** Joins it to the previous command. */
  readonly joiner: string;
}

const TOKEN =
  /'[^']*'|"(?:\\.|[^"\\])*"|\\[\s\S]|\d*[<>]+&?\d*-?|&&|\|\||&>|[;|&\n]|[ \t]+|#|[^\s'"\\;|&<>#]+/g;

/** The simple commands of a line, without redirections; the lines after a here-document are its text. */
function simpleCommands(line: string): readonly SimpleCommand[] {
  const commands: { words: string[]; joiner: string }[] = [{ words: [], joiner: "" }];
  let isGlued = false;
  let isTarget = false;
  for (const [piece] of line.matchAll(TOKEN)) {
    const now = commands.at(-1);
    if (now === undefined || piece.startsWith("<<") || (piece === "#" && !isGlued)) break;
    if (/^\s*$/.test(piece) && piece !== "\n") isGlued = false;
    else if (/^(?:&&|\|\|?|;|&|\n)$/.test(piece)) {
      if (now.words.length > 0) commands.push({ words: [], joiner: piece });
      isGlued = isTarget = false;
    } else if (/^(?:\d*[<>]|&>)/.test(piece)) isTarget = !/&\d/.test(piece);
    else {
      if (!isTarget) addPiece(now.words, piece, isGlued);
      isTarget &&= isGlued;
      isGlued = true;
    }
  }
  return commands.filter(({ words }) => words.length > 0);
}

/** Appends a piece to the last word if it adjoins it, else adds a word. */
function addPiece(words: string[], piece: string, isGlued: boolean): void {
  const text = /^['"]/.test(piece) ? piece.slice(1, -1) : piece.replace(/^\\(.)/, "$1");
  if (isGlued) words.push(`${words.pop() ?? ""}${text}`);
  else words.push(words.length === 0 ? text.replace(/^\(/, "") : text.replace(/\)$/, ""));
}

/** A test, build, lint or type-check command that was run. */
export interface EvidenceCheck {
  readonly command: string;
  /** `null`: it was ended, or the rest of its line hides its exit code, as a pipe does. */
  readonly exitCode: number | null;
  readonly ms: number;
  /** True if no file has changed since it began, other than by the command itself. */
  readonly afterLastChange: boolean;
}

/** The changes of a run, and the commands run to check them. Contains nothing that was not run. */
export interface Evidence {
  /** Paths of the files that differ, relative to the working directory if below it. */
  readonly changed: readonly string[];
  /** In the order in which they ended. */
  readonly checks: readonly EvidenceCheck[];
}

/** The evidence of a run that did nothing. */
export const NO_EVIDENCE: Evidence = { changed: [], checks: [] };

interface Check extends Omit<EvidenceCheck, "afterLastChange"> {
  readonly callId: string;
  /** The number of changes it applies to. */
  readonly stamp: number;
}

/** A running command. */
interface StartedCommand {
  readonly input: ToolInput;
  /** Number of changes before it. */
  readonly stamp: number;
  /** Number of changes it made itself. */
  own: number;
}

type Versions = { first: FileVersion | null | undefined; now: FileVersion | null | undefined };

const WRITING_TOOLS: ReadonlySet<string> = new Set(["write", "edit"]);

/** Folds entries into evidence. Restarts with each message that starts a run. */
export class EvidenceFold {
  readonly #cwd: string;
  #changes = 0;
  #files = new Map<string, Versions>();
  #checks: Check[] = [];
  /** Calls whose changes a checkpoint has reported. */
  readonly #checkpointed = new Set<string>();
  readonly #calls = new Map<string, StartedCommand>();

  /** `cwd`: paths below it are shown relative to it. Default: absolute as recorded. */
  constructor(cwd = "") {
    this.#cwd = cwd;
  }

  get evidence(): Evidence {
    const isChanged = ({ first, now }: Versions): boolean =>
      first === undefined || JSON.stringify(first) !== JSON.stringify(now);
    return {
      changed: [...this.#files].flatMap(([path, versions]) => (isChanged(versions) ? [path] : [])),
      checks: this.#checks.map(({ command, exitCode, ms, stamp }) => ({
        command,
        exitCode,
        ms,
        afterLastChange: stamp === this.#changes,
      })),
    };
  }

  /** Applies an event or a stored entry; most are irrelevant here. */
  add(entry: AgentEvent): void {
    switch (entry.type) {
      case "subagent":
        // Its activity counts, but the task it receives starts no run.
        return entry.event.type === "user_message" ? undefined : this.add(entry.event);
      case "user_message":
        return entry.source === "input" && entry.scope === undefined ? this.#restart() : undefined;
      case "tool_intent":
        if (entry.name === "bash" || WRITING_TOOLS.has(entry.name))
          this.#calls.set(entry.callId, { input: entry.input, stamp: this.#changes, own: 0 });
        return;
      case "checkpoint":
        return this.#applyCheckpoint(entry);
      case "rollback":
        this.#changes++;
        for (const { path } of entry.changes) this.#files.delete(this.#displayPath(`${entry.root}/${path}`));
        return;
      case "tool_result":
        return this.#applyResult(entry);
      case "note":
        return this.#addRound(parseUntilNote(entry));
      default:
    }
  }

  /** A round of a run's required command, which need not be in the table. */
  #addRound(note: UntilNote | undefined): void {
    if (note === undefined) return;
    const { callId, command, exitCode, ms } = note;
    const known = this.#checks.find((check) => check.callId === callId);
    this.#checks = this.#checks.filter((check) => check !== known);
    const stamp = known?.stamp ?? this.#changes;
    this.#checks.push({ callId, command, exitCode, ms, stamp });
  }

  #restart(): void {
    this.#files = new Map();
    this.#checks = [];
    this.#changes = 0;
    this.#calls.clear();
    this.#checkpointed.clear();
  }

  #applyCheckpoint({ callId, root, changes, omitted = [] }: CheckpointEntry): void {
    this.#checkpointed.add(callId);
    const files = changes.filter(
      ({ before, after }) => before?.type !== "folder" && after?.type !== "folder",
    );
    if (files.length === 0 && !omitted.some(({ changed }) => changed === true)) return;
    this.#count(callId);
    for (const { path, before, after } of files) this.#file(`${root}/${path}`, before, after);
    for (const { path, changed, reason } of omitted)
      if (changed === true && reason === "outside") this.#file(path, undefined, undefined);
  }

  #count(callId: string): void {
    this.#changes++;
    const call = this.#calls.get(callId);
    if (call !== undefined) call.own++;
  }

  #file(path: string, before: FileVersion | null | undefined, now: FileVersion | null | undefined): void {
    const shown = this.#displayPath(path);
    const known = this.#files.get(shown);
    this.#files.set(shown, { first: known === undefined ? before : known.first, now });
  }

  #displayPath(path: string): string {
    return this.#cwd !== "" && path.startsWith(`${this.#cwd}/`) ? path.slice(this.#cwd.length + 1) : path;
  }

  #applyResult(entry: ToolResultEntry): void {
    const { callId, name, status } = entry;
    const call = this.#calls.get(callId);
    this.#calls.delete(callId);
    if (call === undefined || status === "denied") return;
    if (!WRITING_TOOLS.has(name)) return this.#addCheck(entry, call);
    const { path } = call.input;
    // Without undo data the tools themselves report what they changed.
    if (status !== "ok" || this.#checkpointed.has(callId) || typeof path !== "string") return;
    this.#count(callId);
    this.#file(path, undefined, undefined);
  }

  #addCheck({ callId, status, metadata = {}, durationMs }: ToolResultEntry, call: StartedCommand): void {
    const { command, background } = call.input;
    const line = typeof command === "string" && background !== true ? checkLine(command) : undefined;
    if (line === undefined || metadata["durationMs"] === undefined) return;
    const code = metadata["exitCode"];
    const exitCode = line.isTold && status !== "aborted" && typeof code === "number" ? code : null;
    // Changes made later in the line are unchecked.
    const isLatest = this.#changes === call.stamp + call.own && (line.isLast || call.own === 0);
    const ms = Math.round(typeof metadata["durationMs"] === "number" ? metadata["durationMs"] : durationMs);
    this.#checks.push({ callId, command: line.command, exitCode, ms, stamp: isLatest ? this.#changes : -1 });
  }
}

/** The texts in English. */
export const EVIDENCE_WORDS = {
  files: (count: number): string => `${pluralize(count, "file")} changed`,
  passed: (commands: string): string => `${commands} passed`,
  failed: (commands: string): string => `${commands} failed`,
  ran: (commands: string): string => `${commands} was run, its result not seen`,
  after: (what: string): string => `${what} after the last change`,
  before: (what: string): string => `nothing was run since the last change; before it ${what}`,
  nothing: "nothing was run since the last change",
};

export type EvidenceWords = typeof EVIDENCE_WORDS;

const MAX_COMMANDS_SHOWN = 3;

/** Evidence in one line; empty if nothing was changed or checked. */
export function evidenceText({ changed, checks }: Evidence, words: EvidenceWords = EVIDENCE_WORDS): string {
  const latest = new Map(checks.map((check) => [check.command, check]));
  const all = [...latest.values()];
  const after = all.filter(({ afterLastChange }) => afterLastChange);
  if (changed.length === 0) return resultsText(all, words);
  const since = resultsText(after, words);
  const before = resultsText(all, words);
  const checked = since !== "" ? words.after(since) : before !== "" ? words.before(before) : words.nothing;
  return `${words.files(changed.length)} · ${checked}`;
}

function resultsText(checks: readonly EvidenceCheck[], words: EvidenceWords): string {
  const named = (fits: (code: number | null) => boolean): string => {
    const found = checks.filter(({ exitCode }) => fits(exitCode)).map(({ command }) => oneLine(command, 60));
    const more = found.length - MAX_COMMANDS_SHOWN;
    return [...found.slice(0, MAX_COMMANDS_SHOWN), ...(more > 0 ? [`+${more}`] : [])].join(", ");
  };
  const failed = named((code) => code !== null && code !== 0);
  const passed = named((code) => code === 0);
  const ran = named((code) => code === null);
  return [
    ...(failed === "" ? [] : [words.failed(failed)]),
    ...(passed === "" ? [] : [words.passed(passed)]),
    ...(ran === "" ? [] : [words.ran(ran)]),
  ].join(", ");
}

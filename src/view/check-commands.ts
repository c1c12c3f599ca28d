/** Commands that test, build, lint or check types. `*` at the end of a word is any ending of it. */
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
`;

/** The table as it is published: one command, or a few of one kind, a line. */
export const CHECK_COMMANDS: readonly string[] = TABLE.trim().split("\n");

const PATTERNS = CHECK_COMMANDS.map((row) => row.split(" ").map((word) => word.split("|")));

/** Programs in front of one that is run by them, with the words of their own. */
const WRAPPERS =
  /^(?:npx|bunx|pnpm exec|pnpm dlx|yarn exec|npm exec|bundle exec|uv run|poetry run|pdm run|hatch run|time|env|nice|xvfb-run|timeout \S+|[A-Za-z_]\w*=\S*)(?: --)? /;

/** Options with which such a command looks at nothing, or never ends. */
const NO_CHECK =
  /^(?:--?v(?:ersion)?|--?h(?:elp)?|--watch(?:All)?|-w|--init|--fix-dry-run|--dry-run|--collect-only|--list(?:Tests)?|--print-config|--showConfig)$/;

/** The checks in a line of Bash, and whether its exit code reports their result. */
export interface CheckLine {
  /** The commands of the line that are in the table. */
  readonly command: string;
  /** True when exit code 0 of the line means that all of them ended with 0. */
  readonly isTold: boolean;
  /** True when nothing follows them in the line. */
  readonly isLast: boolean;
}

/** Finds the commands of the table in a line; `undefined` when it has none. */
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
  if (rest.some((word) => NO_CHECK.test(word))) return false;
  const words = [program.replace(/^.*\//, ""), ...rest];
  return PATTERNS.some((pattern) => {
    // Options between a program and what it is to do, such as `npm --silent test`.
    const meant = pattern[1]?.some((word) => word.startsWith("-")) === true ? words : withoutOptions(words);
    return pattern.every((choices, at) => choices.some((choice) => fits(choice, meant[at])));
  });
}

function withoutOptions(words: readonly string[]): readonly string[] {
  return words.filter((word, at) => at === 0 || !word.startsWith("-"));
}

function fits(choice: string, word: string | undefined): boolean {
  if (word === undefined) return false;
  return choice.endsWith("*") ? word.startsWith(choice.slice(0, -1)) : word === choice;
}

interface SimpleCommand {
  readonly words: readonly string[];
  /** Joins it to the command before. */
  readonly joiner: string;
}

const PIECE =
  /'[^']*'|"(?:\\.|[^"\\])*"|\\[\s\S]|\d*[<>]+&?\d*-?|&&|\|\||&>|[;|&\n]|[ \t]+|#|[^\s'"\\;|&<>#]+/g;

/** The simple commands of a line, redirections left out; what follows a here-document is its text. */
function simpleCommands(line: string): readonly SimpleCommand[] {
  const commands: { words: string[]; joiner: string }[] = [{ words: [], joiner: "" }];
  let isGlued = false;
  let isTarget = false;
  for (const [piece] of line.matchAll(PIECE)) {
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

/** Adds a piece to the last word where it is glued to it, else as a word. */
function addPiece(words: string[], piece: string, isGlued: boolean): void {
  const text = /^['"]/.test(piece) ? piece.slice(1, -1) : piece.replace(/^\\(.)/, "$1");
  if (isGlued) words.push(`${words.pop() ?? ""}${text}`);
  else words.push(words.length === 0 ? text.replace(/^\(/, "") : text.replace(/\)$/, ""));
}

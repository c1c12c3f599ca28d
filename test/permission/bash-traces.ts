import { spawnSync } from "node:child_process";
import {
  chmodSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { BASH } from "./stub-room.ts";

/** What a command line does in Bash, as far as anybody could tell. */
export interface BashTrace {
  /**
   * Programs that it would have started, each with its words quoted; sorted, for those of a pipeline start
   * together.
   */
  readonly ran: readonly string[];
  readonly output: string;
  /** What it says is wrong, without line numbers. */
  readonly errors: string;
  readonly exitCode: string;
  /** Files that are there afterwards, with what is in them. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * Lets many command lines run in Bash, each in a folder of its own, with no program to be found: what would
 * start is noted instead.
 */
export interface BashTraces {
  run(lines: readonly string[]): readonly BashTrace[];
}

/**
 * Generated lines may name any place: run by root they would write there. `nobody` can write in its own
 * folder alone.
 */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;

/** Opens a place for {@link BashTraces} in a folder of its own. */
export function openBashTraces(root: string): BashTraces {
  const script = join(root, "driver");
  if (NOBODY !== undefined) chmodSync(root, 0o755);
  writeFileSync(script, DRIVER);
  let batch = 0;
  return {
    run: (lines) => {
      const folder = join(root, String(batch++));
      mkdirSync(folder);
      lines.forEach((_, index) => fill(join(folder, String(index), "work")));
      writeFileSync(join(folder, "lines"), lines.map((line) => `${line}\0`).join(""));
      giveToNobody(folder);
      spawnSync(BASH ?? "bash", ["--norc", "--noprofile", script, folder], {
        cwd: folder,
        ...NOBODY,
        env: { PATH: join(root, "nothing"), HOME: "/nowhere", LC_ALL: "C.UTF-8" },
        stdio: "ignore",
      });
      const traces = lines.map((_, index) => traceIn(join(folder, String(index))));
      rmSync(folder, { recursive: true, force: true });
      return traces;
    },
  };
}

/**
 * Every line in a subshell: nothing that it sets reaches the next. Time is bounded by the processor's, so
 * that a busy machine changes nothing.
 */
const DRIVER = `
command_not_found_handle() { printf '%s\\n' "\${*@Q}" >> "$RAN"; printf 'ran %s\\n' "$*"; return 3; }
enable -n kill exec
ulimit -t 5 -u unlimited 2>/dev/null
number=0
TIMEFORMAT=timed
while IFS= read -r -d '' LINE; do
  folder=$1/$number
  number=$((number + 1))
  (
    cd "$folder/work"
    RAN=$folder/ran
    unset number folder
    set -- one 'two 2'
    eval "$LINE"
  ) < /dev/null > "$folder/output" 2> "$folder/errors"
  printf '%s' $? > "$folder/code"
  wait
done < "$1/lines"
`;

function giveToNobody(folder: string): void {
  if (NOBODY === undefined) return;
  for (const name of ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" })])
    lchownSync(join(folder, name), NOBODY.uid, NOBODY.gid);
}

function fill(folder: string): void {
  mkdirSync(join(folder, "sub"), { recursive: true });
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
}

const FILES: Readonly<Record<string, string>> = {
  a: "one\ntwo words\n",
  "b.txt": "x*y\n",
  "sub/c d": "q\n",
};

function traceIn(folder: string): BashTrace {
  const text = (name: string): string => readIfThere(join(folder, name));
  const clean = (said: string): string =>
    said
      .replaceAll(folder, "FOLDER")
      .replaceAll(/line \d+/g, "line N")
      .replaceAll(/.*: ambiguous redirect\n/g, "")
      .replaceAll(/\/dev\/fd\/\d+|\bpid \d+/g, "FD");
  const files: Record<string, string> = {};
  const work = join(folder, "work");
  for (const name of readdirSync(work, { recursive: true, encoding: "utf8" }).toSorted(byText))
    if (!statSync(join(work, name)).isDirectory()) files[name] = clean(readIfThere(join(work, name)));
  return {
    ran: clean(text("ran")).split("\n").toSorted(byText),
    output: clean(text("output")),
    errors: clean(text("errors")).split("\n").toSorted(byText).join("\n"),
    exitCode: text("code"),
    files,
  };
}

const byText = (one: string, other: string): number => one.localeCompare(other);

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

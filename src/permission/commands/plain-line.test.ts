import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { readPlainLine } from "./plain-line.ts";

function read(line: string): unknown {
  const found = readPlainLine(line);
  if ("problem" in found) return found.problem;
  return found.commands.map(({ joiner, words }) => [joiner, ...words.map(({ text }) => text)]);
}

test("a plain line is its simple commands, in words without quotes", () => {
  expect(read(`git commit -m 'a $b; "c"' --x="d e" 2>&1 >/dev/null | tail -5 && ls src/*.ts ~/x ;`)).toEqual([
    ["", "git", "commit", "-m", 'a $b; "c"', "--x=d e"],
    ["|", "tail", "-5"],
    ["&&", "ls", "src/*.ts", "~/x"],
  ]);
  expect(read("a 2> /dev/null||b</dev/null;c >&2")).toEqual([
    ["", "a"],
    ["||", "b"],
    [";", "c"],
  ]);
});

test.each([
  ["echo $HOME", "$"],
  ['echo "$x"', '"'],
  ['echo "a\\b"', '"'],
  ['echo "wow!"', '"'],
  ["echo `x`", "`"],
  ["echo a\\ b", "\\"],
  ["echo {a,b}", "{"],
  ["echo *.ts", "*"],
  ["echo ''*", "*"],
  ["echo ~root", "~"],
  ["git diff HEAD~1", "~"],
  ["echo #x", "#"],
  ["echo !x", "!"],
  ["echo übung", "ü"],
  ["echo 'open", "'"],
  ["ls > out", ">"],
  ["ls >/dev/nullx", ">"],
  ['ls >/dev/null"x"', ">"],
  ["ls 2>&1x", ">"],
  ["ls >&-", ">"],
  ["ls 12>&1", ">"],
  ["ls >&12", ">"],
  ["cat < a", "<"],
  ["cat <<E", "<"],
  ["ls & rm x", "&"],
  ["ls |& cat", "&"],
  ["(ls)", "("],
  ["f() ls", "("],
  ["ls\nrm x", "a line break"],
])("%j is not plain: %s", (line, char) => {
  expect(read(line)).toBe(`${char} is not plain text`);
});

test.each([
  ["A=1 make", "it sets a variable"],
  ["a+=1 make", "it sets a variable"],
  ["x[1]=2 make", "it sets a variable"],
  ["time make", "time is a word of the shell"],
  ["ls && if", "if is a word of the shell"],
  ["ls ;; ls", "a command is missing in it"],
  ["ls &&", "a command is missing in it"],
  ["| ls", "a command is missing in it"],
  ["", "a command is missing in it"],
  [">/dev/null", "a command is missing in it"],
  ["l[s] x", "the name of a program in it is not plain text"],
  ["'' x", "the name of a program in it is not plain text"],
])("%j is not plain: %s", (line, problem) => {
  expect(read(line)).toBe(problem);
});

const BASH = ["/bin/bash", "/usr/bin/bash"].find((path) => existsSync(path));
/** Parts of lines; `|` parts them here. */
const PIECES =
  "p1|p2|p3|a|-b|b.txt|'q r'|\"s t\"|''|\"\"| | | | |\t|;|&&|\\|\\||\\||2>&1|>/dev/null|2>|1|/dev/null|&>|<|>&2|&|$|`|\\\\|!|#|~/x|~|=|*|x*|?|[|]|[ab]|{|}|(|)|\n|'|\"|if|then|time|é|^|%|@|,|:|.|/|+|_";

test.skipIf(BASH === undefined)(
  "Bash runs of a plain line the programs that are read from it, with these words (needs bash)",
  () => {
    const folder = tempFolder();
    const piece = fc.constantFrom(
      ...PIECES.replaceAll("\\\\", "\\")
        .split(/(?<!\\)\|/)
        .map((each) => each.replaceAll("\\|", "|")),
    );
    const lines = fc
      .sample(fc.array(piece, { minLength: 1, maxLength: 10 }), { numRuns: 60_000, seed: 20_264 })
      .map((pieces) => `p1 ${pieces.join("")}`)
      .filter((line) => "commands" in readPlainLine(line));
    writeFileSync(join(folder, "lines"), lines.map((line) => `${line}\0`).join(""));
    // Programs are functions that note their words; the names that a line may meet besides are not there.
    const script = `
      note() { printf '%s\\0' "$@" $'\\1' >&9; }
      p1() { note p1 "$@"; }; p2() { note p2 "$@"; }; p3() { note p3 "$@"; }
      command_not_found_handle() { note "$@"; }
      exec 9>> log
      set -f
      while IFS= read -r -d '' line; do eval "$line"; printf '\\2\\0' >&9; done < lines`;
    const env = { PATH: "/nowhere", HOME: "/home/me" };
    spawnSync(BASH ?? "", ["--norc", "-c", script], { cwd: folder, env, input: "", stdio: "ignore" });
    const ran = readFileSync(join(folder, "log"), "utf8").split("\u0002\0").slice(0, -1);
    expect(lines.length).toBeGreaterThan(1000);
    expect(ran.length).toBe(lines.length);
    const wrong = lines.flatMap((line, index) => {
      const known = readPlainLine(line);
      const expected = new Set(
        ("commands" in known ? known.commands : []).map(({ words }) =>
          words.map(({ text, isHome }) => `${isHome ? text.replace("~", "/home/me") : text}\0`).join(""),
        ),
      );
      const runs = (ran[index] ?? "").split("\u0001\0").slice(0, -1);
      const isSound = runs.length > 0 && runs.every((run) => expected.has(run));
      return isSound ? [] : [`${JSON.stringify(line)} ran ${JSON.stringify(runs)}`];
    });
    expect(wrong.slice(0, 5)).toEqual([]);
  },
);

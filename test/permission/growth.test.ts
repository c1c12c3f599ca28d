import { expect, test } from "vitest";
import { tempFolder } from "../temp-folder.ts";
import { policyIn, shellRules } from "./shell-rules.ts";

const times = (piece: string, length: number): string => piece.repeat(Math.ceil(length / piece.length));
const each = (count: number, piece: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => piece(index)).join("; ");

/** Long lines of every kind, by about how long they are. */
const SHAPES: Readonly<Record<string, (length: number) => string>> = {
  words: (length) => `echo ${times("word ", length)}`,
  "different commands": (length) => each(length / 12, (index) => `ls x${1e6 + index}`),
  pipes: (length) => `${times("cat x | ", length)}wc`,
  "values of one variable": (length) => each(length / 20, (index) => `A=${1e5 + index}; cat $A`),
  variables: (length) => each(length / 20, (index) => `a${index}=x; echo $a${index}`),
  substitutions: (length) => times("echo $(ls); ", length),
  "programs of find": (length) => `find . ${times("-exec ls {} \\; ", length)}`,
  redirections: (length) => `cat ${times("< x ", length)}`,
  "words for a container": (length) => `docker exec x ${times("ls ", length)}`,
  "time upon time": (length) => `${times("time ", length)}ls`,
  wrappers: (length) => `${times("env ", length)}ls`,
  "folders of one path": (length) => `cat /${times("a/", length)}`,
  "a loop over many files": (length) => `for f in ${times("a.txt ", length)}; do cat $f; done`,
  "a here-document": (length) => `cat <<EOF\n${times("line $A\n", length)}EOF\n`,
  "a script in a string": (length) => `sh -c '${times("ls; ", length)}'`,
  brackets: (length) => times("$(`{[", length),
  stars: (length) => `echo ${"*".repeat(length)}`,
};

test.each(Object.keys(SHAPES))(
  "a line four times as long takes about four times as long: %s",
  { retry: 3 },
  (name) => {
    const shape = SHAPES[name] as (length: number) => string;
    const cwd = tempFolder();
    const policy = policyIn(cwd, { rules: shellRules("ls* ; echo * ; !rm * ; ?git push*") });
    const spent = (length: number): number => {
      const command = shape(length);
      const runs = Array.from({ length: 5 }, () => {
        const before = process.cpuUsage();
        policy.check({ tool: "bash", input: { command } });
        const { user, system } = process.cpuUsage(before);
        return (user + system) / 1000;
      });
      return Math.min(...runs);
    };
    spent(4_000);
    // Of work that grows with the square of the length there would be sixteen times as much; small amounts are noise.
    expect(spent(48_000)).toBeLessThan(10 * Math.max(spent(12_000), 4));
  },
);

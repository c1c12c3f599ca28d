import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { tempFolder } from "../temp-folder.ts";
import { policyIn } from "./shell-rules.ts";

const BASH = ["/bin/bash", "/usr/bin/bash", "/opt/homebrew/bin/bash"].find((path) => existsSync(path));
const RUNS = Number(process.env["NANO_AGENT_TRIALS"] ?? 150);
const SECRET = "what-lies-outside";

/** Files that somebody named so that a glob makes an option, a program or a way out of them. */
const NAMES = [
  "a.ts",
  "b.ts",
  "1",
  "12",
  "K",
  "env",
  "-delete",
  "-ovictim",
  "--output=victim",
  "--expression=e touch ran",
  'a;BEGIN{system("touch ran")}',
  "--pre=./evil.sh",
  "--files0-from=../secret",
  "--file=../secret",
  "-f../secret",
  "--from-file=../secret",
  "s/evil.sh",
];

/** A workspace of such files, with a secret beside it. */
function room(): string {
  const work = join(tempFolder(), "work");
  mkdirSync(work);
  writeFileSync(join(work, "../secret"), `${SECRET}\n`);
  for (const name of ["victim", "evil.sh", ...NAMES]) {
    mkdirSync(join(work, name, ".."), { recursive: true });
    writeFileSync(join(work, name), "#!/bin/sh\ntouch ran\n");
    if (name.endsWith("evil.sh")) chmodSync(join(work, name), 0o755);
  }
  return work;
}

/** Everything in a folder, with what stands in the files. */
function contents(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(
      ({ parentPath, name }) => `${join(parentPath, name)}: ${readFileSync(join(parentPath, name), "utf8")}`,
    )
    .toSorted();
}

const HEADS =
  "cat~head~head -n 1~tail -n~wc -l~wc~sort~sort -k~sort -t~uniq~uniq -f~cut -c 1~cut -d~diff~diff -U~cmp -n~du~du -d~ls~ls -I~stat -c~file~tree~tree -P~grep~grep x~grep -e~grep -A~grep --include~rg~rg x~rg -g~rg -e~find~find . -name~sed -n 1p~sed -n~echo~printf~date~realpath~cat a.ts | sort".split(
    "~",
  );
const WORDS =
  "* a* *.ts 1* a[.]ts ./* s/* s/../../* -* -o* --* --f* -f../secret --files0-from=../secret --output=victim -ovictim -- ../secret s/../../secret /dev/null x . 1 a.ts -e --context -U -n -r -delete".split(
    " ",
  );

test.skipIf(BASH === undefined)(
  "whatever the files of a workspace are called, a line that only looks writes nothing, runs none of them and shows nothing from outside (needs bash)",
  () => {
    const work = room();
    const policy = policyIn(work);
    const before = contents(work);
    let allowed = 0;
    const words = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.constantFrom(...HEADS), words, (head, given) => {
        const command = `${head} ${given.join(" ")}`;
        fc.pre(policy.check({ tool: "bash", input: { command } }).decision === "allow");
        allowed++;
        const { stdout, stderr } = spawnSync(BASH ?? "", ["-c", command], {
          cwd: work,
          env: { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C" },
          encoding: "utf8",
          input: "",
        });
        expect(stdout + stderr).not.toContain(SECRET);
        expect(contents(work)).toEqual(before);
      }),
      { numRuns: RUNS, maxSkipsPerRun: 1000 },
    );
    expect(allowed).toBeGreaterThanOrEqual(RUNS);
  },
);

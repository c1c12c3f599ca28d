import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { awkEffect } from "../../src/permission/shell/awk-script.ts";
import { isPlainFilter } from "../../src/permission/shell/jq-filter.ts";
import { sedEffect } from "../../src/permission/shell/sed-script.ts";
import { tempFolder } from "../temp-folder.ts";
import { policyIn } from "./shell-rules.ts";

/** Programs of the system by the names they are tried under, with what comes before the script. */
function installed(...commands: readonly string[]): readonly (readonly string[])[] {
  return commands.flatMap((command) => {
    const [name = "", ...args] = command.split(" ");
    const path = ["/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin"]
      .map((folder) => join(folder, name))
      .find((each) => existsSync(each));
    return path === undefined ? [] : [[path, ...args]];
  });
}

const AWKS = installed("mawk", "gawk", "original-awk", "busybox awk");
const SEDS = installed("sed", "gsed", "busybox sed");
const JQ = installed("jq");
const FIND = installed("find");
const RUNS = Number(process.env["NANO_AGENT_TRIALS"] ?? 150);

/** A folder with a file to work on; whatever else appears in it was written by what ran there. */
function folderWithInput(): string {
  const folder = tempFolder();
  mkdirSync(join(folder, "sub"));
  writeFileSync(join(folder, "sub/in"), 'a b c\n/x/ "y" | z\nlast\n');
  writeFileSync(join(folder, "in"), 'a b c\n/x/ "y" | z\nlast\n');
  return folder;
}

function run(command: readonly string[], args: readonly string[], cwd: string): string {
  const [file = "", ...before] = command;
  const env = { PATH: "/usr/bin:/bin", CANARY: "of-the-environment" };
  const { stdout } = spawnSync(file, [...before, ...args], { cwd, env, encoding: "utf8", input: "" });
  return stdout;
}

/**
 * What is there beside the input, and whether that is as it was. Taken away, for the next script to be judged
 * alone.
 */
function traces(folder: string): readonly string[] {
  const others = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (name) => !["in", "sub", join("sub", "in")].includes(name),
  );
  for (const name of others) rmSync(join(folder, name), { recursive: true, force: true });
  const changed = readFileSync(join(folder, "in"), "utf8").startsWith("a b c\n") ? [] : ["in"];
  return [...others, ...changed];
}

/** Texts made of pieces. */
function madeOf(pieces: readonly string[], maxLength: number): fc.Arbitrary<string> {
  return fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength }).map((parts) => parts.join(""));
}

const AWK_PIECES = [
  ...'BEGIN|END|{|}|(|)|[|]|;|\n|,| |print |print|printf |getline |if(1)|else |x|i++|--|$1|$|NF|1|2 |.5|/|/|/a/|/[/]/|/[^/]/|/\\//|\\|\\\n|#|# "|"|"ran"|"touch ran"|"sh"|\\"|>|>>|>|=|==|~ |!|&&|?|:|+|-|*|% |length|length($0)|substr(|split(|f(|in |return |@|function f(x){|system("touch ran")|a[1]|next|exit'.split(
    "|",
  ),
  "|",
  "||",
  ' | "sh"',
  'print "touch ran" ',
];
const SED_PIECES = [
  ..."s/a/b/~s|a|b|~s,x,y,g~s/~/~/~[~]~^~[/]~\\~\\\\~\\/~\n~\\\n~;~ ~{~}~!~,~1~2~$~/a/~/last/I~p~d~g~G~h~x~N~n~=~l~q~w ran~w~W ran~e touch ran~e~e ~a ~a\\~i\\~c ~a text~y/abc/xyz/~#~: a~:a ~:a;~b~t~T;~r in~I~M~m~F~z~0,~1~2~+1".split(
    "~",
  ),
  "touch ran",
];
const JQ_PIECES =
  '~.~..~.a~.env~env~ENV~$ENV~$ ENV~$ENV.CANARY~$~input_filename~import ~include ~"a"~"~\\(~)~(~[~]~{~}~:~,~|~ ~;~as $x|~$x~if ~then ~else ~end~keys~length~tostring~add~map(~select(~not~//~?//~?~@json~@text~"\\(env)"~"\\(.)"~#~\n~def f: ~f~$__prog_args~get_search_list~builtins~debug~input~1~-~+~==~=~|=~try ~catch ~to_entries~CANARY~.CANARY~["CANARY"]~first(~error~label $x|'.split(
    "~",
  );

test.skipIf(AWKS.length === 0)(
  "an awk program that is read as only printing writes nothing and runs nothing, whichever awk runs it (needs awk)",
  () => {
    const folder = folderWithInput();
    let tried = 0;
    fc.assert(
      fc.property(madeOf(AWK_PIECES, 14), (program) => {
        fc.pre(awkEffect(program) === "none");
        tried++;
        for (const awk of AWKS) run(awk, ["--", program, "in"], folder);
        expect(traces(folder)).toEqual([]);
      }),
      { numRuns: RUNS, maxSkipsPerRun: 1000 },
    );
    expect(tried).toBeGreaterThanOrEqual(RUNS);
  },
);

test.skipIf(SEDS.length === 0)(
  "a sed script that is read as only editing the stream writes nothing and runs nothing (needs sed)",
  () => {
    const folder = folderWithInput();
    fc.assert(
      fc.property(madeOf(SED_PIECES, 10), fc.boolean(), (script, isSecond) => {
        fc.pre(sedEffect(script) === "none" && !hasLoop(script));
        for (const sed of SEDS)
          run(sed, isSecond ? ["-n", "-e", "p", "-e", script, "in"] : ["--", script, "in"], folder);
        expect(traces(folder)).toEqual([]);
      }),
      { numRuns: RUNS, maxSkipsPerRun: 1000 },
    );
  },
);

/** A jump back would go on for ever. */
function hasLoop(script: string): boolean {
  return /[bt]/i.test(script.replaceAll(/s\/a\/b\/|s\|a\|b\|/g, "")) && script.includes(":");
}

test.skipIf(JQ.length === 0)(
  "a jq filter that is read as plain never shows the environment (needs jq)",
  () => {
    const folder = folderWithInput();
    const shown = "of-the-environment";
    fc.assert(
      fc.property(madeOf(JQ_PIECES, 10), (filter) => {
        fc.pre(isPlainFilter(filter));
        for (const jq of JQ) expect(run(jq, ["-n", filter], folder)).not.toContain(shown);
        expect(traces(folder)).toEqual([]);
      }),
      { numRuns: RUNS, maxSkipsPerRun: 1000 },
    );
    expect(JQ.map((jq) => run(jq, ["-n", "$ENV.CANARY"], folder))).toEqual(JQ.map(() => `"${shown}"\n`));
  },
);

const FIND_WORDS =
  ". sub in -name -iname -path -type f d -o -a ! ( ) , -print -print0 -printf -fprint -fprintf -fls -ls -delete -exec -execdir -ok touch rm sh -c ran {} ; + -newer -regex -perm -size -maxdepth 1 -prune -quit -not -true -false -empty -user root %p '*' -files0-from -L -H -P -D exec".split(
    " ",
  );

test.skipIf(FIND.length === 0)(
  "a search with find that no rule of the user allows changes nothing (needs find)",
  () => {
    const folder = folderWithInput();
    const policy = policyIn(folder);
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...FIND_WORDS), { minLength: 1, maxLength: 7 }), (words) => {
        const command = ["find", ...words.map((word) => `'${word.replaceAll("'", "")}'`)].join(" ");
        fc.pre(policy.check({ tool: "bash", input: { command } }).decision === "allow");
        for (const find of FIND)
          run(
            find,
            words.map((word) => word.replaceAll("'", "")),
            folder,
          );
        expect(traces(folder)).toEqual([]);
      }),
      { numRuns: RUNS, maxSkipsPerRun: 1000 },
    );
  },
);

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { givenSeed } from "../given-seed.ts";
import { ALLOWED, markingStubs, NOBODY } from "../permission/marking-stubs.ts";
import { shellLines } from "../permission/printable-lines.ts";
import { policyIn, shellRules } from "../permission/shell-rules.ts";
import { BASH } from "../permission/stub-room.ts";
import { tokenLines } from "../permission/token-lines.ts";

const isFull = process.env["NANO_AGENT_FAULTS"] === "full";
const SEED = givenSeed(1);
/**
 * Character sets in which the last byte of a character in UTF-8 may take the next one along: `\\`, `|` or a
 * backtick among them.
 */
const CHARSETS = ["ja_JP SHIFT_JIS", "zh_CN GBK", "zh_TW BIG5", "zh_CN GB18030"].map((name) =>
  name.split(" "),
);
const CHARMAPS = "/usr/share/i18n/charmaps/SHIFT_JIS.gz";
const ODD = ["é", "ソ", "表", "ん", "€", "İ", "𐌰", "中", "ー"];

test.skipIf(!isFull || BASH === undefined || !existsSync(CHARMAPS))(
  "in whatever character set Bash reads the printed form, nothing runs but what rules allow (in full runs; needs bash and localedef)",
  () => {
    const { root, work, bin } = markingStubs();
    const locales = CHARSETS.flatMap(([language = "", charset = ""]) => {
      const made = spawnSync("localedef", [
        "-c",
        "-i",
        language,
        "-f",
        charset,
        join(root, `${language}.${charset}`),
      ]);
      return made.error === undefined ? [`${language}.${charset}`] : [];
    });
    const policy = policyIn(work, { rules: shellRules(ALLOWED), defaults: false });
    const line = fc
      .tuple(
        fc.oneof(tokenLines, shellLines),
        fc.array(fc.tuple(fc.nat(), fc.constantFrom(...ODD)), { minLength: 1 }),
      )
      .map(([text, odd]) =>
        odd.reduce((made, [at, char]) => {
          const place = at % (made.length + 1);
          return made.slice(0, place) + char + made.slice(place);
        }, text),
      );
    fc.assert(
      fc.property(line, fc.constantFrom(...locales, "C"), (command, locale) => {
        const { decision, runs } = policy.check({ tool: "bash", input: { command } });
        fc.pre(decision === "allow" && runs !== undefined);
        const env = { PATH: bin, LOCPATH: root, LC_ALL: locale };
        spawnSync(BASH ?? "", ["-c", runs ?? ""], { cwd: work, env, stdio: "ignore", ...NOBODY });
        expect(readdirSync(work)).toEqual([]);
      }),
      { numRuns: 500, maxSkipsPerRun: 1_000, seed: SEED },
    );
  },
);

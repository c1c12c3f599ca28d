import fc from "fast-check";
import { expect, test } from "vitest";
import { givenSeed } from "../given-seed.ts";
import { openBashTraces } from "../permission/bash-traces.ts";
import { commandLines } from "../permission/command-grammar.ts";
import { shellLines } from "../permission/printable-lines.ts";
import { differing } from "../permission/printed-lines.ts";
import { policyIn, shellRules } from "../permission/shell-rules.ts";
import { BASH } from "../permission/stub-room.ts";
import { tokenLines } from "../permission/token-lines.ts";
import { tempFolder } from "../temp-folder.ts";

const isFull = process.env["NANO_AGENT_FAULTS"] === "full";
/** Another run, another part of all lines: `NANO_AGENT_SEED=7 npm run faults -- test/faults/shell-lines`. */
const SEED = givenSeed(1);
const BATCH = 2_000;
const ALLOWED = ["echo", "cat", ":", "true", "false"];

const KINDS = { tokens: tokenLines, syntax: shellLines, commands: commandLines };

test.skipIf(BASH === undefined).each(Object.entries(KINDS))(
  "of generated lines nothing runs but what rules allow, as they are written and as they are printed: %s (needs bash)",
  (_, lines) => {
    const rules = shellRules(ALLOWED.flatMap((name) => [name, `${name} *`]).join(" ; "));
    const policy = policyIn(tempFolder(), { rules, defaults: false });
    const room = openBashTraces(tempFolder());
    const wrong: string[] = [];
    for (let batch = 0; batch < (isFull ? 100 : 1); batch++) {
      const allowed = fc.sample(lines, { numRuns: BATCH, seed: SEED * 1000 + batch }).flatMap((command) => {
        const { decision, runs } = policy.check({ tool: "bash", input: { command } });
        return decision === "allow" ? [...new Set([command, runs ?? command])] : [];
      });
      room.run(allowed).forEach(({ ran, files }, index) => {
        const uncovered = ran.filter((each) => each !== "" && !/^'cat'(?: |$)/.test(each));
        const written = Object.keys(files).length;
        if (uncovered.length > 0 || written !== 3)
          wrong.push(`${JSON.stringify(allowed[index])} ran ${uncovered.join()}, left ${written} files`);
      });
    }
    expect(wrong).toEqual([]);
  },
);

test.skipIf(BASH === undefined)(
  "the printed form of generated lines does in Bash what the lines do (needs bash)",
  () => {
    const room = openBashTraces(tempFolder());
    const wrong: string[] = [];
    for (let batch = 0; batch < (isFull ? 50 : 0); batch++)
      wrong.push(...differing(fc.sample(shellLines, { numRuns: BATCH, seed: SEED * 1000 + batch }), room));
    expect(wrong).toEqual([]);
  },
);

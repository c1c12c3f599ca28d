import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseRule } from "../../src/permission/parse-rule.ts";
import { PERMISSION_MODES } from "../../src/permission/permission-mode.ts";
import { createPolicy } from "../../src/permission/policy.ts";
import type { Rule } from "../../src/permission/rule.ts";
import { tempFolder } from "../temp-folder.ts";
import { CONTRACT_CALLS } from "./contract-calls.ts";
import { CONTRACT_CASES } from "./contract-cases.ts";
import { CONTRACT_EFFECTS } from "./contract-effects.ts";
import { COMMONPLACE, MORE_THAN_LOOKING } from "./contract-reading.ts";
import { policyIn, shellRules } from "./shell-rules.ts";

const RANK = { deny: 0, ask: 1, allow: 2 };

/** The folders that the calls of the corpus speak of. */
function rooms(): { readonly work: string; readonly home: string } {
  const root = tempFolder();
  const work = join(root, "work");
  const home = join(root, "home");
  for (const folder of ["src", "docs", ".git/hooks"]) mkdirSync(join(work, folder), { recursive: true });
  for (const folder of ["home/notes", "other", "work-other"])
    mkdirSync(join(root, folder), { recursive: true });
  for (const file of ["work/src/a.ts", "work/docs/x.md", "work/.git/config", "other/x", "work/a", "work/b"])
    writeFileSync(join(root, file), "x\n");
  symlinkSync(join(root, "other"), join(work, "out"));
  symlinkSync("../../other", join(work, "src/out"));
  symlinkSync("../.git", join(work, "src/git"));
  symlinkSync("../docs", join(work, "src/docs"));
  symlinkSync(join(root, "other/missing"), join(work, "dangling"));
  return { work, home };
}

const wholeRules = (line: string): readonly Rule[] =>
  line === ""
    ? []
    : line.split(" ; ").flatMap((each) => {
        const action = each.startsWith("!") ? "deny" : each.startsWith("?") ? "ask" : "allow";
        return parseRule(action === "allow" ? each : each.slice(1), action);
      });

describe("the corpus written from the rules alone", () => {
  test("every command line is decided as the rules say, none wider and none stricter", () => {
    const { work } = rooms();
    const wrong = [...CONTRACT_CASES, ...CONTRACT_EFFECTS].flatMap(([line, command, expected]) => {
      const policy = policyIn(work, { rules: shellRules(line), defaults: false });
      const { decision, reason } = policy.check({ tool: "bash", input: { command } });
      if (decision === expected) return [];
      const kind = RANK[decision] > RANK[expected] ? "UNSAFE" : "too strict";
      return [
        `${kind}: ${JSON.stringify(command)} under ${line}: ${decision}, expected ${expected}. ${reason}`,
      ];
    });
    expect(wrong).toEqual([]);
  });

  test("every call of another tool is decided as the rules say", () => {
    const { work, home } = rooms();
    const wrong = CONTRACT_CALLS.flatMap(({ rules, tool, input, mode, expected }) => {
      const policy = createPolicy({
        cwd: work,
        home,
        workspace: [work],
        platform: "linux",
        rules: wholeRules(rules),
        defaults: false,
        mode: PERMISSION_MODES.find((each) => each === mode) ?? "default",
      });
      const filled = Object.fromEntries(
        Object.entries(input).map(([key, value]) => [
          key,
          String(value).replace(/^WORK/, work).replace(/^HOME/, home),
        ]),
      );
      const { decision, reason } = policy.check({ tool, input: filled });
      return decision === expected
        ? []
        : [
            `${RANK[decision] > RANK[expected] ? "UNSAFE" : "too strict"}: ${tool} ${JSON.stringify(input)} under ${rules} (${mode}): ${decision}, expected ${expected}. ${reason}`,
          ];
    });
    expect(wrong).toEqual([]);
  });

  test("lines that only look pass without a rule", () => {
    const policy = policyIn(rooms().work);
    const asked = COMMONPLACE.flatMap((command) => {
      const { decision, reason } = policy.check({ tool: "bash", input: { command } });
      return decision === "allow" ? [] : [`${command}: ${decision}. ${reason}`];
    });
    expect(asked).toEqual([]);
  });

  test("lines that do more ask without a rule", () => {
    const { work } = rooms();
    symlinkSync("../other", join(work, "out-link"));
    const policy = policyIn(work);
    const passed = MORE_THAN_LOOKING.filter(
      (command) => policy.check({ tool: "bash", input: { command } }).decision !== "ask",
    );
    expect(passed).toEqual([]);
  });
});

import { describe, expect, test } from "vitest";
import { tempFolder } from "../temp-folder.ts";
import { DENIED_SPELLINGS, NOT_READING, READING } from "./command-lists.ts";
import { EFFECT_CASES } from "./effect-cases.ts";
import { COMMAND_CASES } from "./shell-cases.ts";
import { policyIn, shellRules } from "./shell-rules.ts";

const SHELL_CASES = [...COMMAND_CASES, ...EFFECT_CASES];

const RANK = { deny: 0, ask: 1, allow: 2 };

describe("the corpus of command lines", () => {
  test("every case is decided as the rules say, none wider and none stricter", () => {
    const folder = tempFolder();
    const wrong = SHELL_CASES.flatMap(([line, command, expected]) => {
      const policy = policyIn(folder, { rules: shellRules(line), defaults: false });
      const { decision, reason } = policy.check({ tool: "bash", input: { command } });
      if (decision === expected) return [];
      const kind = RANK[decision] > RANK[expected] ? "UNSAFE" : "too strict";
      return [
        `${kind}: ${JSON.stringify(command)} under ${line}: ${decision}, expected ${expected}. ${reason}`,
      ];
    });
    expect(wrong).toEqual([]);
    expect(SHELL_CASES.length).toBeGreaterThan(300);
  });

  test.each(DENIED_SPELLINGS)("a deny rule for rm catches %j", (command) => {
    const rules = shellRules("!rm * ; *");
    const policy = policyIn(tempFolder(), { rules, defaults: false });
    expect(policy.check({ tool: "bash", input: { command } }).decision).toBe("deny");
  });

  test.each(READING)("the built-in rules let %j pass", (command) => {
    const { decision, reason } = policyIn(tempFolder()).check({ tool: "bash", input: { command } });
    expect({ decision, reason }).toEqual({ decision: "allow", reason });
  });

  test.each(NOT_READING)("the built-in rules ask about %j", (command) => {
    const { decision, reason } = policyIn(tempFolder()).check({ tool: "bash", input: { command } });
    expect({ decision, reason }).toEqual({ decision: "ask", reason });
  });

  test.each(NOT_READING)(
    "without anybody to ask, %j is denied, and plan mode does not let it pass",
    (command) => {
      const call = { tool: "bash", input: { command } };
      const folder = tempFolder();
      expect(policyIn(folder, { mode: "dontAsk" }).check(call).decision).toBe("deny");
      expect(policyIn(folder, { mode: "plan" }).check(call).decision).not.toBe("allow");
    },
  );

  test.each(READING)("plan mode lets %j pass", (command) => {
    expect(
      policyIn(tempFolder(), { mode: "plan" }).check({ tool: "bash", input: { command } }).decision,
    ).toBe("allow");
  });
});

describe("suggestions", () => {
  test("the suggested rule allows the part it was made for, wherever a rule can", () => {
    const folder = tempFolder();
    const failing = SHELL_CASES.flatMap(([line, command]) => {
      const rules = shellRules(line);
      const input = { command };
      const first = policyIn(folder, { rules, defaults: false }).check({ tool: "bash", input });
      if (first.decision !== "ask" || first.suggestion === undefined) return [];
      const pattern = first.suggestion.slice("bash(".length, -1);
      const more = [...rules, { tool: "bash", pattern, action: "allow" as const }];
      const second = policyIn(folder, { rules: more, defaults: false }).check({ tool: "bash", input });
      return second.decision === "ask" && second.part === first.part && second.reason === first.reason
        ? [`${command}: ${first.suggestion}`]
        : [];
    });
    expect(failing).toEqual([]);
  });
});

import { parseRule } from "../../src/permission/parse-rule.ts";
import { createPolicy, type Policy, type PolicyOptions } from "../../src/permission/policy.ts";
import type { Rule } from "../../src/permission/rule.ts";

/** Rules for `bash` from one line: separated by ` ; `, with `!` for deny and `?` for ask in front. */
export function shellRules(line: string): readonly Rule[] {
  return line.split(" ; ").flatMap((each) => {
    const action = each.startsWith("!") ? "deny" : each.startsWith("?") ? "ask" : "allow";
    return parseRule(`bash(${action === "allow" ? each : each.slice(1)})`, action);
  });
}

/** A policy over one folder, on Linux. */
export function policyIn(folder: string, options: Partial<PolicyOptions> = {}): Policy {
  return createPolicy({
    cwd: folder,
    home: "/home/someone",
    workspace: [folder],
    platform: "linux",
    ...options,
  });
}

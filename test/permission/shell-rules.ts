import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  createPolicy,
  type Policy,
  type PolicyDecision,
  type PolicyOptions,
} from "../../src/permission/policy.ts";
import { parseRule, type Rule } from "../../src/permission/rule.ts";
import { tempFolder } from "../temp-folder.ts";

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
    ...options,
  });
}

/** A workspace beside a folder that is not one, and decisions about commands there. */
export interface CommandRoom {
  readonly cwd: string;
  readonly check: (command: string, rules?: string, options?: Partial<PolicyOptions>) => PolicyDecision;
  /** The lines that are allowed. */
  readonly allowed: (
    lines: readonly string[],
    rules?: string,
    options?: Partial<PolicyOptions>,
  ) => readonly string[];
}

/** A workspace with these files; rules are in the form of {@link shellRules}. */
export function commandRoom(files: Readonly<Record<string, string>> = {}): CommandRoom {
  const root = tempFolder({ "work/src/a.ts": "", "work/sub/b": "", "outside/x": "" });
  const cwd = join(root, "work");
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(cwd, path, ".."), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
  symlinkSync("../outside", join(cwd, "way"));
  symlinkSync("src", join(cwd, "here"));
  const check: CommandRoom["check"] = (command, rules, options = {}) =>
    policyIn(cwd, { rules: rules === undefined ? [] : shellRules(rules), ...options }).check({
      tool: "bash",
      input: { command },
    });
  return {
    cwd,
    check,
    allowed: (lines, rules, options) =>
      lines.filter((line) => check(line, rules, options).decision === "allow"),
  };
}

import { invalidConfig, type NanoAgentError } from "../core/base/errors.ts";
import { isRecord, safeParse } from "../core/base/json.ts";
import { nearest } from "../core/base/text.ts";
import { parseRules } from "./parse-rule.ts";
import { PERMISSION_MODES, type PermissionMode } from "./permission-mode.ts";
import { createPolicy, type PolicyDecision } from "./policy.ts";

/** Where {@link checkLine} starts from when a line does not say. */
export interface CheckLineBase {
  readonly cwd: string;
  readonly home: string;
}

/** The answer to a line: a decision, or what is wrong with the line. */
export type CheckedLine = Omit<PolicyDecision, "code" | "looks"> | { readonly error: string };

const KEYS: readonly string[] = [
  "tool",
  "input",
  "rules",
  "defaults",
  "cwd",
  "workspace",
  "home",
  "mode",
  "sandbox",
];
const MAX_LINE = 64 * 1024 * 1024;

/**
 * Answers one JSON line `{ tool, input, rules?, defaults?, cwd?, workspace?, home?, mode?, sandbox? }`.
 * `workspace` is a folder or a list of them, default `cwd`; `sandbox` says whether one works, default false.
 * A line that is malformed is answered with `error`, never with a decision. Never throws.
 */
export function checkLine(line: string, base: CheckLineBase): CheckedLine {
  if (line.length > MAX_LINE) return { error: `The line is longer than ${MAX_LINE} characters.` };
  const parsed = safeParse(line);
  if (!parsed.ok) return { error: `The line is not JSON: ${parsed.error}` };
  try {
    return decide(parsed.value, base);
  } catch (error) {
    return { error: error instanceof Error ? error.message : "The line could not be judged." };
  }
}

function decide(value: unknown, base: CheckLineBase): CheckedLine {
  if (!isRecord(value)) throw malformed("the line", "an object with tool and input");
  // A misspelt key would be left out, and that can be wider; keys of a caller's own are left alone.
  const stray = Object.keys(value).find((key) => !KEYS.includes(key) && nearest(key, KEYS) !== undefined);
  if (stray !== undefined) throw malformed(JSON.stringify(stray), `one of ${KEYS.join(", ")}`);
  const own = (key: string): unknown => (Object.hasOwn(value, key) ? value[key] : undefined);
  const tool = own("tool");
  if (typeof tool !== "string" || tool === "") throw malformed("tool", "the name of a tool");
  const input = own("input");
  if (!isRecord(input)) throw malformed("input", "the arguments of the call, an object");
  const cwd = text(own("cwd"), "cwd") ?? base.cwd;
  const rules = own("rules");
  const policy = createPolicy({
    rules: rules === undefined || rules === null ? [] : parseRules(rules, "rules"),
    mode: modeOf(own("mode")),
    defaults: flag(own("defaults"), "defaults") ?? true,
    sandbox: flag(own("sandbox"), "sandbox") === true ? "works" : "none",
    cwd,
    home: text(own("home"), "home") ?? base.home,
    workspace: foldersOf(own("workspace")) ?? [cwd],
  });
  const { code: _code, looks: _looks, decision, ...why } = policy.check({ tool, input });
  return { decision, ...why };
}

function text(value: unknown, key: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string" || value === "") throw malformed(key, "a folder");
  return value;
}

function flag(value: unknown, key: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "boolean") throw malformed(key, "true or false");
  return value;
}

function modeOf(value: unknown): PermissionMode {
  if (value === undefined || value === null) return "default";
  const mode = PERMISSION_MODES.find((each) => each === value);
  if (mode === undefined) throw malformed("mode", `one of ${PERMISSION_MODES.join(", ")}`);
  return mode;
}

function foldersOf(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  const folders: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (folders.length === 0) throw malformed("workspace", "at least one folder");
  return folders.map((folder) => {
    if (typeof folder !== "string" || folder === "")
      throw malformed("workspace", "a folder or a list of folders");
    return folder;
  });
}

function malformed(what: string, expected: string): NanoAgentError {
  return invalidConfig(`${what} is malformed: expected ${expected}.`);
}

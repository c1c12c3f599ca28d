import { invalidConfig, type NanoAgentError } from "../core/base/errors.ts";
import { isRecord, safeParse } from "../core/base/json.ts";
import { nearest } from "../core/base/text.ts";
import { PERMISSION_MODES, type PermissionMode } from "./permission-mode.ts";
import { createPolicy, type PolicyCall, type PolicyDecision } from "./policy.ts";
import { parseRules } from "./rule.ts";

/** Where {@link checkLine} starts from when a line does not say. */
export interface CheckLineBase {
  readonly cwd: string;
  readonly home: string;
}

/** The answer to a line: a decision, or what is wrong with the line. */
export type CheckedLine = Omit<PolicyDecision, "code" | "looks" | "place"> | { readonly error: string };

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

const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
const isFlag = (value: unknown): boolean => typeof value === "boolean";
const FOLDER = ["a folder", isText] as const;
const FLAG = ["true or false", isFlag] as const;

/** The keys of a line: what each is expected to be. The first two are required. */
const KEYS: Readonly<Record<string, readonly [expected: string, holds: (value: unknown) => boolean]>> = {
  tool: ["the name of a tool", isText],
  input: ["the arguments of the call, an object", isRecord],
  rules: ["rules", () => true],
  defaults: FLAG,
  cwd: FOLDER,
  workspace: [
    "a folder or a list of folders",
    (value) => isText(value) || (Array.isArray(value) && value.length > 0 && value.every(isText)),
  ],
  home: FOLDER,
  mode: [`one of ${PERMISSION_MODES.join(", ")}`, (value) => PERMISSION_MODES.some((mode) => mode === value)],
  sandbox: FLAG,
};

interface Line extends PolicyCall {
  readonly rules?: unknown;
  readonly defaults?: boolean;
  readonly workspace?: string | readonly string[];
  readonly home?: string;
  readonly mode?: PermissionMode;
  readonly sandbox?: boolean;
}

function decide(value: unknown, base: CheckLineBase): CheckedLine {
  if (!isRecord(value)) throw malformed("the line", "an object with tool and input");
  const names = Object.keys(KEYS);
  // A misspelt key would be left out, and that can be wider; keys of a caller's own are left alone.
  const stray = Object.keys(value).find((key) => !names.includes(key) && nearest(key, names) !== undefined);
  if (stray !== undefined) throw malformed(JSON.stringify(stray), `one of ${names.join(", ")}`);
  const given = Object.entries(KEYS).flatMap(([key, [expected, holds]]) => {
    const found = Object.hasOwn(value, key) ? value[key] : undefined;
    const isLeftOut = (found === undefined || found === null) && key !== "tool" && key !== "input";
    if (!isLeftOut && !holds(found)) throw malformed(key, expected);
    return isLeftOut ? [] : [[key, found]];
  });
  const { tool, input, cwd = base.cwd, ...line }: Line = Object.fromEntries(given);
  const policy = createPolicy({
    rules: line.rules === undefined ? [] : parseRules(line.rules, "rules"),
    mode: line.mode ?? "default",
    defaults: line.defaults ?? true,
    sandbox: line.sandbox === true ? "works" : "none",
    cwd,
    home: line.home ?? base.home,
    workspace: [line.workspace ?? cwd].flat(),
  });
  const { code: _code, looks: _looks, place: _place, decision, ...why } = policy.check({ tool, input });
  return { decision, ...why };
}

function malformed(what: string, expected: string): NanoAgentError {
  return invalidConfig(`${what} is malformed: expected ${expected}.`);
}

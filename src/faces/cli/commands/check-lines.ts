import { findProblem, optionSchema } from "../../../core/base/check-options.ts";
import { invalidConfig, type NanoAgentError } from "../../../core/base/errors.ts";
import { isRecord, safeParse } from "../../../core/base/json.ts";
import { closestMatch } from "../../../core/base/text.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../../permission/permission-mode.ts";
import { createPolicy, type PolicyCall, type PolicyDecision } from "../../../permission/policy.ts";
import { parseRules } from "../../../permission/rule.ts";

/** Defaults for a line. */
interface LineDefaults {
  readonly cwd: string;
  readonly home: string;
}

type CheckedLine = Omit<PolicyDecision, "code" | "looks" | "place"> | { readonly error: string };

const MAX_LINE = 64 * 1024 * 1024;

/**
 * Answers one JSON line `{ tool, input, rules?, defaults?, cwd?, workspace?, home?, mode?, sandbox? }`.
 * `workspace` is a folder or a list of folders, default `cwd`; `sandbox` tells whether a sandbox works,
 * default false. A malformed line is answered with `error`, never with a decision. Never throws.
 */
export function checkLine(line: string, base: LineDefaults): CheckedLine {
  if (line.length > MAX_LINE) return { error: `The line is longer than ${MAX_LINE} characters.` };
  const parsed = safeParse(line);
  if (!parsed.ok) return { error: `The line is not JSON: ${parsed.error}` };
  try {
    return decide(parsed.value, base);
  } catch (error) {
    return { error: error instanceof Error ? error.message : "The line could not be judged." };
  }
}

const TEXT = { type: "string", minLength: 1 };
const KEYS = {
  tool: TEXT,
  input: { type: "object" },
  rules: {},
  defaults: { type: "boolean" },
  cwd: TEXT,
  workspace: {
    type: ["string", "array"],
    minLength: 1,
    minItems: 1,
    items: TEXT,
    "x-say": "a folder or a list of folders",
  },
  home: TEXT,
  mode: { enum: PERMISSION_MODES },
  sandbox: { type: "boolean" },
};
const LINE = optionSchema({ type: "object", properties: KEYS, required: ["tool", "input"] });

interface Line extends PolicyCall {
  readonly rules?: unknown;
  readonly defaults?: boolean;
  readonly workspace?: string | readonly string[];
  readonly home?: string;
  readonly mode?: PermissionMode;
  readonly sandbox?: boolean;
}

function decide(given: unknown, base: LineDefaults): CheckedLine {
  const value = isRecord(given)
    ? Object.fromEntries(Object.entries(given).filter(([, field]) => field !== null))
    : given;
  const problem = findProblem(value, LINE, "the line");
  if (problem !== undefined) throw invalidConfig(problem.message);
  const line = value as Line;
  // Ignoring a misspelt key could permit more; other unknown keys belong to the caller.
  const names = Object.keys(KEYS);
  const misspelt = Object.keys(line).find(
    (key) => !names.includes(key) && closestMatch(key, names) !== undefined,
  );
  if (misspelt !== undefined) throw unknownKey(misspelt, names);
  const { tool, input, cwd = base.cwd } = line;
  const policy = createPolicy({
    rules: line.rules === undefined ? [] : parseRules(line.rules, "rules"),
    mode: line.mode ?? "default",
    defaults: line.defaults ?? true,
    sandbox: line.sandbox === true ? "works" : "none",
    cwd,
    home: line.home ?? base.home,
    workspace: [line.workspace ?? cwd].flat(),
  });
  const { code: _code, looks: _looks, place: _place, ...decision } = policy.check({ tool, input });
  return decision;
}

function unknownKey(key: string, names: readonly string[]): NanoAgentError {
  return invalidConfig(`${JSON.stringify(key)} is not a key of a line. Use one of ${names.join(", ")}.`);
}

import { defined } from "../core/base/defined.ts";
import { invalidConfig, type NanoAgentError } from "../core/base/errors.ts";
import { isRecord } from "../core/base/json.ts";
import { clipped } from "../core/base/text.ts";
import { type Rule, type RuleAction, ruleText } from "./rule.ts";
import { isPeerName, patternKind, toToolName } from "./tool-names.ts";

const ACTIONS: readonly RuleAction[] = ["allow", "ask", "deny"];
const MAX_RULES = 10_000;
const MAX_PATTERN = 4096;
const MAX_NAME = 200;
const EXAMPLE = '"bash(git status*)"';
const RULE_KEYS = new Set(["tool", "pattern", "action"]);

/**
 * A rule from its text: `bash(git status*)`, `edit(src/**)`, `web_fetch(domain:x)`, `mcp__server__*`, `todo`.
 * Capitalised names of other agents are taken with their meaning: `Bash(git status:*)` is the command
 * `git status` and all that begins with `git status `; `Edit(/src/**)` starts at the workspace and
 * `Edit(//etc/**)` at the root; one that denies or asks takes in all below a folder, and a name at any depth.
 * Throws `invalid_config`.
 */
export function parseRule(text: string, action: RuleAction): readonly Rule[] {
  const open = text.indexOf("(");
  const name = (open === -1 ? text : text.slice(0, open)).trim();
  if (open !== -1 && !text.trimEnd().endsWith(")")) throw malformed(text, "a closing bracket at the end");
  const pattern = open === -1 ? undefined : text.trimEnd().slice(open + 1, -1);
  const tool = toToolName(checkedName(name, text));
  if (pattern === undefined) return [{ tool, action }];
  const patterns = isPeerName(name) ? fromPeer(pattern, tool, action) : [pattern];
  return patterns.map((each) => ({ tool, pattern: checkedPattern(tool, each, text), action }));
}

/**
 * Rules from what a configuration holds: a list of `{ tool, pattern?, action }`, or `{ allow?, ask?, deny? }`
 * with lists of rule texts. `where` names the place for messages. Throws `invalid_config` for anything else:
 * a rule that cannot be read is never left out.
 */
export function parseRules(value: unknown, where = "permissions"): readonly Rule[] {
  if (Array.isArray(value)) {
    if (value.length > MAX_RULES) throw wrong(where, value.length, `at most ${MAX_RULES} rules`);
    return value.flatMap((item: unknown, index) => fromObject(item, `${where}[${index}]`));
  }
  if (!isRecord(value)) throw wrong(where, value, "a list of rules, or an object with allow, ask and deny");
  const texts = Object.keys(value).flatMap((key) => {
    const action = ACTIONS.find((each) => each === key);
    if (action === undefined) throw wrong(`${where}.${key}`, key, "one of allow, ask, deny");
    const list = value[key];
    if (!Array.isArray(list)) throw wrong(`${where}.${key}`, list, `a list of rules such as ${EXAMPLE}`);
    return list.map((text: unknown, index) => ({ text, action, place: `${where}.${key}[${index}]` }));
  });
  if (texts.length > MAX_RULES) throw wrong(where, texts.length, `at most ${MAX_RULES} rules`);
  return texts.flatMap(({ text, action, place }) => {
    if (typeof text !== "string") throw wrong(place, text, `a rule such as ${EXAMPLE}`);
    return parseRule(text, action);
  });
}

function fromObject(item: unknown, place: string): readonly Rule[] {
  if (!isRecord(item)) throw wrong(place, item, "{ tool, pattern?, action }");
  const stray = Object.keys(item).find((key) => !RULE_KEYS.has(key));
  if (stray !== undefined) throw wrong(`${place}.${stray}`, stray, "only tool, pattern and action");
  const { tool, pattern, action } = Object.fromEntries(Object.entries(item));
  const known = ACTIONS.find((each) => each === action);
  if (known === undefined) throw wrong(`${place}.action`, action, "allow, ask or deny");
  if (typeof tool !== "string") throw wrong(`${place}.tool`, tool, "the name of a tool");
  if (pattern !== undefined && typeof pattern !== "string")
    throw wrong(`${place}.pattern`, pattern, "a text");
  return parseRule(ruleText({ tool, ...defined({ pattern }) }), known);
}

function checkedName(name: string, text: string): string {
  if (name.length > MAX_NAME || !/^[\w.:*/@-]+$/.test(name))
    throw malformed(text, "the name of a tool, then its pattern in brackets");
  return name;
}

function checkedPattern(tool: string, pattern: string, text: string): string {
  if (pattern.trim() === "")
    throw malformed(text, `a pattern between the brackets, or ${tool} alone for every call`);
  if (pattern.length > MAX_PATTERN || pattern.includes("\0"))
    throw malformed(text, `a pattern of at most ${MAX_PATTERN} characters`);
  const kind = patternKind(tool);
  if (kind === "none") throw malformed(text, `no pattern: rules for ${tool} describe every call of it`);
  if (kind === "domain" && !/^domain:(?:(?:\*\.)?[\w.:[\]-]+|\*)$/.test(pattern))
    throw malformed(text, "web_fetch(domain:HOST) or web_fetch(domain:*.HOST)");
  return pattern;
}

/** The patterns another agent's pattern means here. */
function fromPeer(pattern: string, tool: string, action: RuleAction): readonly string[] {
  const kind = patternKind(tool);
  if (kind === "command" && pattern.endsWith(":*") && pattern.length > 2) {
    const prefix = pattern.slice(0, -2);
    return [prefix, `${prefix} *`];
  }
  if (kind !== "path") return [pattern];
  const plain = pattern.replace(/^\/(?!\/)/, "./").replace(/^\/\//, "/");
  return action === "allow" ? [plain] : [...withAllBelow(plain)];
}

/**
 * The patterns that one of an ignore file stands for: a name without a slash at any depth, and of folders all
 * that is in them. What forbids must not mean less here than it does there.
 */
function withAllBelow(pattern: string): readonly string[] {
  const path = pattern.replace(/(?<=.)\/+$/, "");
  const names = /[/~]/.test(path) ? [path] : [path, `**/${path}`];
  return names.flatMap((name) => (name.endsWith("**") ? [name] : [name, `${name}/**`.replace(/^\/\//, "/")]));
}

function malformed(text: string, expected: string): NanoAgentError {
  return invalidConfig(`The permission rule ${shown(text)} is malformed: expected ${expected}.`);
}

function wrong(place: string, value: unknown, expected: string): NanoAgentError {
  return invalidConfig(`${place} is ${shown(value)}: expected ${expected}.`);
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (isRecord(value)) return "an object";
  return clipped(JSON.stringify(value) ?? "missing", 200);
}

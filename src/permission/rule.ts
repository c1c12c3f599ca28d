import { findProblem, optionSchema } from "../core/base/check-options.ts";
import { invalidConfig, type NanoAgentError } from "../core/base/errors.ts";
import { truncateEnd } from "../core/base/text.ts";
import { matchesText } from "./match-text.ts";

/** The verdict of a rule on the calls it matches. */
export type RuleAction = "allow" | "ask" | "deny";

/**
 * One permission rule. Of all matching rules, deny wins over ask and ask over allow; order and specificity do
 * not matter. Without a `pattern` it matches every call of the tool.
 */
export interface Rule {
  /** Name of a tool, or several with `*`: `bash`, `mcp__server__*`. */
  readonly tool: string;
  /**
   * `bash`: the text of one command, with `*` for any characters. File tools: a path, `*` within a folder,
   * `**` across folders. `web_fetch`: `domain:HOST`. `skill` and `task`: the name of the skill or agent.
   */
  readonly pattern?: string;
  readonly action: RuleAction;
}

/** The origin of a rule: its user, nano-agent itself, or an answer given in this session. */
export type RuleOrigin = "user" | "built-in" | "session";

export interface OriginRule extends Rule {
  readonly origin: RuleOrigin;
}

/** A rule in written form: `bash(git status*)`. */
export function ruleText({ tool, pattern }: Pick<Rule, "tool" | "pattern">): string {
  return pattern === undefined ? tool : `${tool}(${pattern})`;
}

function rulesFor(action: RuleAction, tools: readonly string[]): readonly Rule[] {
  return tools.map((tool) => ({ tool, action }));
}

/** Looking is allowed, changes are asked about. */
export const DEFAULT_RULES: readonly Rule[] = [
  ...rulesFor("allow", ["read", "glob", "grep", "task", "skill"]),
  ...rulesFor("ask", ["write", "edit", "bash"]),
];

/** Looking is allowed, changes are denied. */
export const READONLY_RULES: readonly Rule[] = [
  ...rulesFor("allow", ["read", "glob", "grep"]),
  ...rulesFor("deny", ["write", "edit", "bash", "batch", "task"]),
];

/** Allows every tool. Calls no rule covers (redirections, hidden characters, keys, machinery) ask. */
export const TRUSTED_RULES: readonly Rule[] = rulesFor("allow", ["*"]);

/** Even reading is asked about, and commands are denied. */
export const HIGH_SECURITY_RULES: readonly Rule[] = [
  ...rulesFor("ask", ["read", "glob", "grep", "skill", "write", "edit"]),
  ...rulesFor("deny", ["bash", "batch", "task", "web_fetch"]),
];

export type PatternKind = "command" | "path" | "domain" | "name" | "none";

const PEER_NAMES: ReadonlyMap<string, string> = new Map([
  ["MultiEdit", "edit"],
  ["Agent", "task"],
  ["TodoWrite", "todo"],
  ["WebFetch", "web_fetch"],
  ...["Bash", "Read", "Write", "Edit", "Glob", "Grep", "Task", "Skill", "Batch", "Job"].map(
    (name): [string, string] => [name, name.toLowerCase()],
  ),
]);

/** Our name for a tool that other agents capitalise (`Bash`, `WebFetch`); other names are unchanged. */
export function toToolName(name: string): string {
  return PEER_NAMES.get(name) ?? name;
}

export function isPeerName(name: string): boolean {
  return PEER_NAMES.has(name);
}

export function patternKind(tool: string): PatternKind {
  if (isFileTool(tool)) return "path";
  if (tool === "bash") return "command";
  if (tool === "web_fetch") return "domain";
  return tool === "skill" || tool === "task" ? "name" : "none";
}

export function isReadTool(tool: string): boolean {
  return tool === "read" || tool === "grep" || tool === "glob";
}

export function isEditTool(tool: string): boolean {
  return tool === "write" || tool === "edit";
}

export function isFileTool(tool: string): boolean {
  return isReadTool(tool) || isEditTool(tool);
}

/** True if a rule applies to a tool: its name, a name with `*`, or a whole MCP server (`mcp__server`). */
export function namesTool({ tool }: Pick<Rule, "tool">, name: string): boolean {
  if (tool === name || tool === "*") return true;
  if (tool.includes("*")) return matchesText(tool, name);
  return /^mcp__[^_]+(?:_[^_]+)*$/.test(tool) && name.startsWith(`${tool}__`);
}

const ACTIONS: readonly RuleAction[] = ["allow", "ask", "deny"];
export const MAX_PATTERN = 4096;
const MAX_NAME = 200;

/**
 * Parses a rule: `bash(git status*)`, `edit(src/**)`, `web_fetch(domain:x)`, `mcp__server__*`, `todo`.
 * Capitalised names from other agents keep their meaning: `Bash(git status:*)` is the command `git status`
 * and everything that begins with `git status `; `Edit(/src/**)` starts at the workspace and `Edit(//etc/**)`
 * at the root; one that denies or asks covers everything below a folder, and a name at any depth. Throws
 * `invalid_config`.
 */
export function parseRule(text: string, action: RuleAction): readonly Rule[] {
  const open = text.indexOf("(");
  const name = (open === -1 ? text : text.slice(0, open)).trim();
  if (open !== -1 && !text.trimEnd().endsWith(")")) throw ruleError(text, "a closing bracket at the end");
  const pattern = open === -1 ? undefined : text.trimEnd().slice(open + 1, -1);
  const tool = toToolName(checkedName(name, text));
  if (pattern === undefined) return [{ tool, action }];
  const patterns = isPeerName(name) ? patternsOfPeer(pattern, tool, action) : [pattern];
  return patterns.map((each) => ({ tool, pattern: checkedPattern(tool, each, text), action }));
}

const RULE_OBJECTS = optionSchema({
  type: "array",
  items: {
    type: "object",
    properties: { tool: { type: "string" }, pattern: { type: "string" }, action: { enum: ACTIONS } },
    required: ["tool", "action"],
    additionalProperties: false,
  },
});
const RULE_TEXTS = optionSchema({
  type: "object",
  properties: Object.fromEntries(
    ACTIONS.map((action) => [action, { type: "array", items: { type: "string" } }]),
  ),
  additionalProperties: false,
  "x-say": "a list of rules, or an object with lists of rules such as bash(git status*): allow, ask, deny",
});

/**
 * Parses configured rules: a list of `{ tool, pattern?, action }`, or `{ allow?, ask?, deny? }` with lists of
 * rule texts. `where` names the source in messages. Throws `invalid_config` for anything else: a rule that
 * cannot be read is never ignored.
 */
export function parseRules(value: unknown, where = "permissions"): readonly Rule[] {
  const isList = Array.isArray(value);
  const problem = findProblem(value, isList ? RULE_OBJECTS : RULE_TEXTS, where, where);
  if (problem !== undefined) throw invalidConfig(problem.message);
  if (isList) return (value as readonly Rule[]).flatMap((rule) => parseRule(ruleText(rule), rule.action));
  const texts = value as { readonly [action in RuleAction]?: readonly string[] };
  return ACTIONS.flatMap((action) => (texts[action] ?? []).flatMap((text) => parseRule(text, action)));
}

function checkedName(name: string, text: string): string {
  if (name.length > MAX_NAME || !/^[\w.:*/@-]+$/.test(name))
    throw ruleError(text, "the name of a tool, then its pattern in brackets");
  return name;
}

function checkedPattern(tool: string, pattern: string, text: string): string {
  if (pattern.trim() === "")
    throw ruleError(text, `a pattern between the brackets, or ${tool} alone for every call`);
  if (pattern.length > MAX_PATTERN || pattern.includes("\0"))
    throw ruleError(text, `a pattern of at most ${MAX_PATTERN} characters`);
  const kind = patternKind(tool);
  if (kind === "none") throw ruleError(text, `no pattern: rules for ${tool} describe every call of it`);
  if (kind === "domain" && !/^domain:(?:(?:\*\.)?[\w.:[\]-]+|\*)$/.test(pattern))
    throw ruleError(text, "web_fetch(domain:HOST) or web_fetch(domain:*.HOST)");
  return pattern;
}

function patternsOfPeer(pattern: string, tool: string, action: RuleAction): readonly string[] {
  const kind = patternKind(tool);
  if (kind === "command" && pattern.endsWith(":*") && pattern.length > 2) {
    const prefix = pattern.slice(0, -2);
    return [prefix, `${prefix} *`];
  }
  if (kind !== "path") return [pattern];
  const plain = pattern.replace(/^\/(?!\/)/, "./").replace(/^\/\//, "/");
  return action === "allow" ? [plain] : [...withAllBelow(plain)];
}

/** As in an ignore file: a name without a slash matches at any depth, and a folder includes its contents. */
function withAllBelow(pattern: string): readonly string[] {
  const path = pattern.replace(/(?<=.)\/+$/, "");
  const names = /[/~]/.test(path) ? [path] : [path, `**/${path}`];
  return names.flatMap((name) => (name.endsWith("**") ? [name] : [name, `${name}/**`.replace(/^\/\//, "/")]));
}

function ruleError(text: string, expected: string): NanoAgentError {
  return invalidConfig(
    `The permission rule ${truncateEnd(JSON.stringify(text), 200)} is malformed: expected ${expected}.`,
  );
}

/** Rules from answers in this session. A policy given this sees new ones from the next call on. */
export class SessionRules {
  #rules: readonly OriginRule[] = [];

  /** The rules so far, in order of arrival. A new list after each change. */
  get rules(): readonly OriginRule[] {
    return this.#rules;
  }

  /** Allows calls matching these rules until the returned function is called. Throws `invalid_config`. */
  lend(texts: readonly string[]): () => void {
    const rules = texts.flatMap((text) => parseRule(text, "allow"));
    const added = rules.map((rule): OriginRule => ({ ...rule, origin: "session" }));
    this.#rules = [...this.#rules, ...added];
    return () => {
      this.#rules = this.#rules.filter((rule) => !added.includes(rule));
    };
  }

  /** Allows calls that match a rule until the session ends. Throws `invalid_config` if it is not a rule. */
  allow(text: string): void {
    this.lend([text]);
  }

  /** Allows edits in the workspace until the session ends; protected paths and key files still ask. */
  allowEdits(): void {
    this.lend(["write(**)", "edit(**)"]);
  }
}

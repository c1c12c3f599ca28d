import { type Fields, isRecord, ownValue } from "../../core/base/json.ts";
import { serverNameParts } from "../../extensions/mcp/tool-name.ts";
import { patternKind, type RuleAction } from "../../permission/rule.ts";
import { parseConfigText } from "../settings/parse-config.ts";

/** A rule in a Codex `.rules` file: the leading words of a command, with alternatives. */
interface CodexRule {
  readonly words: readonly (readonly string[])[];
  readonly action: RuleAction;
}

interface CodexRules {
  readonly rules: readonly CodexRule[];
  readonly unread: readonly number[];
}

const ACTIONS: { readonly [decision: string]: RuleAction | undefined } = {
  allow: "allow",
  prompt: "ask",
  forbidden: "deny",
};

/** Reads each `prefix_rule(…)` of plain words on one line. Files with multi-line strings are not read. */
export function readCodexRules(text: string): CodexRules {
  const rules: CodexRule[] = [];
  const unread: number[] = [];
  const isPlain = !/"""|'''/.test(text);
  for (const [index, line] of text.split("\n").entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    const rule = isPlain ? ruleOf(line) : undefined;
    if (rule === undefined) unread.push(index + 1);
    else rules.push(rule);
  }
  return { rules, unread };
}

/** The rule on a line: its arguments in Python syntax are the fields of a JSON object. */
function ruleOf(line: string): CodexRule | undefined {
  const [, given] = /^prefix_rule\((.*)\)\s*(?:#.*)?$/.exec(line) ?? [];
  const fields = given?.replaceAll(
    /("(?:[^"\\]|\\.)*")|'((?:[^'\\]|\\.)*)'|([A-Za-z_]\w*)\s*=/g,
    (_all, double?: string, single?: string, name?: string) =>
      double ?? (name === undefined ? JSON.stringify(single) : `"${name}":`),
  );
  const read = parseConfigText(`{${fields ?? ""}}`);
  if (!("value" in read) || !isRecord(read.value)) return undefined;
  const { pattern, decision = "allow" } = read.value;
  const action = ownValue(ACTIONS, decision);
  if (action === undefined || !Array.isArray(pattern) || pattern.length === 0) return undefined;
  const parts = pattern.map((each: unknown) => (Array.isArray(each) ? each : [each]));
  return parts.every(isWords) ? { words: parts, action } : undefined;
}

/** A word that is literal in our patterns too. */
function isWords(words: readonly unknown[]): words is readonly string[] {
  return (
    words.length > 0 &&
    words.every((word) => typeof word === "string" && /^[\w@%+=,./-][\w@%+=:,./-]*$/.test(word))
  );
}

/** Commands that a rule covers; `undefined` if there are too many to write out. */
export function commandVariants({ words }: CodexRule): readonly string[] | undefined {
  let commands: readonly string[] = [""];
  for (const alternatives of words) {
    if (commands.length * alternatives.length > MAX_COMMANDS) return undefined;
    commands = commands.flatMap((begin) => alternatives.map((word) => `${begin} ${word}`.trim()));
  }
  return commands;
}

const MAX_COMMANDS = 50;

type OpenCodeRule =
  | { readonly action: RuleAction; readonly rules: readonly string[] }
  | { readonly what: string; readonly why: string };

export function readOpenCodeRules({ permission, tools, mcp }: Fields): readonly OpenCodeRule[] {
  const servers = Object.keys(isRecord(mcp) ? mcp : {});
  if (typeof permission === "string") return [openCodeRule("*", undefined, permission, servers)];
  const off = Object.entries(isRecord(tools) ? tools : {})
    .filter(([, isOn]) => isOn === false)
    .map(([tool]) => openCodeRule(tool, undefined, "deny", servers));
  const given = Object.entries(isRecord(permission) ? permission : {}).flatMap(([tool, value]) =>
    isRecord(value)
      ? Object.entries(value).map(([pattern, action]) => openCodeRule(tool, pattern, action, servers))
      : [openCodeRule(tool, undefined, value, servers)],
  );
  return [...off, ...given];
}

function openCodeRule(
  given: string,
  pattern: string | undefined,
  action: unknown,
  servers: readonly string[],
): OpenCodeRule {
  const what = `permission: ${pattern === undefined ? given : `${given}(${pattern})`}`;
  if (!isAction(action)) return { what, why: `${JSON.stringify(action)} is not one of allow, ask and deny` };
  if (given === "*" && action === "allow")
    return { what, why: "say it for each run with --permission-mode bypassPermissions" };
  const tool = toolOf(given, servers);
  if (tool === undefined) return { what, why: `there is no tool ${given} here` };
  if (pattern === undefined || pattern === "*") return { action, rules: [tool] };
  // Its `*` crosses folders, ours does not; an allow rule keeps the narrower meaning.
  const isWider = patternKind(tool) === "path" && action !== "allow";
  if (isWider && /[[\]{}!\\]/.test(pattern)) return { what, why: `write it as ${tool}(…) under permissions` };
  return { action, rules: [`${tool}(${isWider ? pattern.replaceAll(/\*+/g, "**") : pattern})`] };
}

function isAction(action: unknown): action is RuleAction {
  return action === "allow" || action === "ask" || action === "deny";
}

const OWN_TOOLS: ReadonlySet<string> = new Set("bash read write edit glob grep task skill *".split(" "));
const SAME_TOOLS: { readonly [name: string]: string | undefined } = {
  webfetch: "web_fetch",
  todowrite: "todo",
  patch: "edit",
  list: "glob",
};

/** The name of that tool here. MCP tools are called `server_tool` there. */
function toolOf(given: string, servers: readonly string[]): string | undefined {
  if (OWN_TOOLS.has(given)) return given;
  const same = ownValue(SAME_TOOLS, given);
  if (same !== undefined) return same;
  const server = servers.find((name) => given.startsWith(`${name}_`));
  const part = server === undefined ? undefined : serverNameParts(servers).get(server);
  return server === undefined || part === undefined
    ? undefined
    : `mcp__${part}__${given.slice(server.length + 1)}`;
}

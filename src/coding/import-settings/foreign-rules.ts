import { type Fields, isRecord, ownValue, safeParse } from "../../core/base/json.ts";
import { serverParts } from "../../extensions/mcp/tool-name.ts";
import { patternKind, type RuleAction } from "../../permission/rule.ts";

/** A rule of a `.rules` file of Codex: the words a command begins with, with alternatives. */
interface CodexRule {
  readonly words: readonly (readonly string[])[];
  readonly action: RuleAction;
}

interface CodexRules {
  readonly rules: readonly CodexRule[];
  /** Lines of what cannot be read. */
  readonly unread: readonly number[];
}

const ACTIONS: { readonly [decision: string]: RuleAction | undefined } = {
  allow: "allow",
  prompt: "ask",
  forbidden: "deny",
};

/** Reads `prefix_rule(pattern = […], decision = "…")` with plain texts; the rest is told by line. */
export function readCodexRules(text: string): CodexRules {
  const tokens = tokensOf(text);
  const rules: CodexRule[] = [];
  const unread: number[] = [];
  for (let at = 0, next = 0; at < tokens.length; at = next) {
    next = tokens.findIndex((token, index) => index > at && isRuleName(token));
    if (next === -1) next = tokens.length;
    const [name, ...call] = tokens.slice(at, next);
    const end = call.findIndex(({ json }) => json === "}") + 1;
    const rule = name !== undefined && isRuleName(name) ? ruleOf(call.slice(0, end)) : undefined;
    if (rule !== undefined) rules.push(rule);
    const other = rule === undefined ? name : call[end];
    if (other !== undefined) unread.push(other.line);
  }
  for (const token of tokens) if (token.json === RULE && !isRuleName(token)) unread.push(token.line);
  return { rules, unread: [...new Set(unread)].sort((one, other) => one - other) };
}

/** A word of the language as JSON has it: arguments of a call are the fields of an object. */
interface Token {
  readonly json: string;
  readonly line: number;
  /** Nothing stands before it in its line: only there it is a statement of the file itself. */
  readonly isFirst: boolean;
}

/** A rule within a function, a condition or a list may never be made. */
function isRuleName({ json, isFirst }: Token): boolean {
  return json === RULE && isFirst;
}

const TOKEN =
  /#[^\n]*|(?<long>"""[^]*?"""|'''[^]*?''')|(?<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?<name>[A-Za-z_]\w*)(?<isField>[^\S\n]*=)?|(?<sign>\S)|(?<line>\n)|[^\S\n]+/g;

const RULE = "prefix_rule";

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let line = 1;
  for (const { groups = {}, index } of text.matchAll(TOKEN)) {
    const { long, text: quoted, name, isField, sign, line: end } = groups;
    const place = { line, isFirst: index === 0 || text[index - 1] === "\n" };
    if (long !== undefined) tokens.push({ json: JSON.stringify(long.slice(3, -3)), ...place });
    else if (quoted !== undefined)
      tokens.push({ json: JSON.stringify(quoted.slice(1, -1).replaceAll(/\\(.)/g, "$1")), ...place });
    else if (name !== undefined) tokens.push({ json: isField === undefined ? name : `"${name}":`, ...place });
    else if (sign !== undefined) tokens.push({ json: BRACKETS.get(sign) ?? sign, ...place });
    line += end === undefined ? (long?.split("\n").length ?? 1) - 1 : 1;
  }
  return tokens;
}

const BRACKETS: ReadonlyMap<string, string> = new Map([
  ["(", "{"],
  [")", "}"],
]);

/** The rule of a call, if it is one; a comma behind the last argument is none of JSON. */
function ruleOf(call: readonly Token[]): CodexRule | undefined {
  const words = call.map(({ json }) => json);
  const isLast = (at: number): boolean => words[at + 1] === "]" || words[at + 1] === "}";
  const read = safeParse(words.filter((json, at) => json !== "," || !isLast(at)).join(""));
  if (!read.ok || !isRecord(read.value)) return undefined;
  const { pattern, decision = "allow" } = read.value;
  const action = ownValue(ACTIONS, decision);
  if (action === undefined || !Array.isArray(pattern) || pattern.length === 0) return undefined;
  const parts = pattern.map((each: unknown) => (Array.isArray(each) ? each : [each]));
  return parts.every(isWords) ? { words: parts, action } : undefined;
}

/** A word that stands for itself in a pattern of ours too. */
function isWords(words: readonly unknown[]): words is readonly string[] {
  return (
    words.length > 0 &&
    words.every((word) => typeof word === "string" && /^[\w@%+=,./-][\w@%+=:,./-]*$/.test(word))
  );
}

/** Commands that a rule speaks of; `undefined`: too many to be written down one by one. */
export function commandsOf({ words }: CodexRule): readonly string[] | undefined {
  let commands: readonly string[] = [""];
  for (const alternatives of words) {
    if (commands.length * alternatives.length > MAX_COMMANDS) return undefined;
    commands = commands.flatMap((begin) => alternatives.map((word) => `${begin} ${word}`.trim()));
  }
  return commands;
}

const MAX_COMMANDS = 50;

/** The meaning of a permission of opencode here: rules, or why there are none. */
type OpenCodeRule =
  | { readonly action: RuleAction; readonly rules: readonly string[] }
  | { readonly what: string; readonly why: string };

/** The permissions of a settings file of opencode, the tools that it switches off among them. */
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
  if (patternKind(tool) !== "path" || action === "allow") return { action, rules: [`${tool}(${pattern})`] };
  const paths = acrossFolders(pattern);
  if (paths === undefined) return { what, why: `write it as ${tool}(…) under permissions` };
  return { action, rules: paths.map((path) => `${tool}(${path})`) };
}

function isAction(action: unknown): action is RuleAction {
  return action === "allow" || action === "ask" || action === "deny";
}

const OWN_TOOLS: ReadonlySet<string> = new Set([
  "bash",
  "read",
  "write",
  "edit",
  "glob",
  "grep",
  "task",
  "skill",
  "*",
]);
const SAME_TOOLS: { readonly [name: string]: string | undefined } = {
  webfetch: "web_fetch",
  todowrite: "todo",
  patch: "edit",
  list: "glob",
};

/** The tool of that name here. Those of a server are called `server_tool` there. */
function toolOf(given: string, servers: readonly string[]): string | undefined {
  if (OWN_TOOLS.has(given)) return given;
  const same = ownValue(SAME_TOOLS, given);
  if (same !== undefined) return same;
  const server = servers.find((name) => given.startsWith(`${name}_`));
  const part = server === undefined ? undefined : serverParts(servers).get(server);
  return server === undefined || part === undefined
    ? undefined
    : `mcp__${part}__${given.slice(server.length + 1)}`;
}

/** Ways to write a pattern whose stars can be written in two ways each. */
const MAX_STARS = 5;

/** A pattern whose `*` crosses folders, in ours, where it does not; `undefined` where none is the same. */
function acrossFolders(pattern: string): readonly string[] | undefined {
  const parts = pattern.split(/\*+/);
  if (/[[\]{}!\\]/.test(pattern) || parts.length - 1 > MAX_STARS) return undefined;
  return parts.slice(1).reduce<readonly string[]>(
    (forms, part, index) => {
      const before = parts[index] ?? "";
      const begins = before.endsWith("/") || (before === "" && index === 0);
      const ends = part.startsWith("/") || (part === "" && index === parts.length - 2);
      return forms.flatMap((form) => starsBetween(begins, ends).map((stars) => `${form}${stars}${part}`));
    },
    [parts[0] ?? ""],
  );
}

function starsBetween(begins: boolean, ends: boolean): readonly string[] {
  if (begins) return [ends ? "**" : "**/*"];
  return ends ? ["*", "*/**"] : ["*", "*/**/*"];
}

import { isRecord, ownValue, safeParse } from "../../core/base/json.ts";
import type { RuleAction } from "../../permission/rule.ts";

/** A rule of a `.rules` file of Codex: the words a command begins with, with alternatives. */
export interface CodexRule {
  readonly words: readonly (readonly string[])[];
  readonly action: RuleAction;
}

/** The rules of a file, and what stands in it that is none. */
export interface CodexRules {
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

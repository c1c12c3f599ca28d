/** A rule of a `.rules` file of Codex: the words a command begins with, several where there are alternatives, and what becomes of it. */
export interface CodexRule {
  readonly words: readonly (readonly string[])[];
  readonly action: "allow" | "ask" | "deny";
}

/** The rules of a file, and what stands in it that is none. */
export interface CodexRules {
  readonly rules: readonly CodexRule[];
  /** Lines of what cannot be read. */
  readonly unread: readonly number[];
}

const ACTIONS: { readonly [decision: string]: CodexRule["action"] | undefined } = {
  allow: "allow",
  prompt: "ask",
  forbidden: "deny",
};

/** Reads `prefix_rule(pattern = […], decision = "…")`, written with plain texts. Everything else of that language is told by its line. Never throws. */
export function readCodexRules(text: string): CodexRules {
  const tokens = tokensOf(text);
  const rules: CodexRule[] = [];
  const unread: number[] = [];
  let at = 0;
  while (at < tokens.length) {
    const call = callAt(tokens, at);
    const rule = call === undefined ? undefined : ruleOf(call.fields);
    if (rule === undefined) unread.push(tokens[at]?.line ?? 1);
    else rules.push(rule);
    at = call?.end ?? nextCall(tokens, at + 1);
  }
  for (const { type, value, isFirst, line: inner } of tokens)
    if (type === "name" && value === RULE && !isFirst) unread.push(inner);
  return { rules, unread: [...new Set(unread)].sort((one, other) => one - other) };
}

interface Token {
  readonly type: "text" | "name" | "sign";
  readonly value: string;
  readonly line: number;
  /** Nothing stands before it in its line: only there it is a statement of the file itself. */
  readonly isFirst: boolean;
}

type Value = string | readonly Value[];
type FieldMap = ReadonlyMap<string, Value>;

const TOKEN =
  /#[^\n]*|(?<long>"""[^]*?"""|'''[^]*?''')|(?<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?<name>[A-Za-z_]\w*)|(?<sign>\S)|(?<line>\n)|[^\S\n]+/g;

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let line = 1;
  for (const { groups = {}, index } of text.matchAll(TOKEN)) {
    const { long, text: quoted, name, sign, line: end } = groups;
    const place = { line, isFirst: index === 0 || text[index - 1] === "\n" };
    if (end !== undefined) line++;
    if (long !== undefined) {
      tokens.push({ type: "text", value: long.slice(3, -3), ...place });
      line += long.split("\n").length - 1;
    } else if (quoted !== undefined)
      tokens.push({ type: "text", value: quoted.slice(1, -1).replaceAll(/\\(.)/g, "$1"), ...place });
    else if (name !== undefined) tokens.push({ type: "name", value: name, ...place });
    else if (sign !== undefined) tokens.push({ type: "sign", value: sign, ...place });
  }
  return tokens;
}

function nextCall(tokens: readonly Token[], from: number): number {
  const next = tokens.findIndex((token, at) => at >= from && isRuleName(token));
  return next === -1 ? tokens.length : next;
}

/** A rule within a function, a condition or a list may never be made. */
function isRuleName({ type, value, isFirst }: Token): boolean {
  return type === "name" && value === RULE && isFirst;
}

const RULE = "prefix_rule";

/** The arguments of a call that begins at a place, and where it ends; `undefined` for what is none. */
function callAt(
  tokens: readonly Token[],
  start: number,
): { readonly fields: FieldMap; readonly end: number } | undefined {
  const is = (at: number, sign: string): boolean => tokens[at]?.type === "sign" && tokens[at]?.value === sign;
  const name = tokens[start];
  if (name === undefined || !isRuleName(name) || !is(start + 1, "(")) return undefined;
  const fields = new Map<string, Value>();
  let at = start + 2;
  while (!is(at, ")")) {
    const key = tokens[at];
    const read = key?.type === "name" && is(at + 1, "=") ? valueAt(tokens, at + 2) : undefined;
    if (key === undefined || read === undefined) return undefined;
    fields.set(key.value, read.value);
    at = read.end;
    if (is(at, ",")) at++;
    else if (!is(at, ")")) return undefined;
  }
  return { fields, end: at + 1 };
}

function valueAt(
  tokens: readonly Token[],
  at: number,
): { readonly value: Value; readonly end: number } | undefined {
  const first = tokens[at];
  if (first?.type === "text") return { value: first.value, end: at + 1 };
  if (first?.type !== "sign" || first.value !== "[") return undefined;
  const values: Value[] = [];
  let next = at + 1;
  while (tokens[next]?.value !== "]" || tokens[next]?.type !== "sign") {
    const read = valueAt(tokens, next);
    if (read === undefined) return undefined;
    values.push(read.value);
    next = read.end;
    if (tokens[next]?.type === "sign" && tokens[next]?.value === ",") next++;
  }
  return { value: values, end: next + 1 };
}

function ruleOf(fields: FieldMap): CodexRule | undefined {
  const pattern = fields.get("pattern");
  const decision = fields.get("decision") ?? "allow";
  const action = typeof decision === "string" ? ACTIONS[decision] : undefined;
  if (action === undefined || typeof pattern === "string" || pattern === undefined || pattern.length === 0)
    return undefined;
  const words = pattern.map((each) => (typeof each === "string" ? [each] : each));
  if (!words.every(isWords)) return undefined;
  return { words, action };
}

/** A word that stands for itself in a pattern of ours too. */
function isWords(words: readonly Value[]): words is readonly string[] {
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

import { parse } from "unbash";
import { findInvisible } from "../../core/base/hidden-characters.ts";
import type { CommandPlacement } from "../../system/command-sandbox.ts";
import { secretInWord } from "../built-in-rules.ts";
import { fold, lastPart, matchesText, wordSet } from "../match-text.ts";
import type { PathSpace } from "../path-space.ts";
import { placementOf } from "../permission-mode.ts";
import { type OriginRule, ruleText } from "../rule.ts";
import {
  BYPASS_VERDICT,
  type JudgedCall,
  noRuleVerdict,
  oneLine,
  planDenial,
  ruleVerdict,
  secretVerdict,
  unjudgedVerdict,
  type Verdict,
} from "../verdict.ts";
import { commandText, type PlainCommand, readPlainLine } from "./plain-line.ts";
import { coversCommand, harmfulWords, onlyLooks } from "./program-options.ts";

interface CommandCall extends JudgedCall {
  readonly command: string;
  readonly access: "network" | "full" | undefined;
}

const TOOL = "bash";

/** Judges a command line: by deny and ask rules, by where it runs, and outside the sandbox by its content. */
export function judgeCommand(judged: JudgedCall, command: string): Verdict {
  const { access: given } = judged.input;
  // Unknown access is judged as the widest: the tool refuses it.
  const access = given === undefined || given === "network" ? given : "full";
  const placement = placementOf(access, judged);
  return { ...decide({ ...judged, command, access }, placement), runs: placement.runs };
}

function decide(call: CommandCall, { runs, readOnly }: CommandPlacement): Verdict {
  const { command, access, mode } = call;
  const found = commandsIn(command);
  const denied = refusal("deny", call, found);
  if (denied?.decision === "deny") return denied;
  const denial = access === "full" ? outsideDenial(call) : undefined;
  if (denial !== undefined) return denial;
  const askVerdict = denied ?? refusal("ask", call, found);
  const question = askVerdict ?? (mode === "bypassPermissions" ? BYPASS_VERDICT : secretIn(call, found));
  if (mode === "plan" && !readOnly) return judgeInPlanMode(call, question);
  if (question !== undefined) return question;
  if (runs === "inside" && (mode === "auto" || mode === "plan"))
    return { decision: "allow", reason: `It runs in the sandbox${readOnly ? ", read-only" : ""}.` };
  return withAccessNote(judgeOutside(call), access);
}

function outsideDenial({ command, mode, sandbox }: CommandCall): Verdict | undefined {
  if (mode === "plan") return planDenial(command);
  if (sandbox !== "only") return undefined;
  const reason =
    "The sandbox is on, so that no command runs outside it. Leave access out, or ask for the network.";
  return { decision: "deny", rule: "sandbox: on", reason, code: "deny_rule" };
}

function judgeInPlanMode(call: CommandCall, question: Verdict | undefined): Verdict {
  const looking = judgeOutside(call);
  if (looking.decision !== "allow") return planDenial(looking.part ?? call.command);
  return question ?? looking;
}

function withAccessNote(verdict: Verdict, access: CommandCall["access"]): Verdict {
  if (verdict.decision !== "ask" || access === undefined) return verdict;
  const wants = access === "network" ? "for the network" : "to run outside the sandbox";
  return { ...verdict, reason: `${verdict.reason} It asks ${wants}.` };
}

/** The matching deny or ask rule; a question if such rules cannot be applied. */
function refusal(
  action: "deny" | "ask",
  { command, rules, space }: CommandCall,
  found: FoundCommands | undefined,
): Verdict | undefined {
  const own = rules.rulesForTool(action, TOOL);
  const whole = own.find(({ pattern }) => pattern === undefined || pattern === command.trim());
  if (whole !== undefined) return ruleVerdict(whole, command);
  if (own.length === 0) return undefined;
  if (found === undefined) {
    const reason = "The command is too long or nested too deeply to be read.";
    return { ...unjudgedVerdict(reason, command), isFirm: true };
  }
  const spelled = space.ignoreCase ? fold : (text: string): string => text;
  for (const [name = "", ...args] of found.commands) {
    for (const text of [name, lastPart(name)].map((each) => [each, ...args].join(" "))) {
      const rule = own.find(({ pattern = "" }) => matchesText(spelled(pattern), spelled(text)));
      if (rule !== undefined) return ruleVerdict(rule, text);
    }
  }
  return undefined;
}

function secretIn({ command, defaults }: CommandCall, found: FoundCommands | undefined): Verdict | undefined {
  if (!defaults) return undefined;
  const { commands = [[command]], files = [] } = found ?? {};
  for (const words of [...commands, ...files.map((file) => [file])]) {
    const pattern = pathWordsIn(words)
      .map(secretInWord)
      .find((each) => each !== undefined);
    if (pattern !== undefined)
      return secretVerdict(words.join(" "), pattern, "names a file that may hold keys");
  }
  return undefined;
}

const PRINT_PROGRAMS = wordSet("echo printf");
const SCRIPT_PROGRAMS = wordSet("awk egrep fgrep grep jq rg sed");

function pathWordsIn(words: readonly string[]): readonly string[] {
  const program = lastPart(words[0] ?? "");
  if (PRINT_PROGRAMS.has(program)) return [];
  if (!SCRIPT_PROGRAMS.has(program)) return words;
  const script = words.findIndex((word, index) => index > 0 && !word.startsWith("-"));
  return words.filter((_, index) => index !== script);
}

function judgeOutside(call: CommandCall): Verdict {
  const { command, mode, rules } = call;
  const hidden = findInvisible(command);
  if (hidden !== undefined)
    return unjudgedVerdict(`The command has a character in it that does not show (${hidden}).`, command);
  // No rule lets a command change anything in plan mode.
  const allowing = mode === "plan" ? [] : rules.rulesForTool("allow", TOOL);
  const whole = allowing.find(({ pattern }) => pattern === undefined);
  if (whole !== undefined) return ruleVerdict(whole, command);
  const line = readPlainLine(command);
  if ("problem" in line)
    return unjudgedVerdict(`No rule for single commands covers the line: ${line.problem}.`, command);
  const exact = allowing.find(({ pattern = "" }) => pattern === command.trim() && !pattern.includes("*"));
  if (exact !== undefined) return ruleVerdict(exact, command);
  const looking = lookingCommands(line.commands, call);
  const verdicts = line.commands.map((each) => {
    const rule = allowing.find(({ pattern = "" }) => coversCommand(pattern, each));
    if (rule !== undefined) return ruleVerdict(rule, commandText(each));
    return looking.has(each) ? looksVerdict(each) : undefined;
  });
  const open = line.commands.filter((_, index) => verdicts[index] === undefined);
  const [first] = open;
  if (first !== undefined) return uncoveredVerdict(first, open, { command, allowing });
  const [only, ...others] = verdicts;
  if (only !== undefined && others.length === 0) return only;
  const looks = verdicts.every((verdict) => verdict?.looks === true) ? ({ looks: true } as const) : {};
  return { decision: "allow", reason: "Every command in the line is allowed.", ...looks };
}

function looksVerdict(command: PlainCommand): Verdict {
  const part = commandText(command);
  const rule = `built-in: ${command.words[0].text}`;
  const reason = `${oneLine(part)} only looks at the workspace.`;
  return { decision: "allow", part, rule, reason, code: "allow_rule", looks: true };
}

/** Built-in commands that may change the folder, the programs found or the shell itself. */
const CHANGES_SHELL = wordSet(`
  . alias builtin cd command declare enable eval exec export getopts hash let local mapfile popd printf pushd
  read readarray readonly set shopt source trap typeset unalias unset`);
const MAX_FOLDERS = 8;

/** After a `cd`, a command must only look from both folders, unless only `&&` and `|` join the line. */
function lookingCommands(
  commands: readonly PlainCommand[],
  { access, rules, space, defaults }: CommandCall,
): ReadonlySet<PlainCommand> {
  const looking = new Set<PlainCommand>();
  // A command that requests more access than looking needs does not only look.
  if (!defaults || access !== undefined) return looking;
  const isSure = commands.every(({ joiner }) => joiner !== ";" && joiner !== "||");
  let folders = [space];
  for (const [index, command] of commands.entries()) {
    const moved = folders.flatMap((folder) => cdTarget(command, folder) ?? []);
    // In a pipeline it changes the folder of a subshell.
    const isPiped = command.joiner === "|" || commands[index + 1]?.joiner === "|";
    if (moved.length === folders.length) {
      looking.add(command);
      if (!isPiped) folders = isSure ? moved : [...folders, ...moved];
    } else if (folders.every((folder) => onlyLooks(command.words, folder, rules))) looking.add(command);
    else if (CHANGES_SHELL.has(command.words[0].text)) break;
    if (folders.length > MAX_FOLDERS) break;
  }
  return looking;
}

/** The target of a `cd` to a literal folder in the workspace; a link there would make its `..` ambiguous. */
function cdTarget({ words: [name, target, ...more] }: PlainCommand, space: PathSpace): PathSpace | undefined {
  if (name.text !== "cd" || target === undefined || more.length > 0) return undefined;
  const { text, isGlob, isHome } = target;
  if (isGlob || text === "" || text.startsWith("-")) return undefined;
  const folder = isHome || !text.startsWith("~") ? text : `./${text}`;
  const { written, resolved, oddity } = space.withCwd(space.cwd).resolve(folder);
  const isSure = oddity === undefined && written[0] === resolved && space.isInside(resolved);
  return isSure ? space.withCwd(resolved) : undefined;
}

function uncoveredVerdict(
  first: PlainCommand,
  open: readonly PlainCommand[],
  { command, allowing }: { readonly command: string; readonly allowing: readonly OriginRule[] },
): Verdict {
  const text = commandText(first);
  const [option] = harmfulWords(first.words);
  const matchingRule = option && allowing.find(({ pattern = "" }) => matchesText(pattern, text));
  const why = matchingRule
    ? `the * of ${oneLine(ruleText(matchingRule))} does not cover ${oneLine(option?.text ?? "")}`
    : "no rule allows it";
  const others = open.slice(1).map((each) => oneLine(commandText(each)));
  const more = others.length === 0 ? "" : ` Not allowed either: ${others.join("; ")}.`;
  const pattern = suggestedPattern(command.trim(), open);
  const suggestion = pattern === undefined ? undefined : ruleText({ tool: TOOL, pattern });
  return noRuleVerdict(`${oneLine(text)}: ${why}.${more}`, text, suggestion);
}

/** Programs with sub-commands: a rule for one may leave the rest open. */
const WITH_SUB_COMMANDS = wordSet(`
  apt apt-get brew bun bundle cargo composer deno dnf docker dotnet flutter gem gh git go gradle helm
  kubectl mix mvn nix npm pip pip3 pnpm podman poetry rustup swift systemctl terraform uv yarn`);
const FORWARDING_SUB_COMMANDS = wordSet("run exec compose dlx x");

/** Program and sub-command if that covers all `open` commands, else the line unless it contains a star. */
function suggestedPattern(line: string, open: readonly PlainCommand[]): string | undefined {
  const [first] = open;
  const pattern = first === undefined ? undefined : subCommandPattern(first);
  if (pattern !== undefined && open.every((command) => coversCommand(pattern, command))) return pattern;
  return line.includes("*") ? undefined : line;
}

function subCommandPattern({ words }: PlainCommand): string | undefined {
  const [program = "", sub = "", next = ""] = words.map(({ text }) => text);
  const named = FORWARDING_SUB_COMMANDS.has(sub) ? [sub, next] : [sub];
  const isKnown = WITH_SUB_COMMANDS.has(program) && named.every((word) => SUB_COMMAND.test(word));
  return isKnown ? `${program} ${named.join(" ")}*` : undefined;
}

const SUB_COMMAND = /^[A-Za-z0-9@][\w@:./-]*$/;

interface FoundCommands {
  /** Each as its words, quotes removed; a wrapped command is also listed separately. */
  readonly commands: (readonly string[])[];
  readonly files: string[];
  length: number;
}

const MAX_LENGTH = 400_000;
/** Deeper nested brackets are not read: the parser's time grows faster than their number. */
const MAX_NESTING = 50;
/** Scripts within scripts: `bash -c "bash -c …"`. */
const MAX_SCRIPTS = 8;

/** The simple commands of any line, including wrapped ones. `undefined`: too long or too deeply nested. */
function commandsIn(line: string): FoundCommands | undefined {
  const found: FoundCommands = { commands: [], files: [], length: 0 };
  try {
    return collectCommands(line, found, 0) ? found : undefined;
  } catch {
    // The input is too complex for the parser.
    return undefined;
  }
}

const WRAPPERS = wordSet(`
  env sudo doas nice ionice chrt taskset timeout time nohup setsid stdbuf command builtin exec xargs busybox
  toybox chroot unshare nsenter flock ssh strace ltrace watch caffeinate pkexec systemd-run npx bunx
  parallel`);
/** Wrappers whose first operand is not the command. */
const WRAPPERS_WITH_OPERAND = new Set(["ssh", "flock", "chroot", "taskset"]);
/** Programs that run an argument, or all of them together, as a shell line. */
const SHELLS = wordSet("bash sh dash zsh ksh ash fish su runuser script source");
const JOINING_PROGRAMS = wordSet("eval ssh watch parallel");
const FINDERS = new Set(["find", "fd"]);
const EXEC_OPTION = /^-(?:exec|execdir|ok|okdir|-exec|-exec-batch|x|X)$/;

function collectCommands(line: string, found: FoundCommands, depth: number): boolean {
  found.length += line.length;
  if (found.length > MAX_LENGTH || depth > MAX_SCRIPTS || isNestedDeeply(line)) return false;
  for (const node of nodesOf(parse(line))) {
    if (node.type === "Redirect") found.files.push(textOf(node["target"]));
    if (node.type !== "Command") continue;
    const args = node["args"] as readonly unknown[];
    const words = node["name"] === undefined ? [] : [node["name"], ...args].map(textOf);
    if (!addCommand(words, found, depth)) return false;
  }
  return true;
}

function addCommand(words: readonly string[], found: FoundCommands, depth: number): boolean {
  const [name, ...args] = words;
  if (name === undefined) return true;
  found.commands.push(words);
  const program = lastPart(name);
  const scripts = SHELLS.has(program) ? args.filter((arg) => !arg.startsWith("-")) : [];
  if (JOINING_PROGRAMS.has(program)) scripts.push(args.join(" "));
  if (!scripts.every((script) => collectCommands(script, found, depth + 1))) return false;
  const starts = FINDERS.has(program)
    ? args.flatMap((arg, index) => (EXEC_OPTION.test(arg) ? [index + 1] : []))
    : WRAPPERS.has(program)
      ? wrappedStarts(program, args)
      : [];
  return starts.every((start) => depth < MAX_SCRIPTS && addCommand(args.slice(start), found, depth + 1));
}

/** Where a wrapped command may begin: at the first operand, or the next if that may be a value. */
function wrappedStarts(program: string, args: readonly string[]): readonly number[] {
  const starts: number[] = [];
  let left = WRAPPERS_WITH_OPERAND.has(program) ? 2 : 1;
  for (const [index, arg] of args.entries()) {
    if (arg.startsWith("-") || /^(?:[\d.]+[smhd]?|\w+=.*|\{\})$/s.test(arg)) continue;
    starts.push(index);
    if (args[index - 1]?.startsWith("-") !== true) left--;
    if (left === 0) break;
  }
  return starts;
}

type SyntaxNode = { readonly type: string } & Readonly<Record<string, unknown>>;

const LAZY = ["parts", "script", "expression", "value", "index", "elements", "initialize", "test", "update"];

function nodesOf(root: unknown): readonly SyntaxNode[] {
  const nodes: SyntaxNode[] = [];
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const node = pending.pop();
    if (Array.isArray(node)) for (const each of node) pending.push(each);
    else if (isNode(node)) {
      // Nothing is nested in a word without expansions.
      if (node.type === "Word" && !/[$`<>]/.test(String(node["text"]))) continue;
      nodes.push(node);
      for (const key in node) if (typeof node[key] === "object") pending.push(node[key]);
      for (const key of LAZY)
        if (typeof node[key] === "object" && !Object.hasOwn(node, key)) pending.push(node[key]);
    }
  }
  return nodes.toSorted((one, other) => Number(one["pos"]) - Number(other["pos"]));
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function textOf(node: unknown): string {
  if (!isNode(node)) return "";
  const value = node["value"];
  return typeof value === "string" ? value : String(node["text"]);
}

function isNestedDeeply(line: string): boolean {
  let depth = 0;
  for (const char of line.replaceAll(/[^(){}[\]]+/g, "")) {
    if ("({[".includes(char)) depth++;
    else if (")}]".includes(char)) depth = Math.max(0, depth - 1);
    if (depth > MAX_NESTING) return true;
  }
  return line.split("<<").length > 400 || line.split("`").length > 10_000;
}

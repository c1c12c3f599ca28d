import { parse } from "unbash";
import { lastPart, wordSet } from "../match-text.ts";

/** The commands that a line runs, as far as a reader finds them: for rules that deny or ask. */
export interface FoundCommands {
  /** Each in its words, quotes removed; what a wrapper runs stands here as a command of its own, too. */
  readonly commands: readonly (readonly string[])[];
  /** Files that the line reads from or writes to by redirection. */
  readonly files: readonly string[];
}

const MAX_LENGTH = 400_000;
/** Deeper nested brackets are not read: the parser's time grows faster than their number. */
const MAX_NESTING = 50;
/** Scripts within scripts: `bash -c "bash -c …"`. */
const MAX_SCRIPTS = 8;

/**
 * The simple commands of any line, at any depth: in substitutions and blocks, behind `sudo`, `env`, `xargs`
 * and their like, in the text of `bash -c`. `undefined` for a line that is too long or nested too deeply to
 * be read. Generous: a word that could be the name of a program behind a wrapper counts as one.
 */
export function commandsIn(line: string): FoundCommands | undefined {
  const found: Findings = { commands: [], files: [], length: 0 };
  try {
    return read(line, found, 0) ? found : undefined;
  } catch {
    // The parser gives up on what is too complex for it.
    return undefined;
  }
}

interface Findings {
  readonly commands: (readonly string[])[];
  readonly files: string[];
  length: number;
}

const WRAPPERS = wordSet(`
  env sudo doas nice ionice chrt taskset timeout time nohup setsid stdbuf command builtin exec xargs busybox
  toybox chroot unshare nsenter flock ssh strace ltrace watch caffeinate pkexec systemd-run npx bunx
  parallel`);
/** Those whose first operand is something else. */
const TAKING_OPERAND = new Set(["ssh", "flock", "chroot", "taskset"]);
/** Programs that run an argument, or all of them together, as a line of the shell. */
const SHELLS = wordSet("bash sh dash zsh ksh ash fish su runuser script source");
const JOINING = wordSet("eval ssh watch parallel");
const FINDERS = new Set(["find", "fd"]);
const RUNS_NEXT = /^-(?:exec|execdir|ok|okdir|-exec|-exec-batch|x|X)$/;

function read(line: string, found: Findings, depth: number): boolean {
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

function addCommand(words: readonly string[], found: Findings, depth: number): boolean {
  const [name, ...args] = words;
  if (name === undefined) return true;
  found.commands.push(words);
  const program = lastPart(name);
  const scripts = SHELLS.has(program) ? args.filter((arg) => !arg.startsWith("-")) : [];
  if (JOINING.has(program)) scripts.push(args.join(" "));
  if (!scripts.every((script) => read(script, found, depth + 1))) return false;
  const starts = FINDERS.has(program)
    ? args.flatMap((arg, index) => (RUNS_NEXT.test(arg) ? [index + 1] : []))
    : WRAPPERS.has(program)
      ? startsIn(program, args)
      : [];
  return starts.every((start) => depth < MAX_SCRIPTS && addCommand(args.slice(start), found, depth + 1));
}

/**
 * Where a wrapped command may begin: at the first word that is no option, number or assignment (the second
 * one behind programs that take an operand), and where that may be the value of an option, at the next too.
 */
function startsIn(program: string, args: readonly string[]): readonly number[] {
  const starts: number[] = [];
  let left = TAKING_OPERAND.has(program) ? 2 : 1;
  for (const [index, arg] of args.entries()) {
    if (arg.startsWith("-") || /^(?:[\d.]+[smhd]?|\w+=.*|\{\})$/s.test(arg)) continue;
    starts.push(index);
    if (args[index - 1]?.startsWith("-") !== true) left--;
    if (left === 0) break;
  }
  return starts;
}

type SyntaxNode = { readonly type: string } & Readonly<Record<string, unknown>>;

/** Properties that the parser computes when they are looked at. */
const LAZY = ["parts", "script", "expression", "value", "index", "elements", "initialize", "test", "update"];

function nodesOf(root: unknown): readonly SyntaxNode[] {
  const nodes: SyntaxNode[] = [];
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const node = pending.pop();
    if (Array.isArray(node)) for (const each of node) pending.push(each);
    else if (isNode(node)) {
      // Nothing is nested in a word that expands nothing.
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

/** A word without its quotes; an assignment as it stands. */
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

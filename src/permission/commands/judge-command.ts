import { defined } from "../../core/base/defined.ts";
import { clipped } from "../../core/base/text.ts";
import { hiddenCharacter } from "../hidden-characters.ts";
import { matchesText } from "../match-text.ts";
import type { JudgedPath, PathSpace } from "../paths/path-space.ts";
import type { PermissionMode } from "../permission-mode.ts";
import { type Placement, placementOf, type SandboxState } from "../placement.ts";
import { type OriginRule, ruleText } from "../rule.ts";
import type { RuleSet } from "../rule-set.ts";
import { secretInCommand, secretInWord } from "../secret-files.ts";
import { BYPASSED, byRule, notJudged, planDenial, secretVerdict, shown, type Verdict } from "../verdict.ts";
import { commandsIn, type FoundCommands, nameOf } from "./commands-in.ts";
import { harmfulWords } from "./harmful-options.ts";
import { afterCommand, type Folders, staysInside } from "./line-folders.ts";
import { offeredPatterns } from "./offered-rule.ts";
import { onlyLooks } from "./only-looks.ts";
import { commandText, type PlainCommand, readPlainLine } from "./plain-line.ts";

/** A call of `bash`, and what it is judged by. */
export interface CommandCall {
  readonly command: string;
  /** Asks for the network, or to leave the sandbox. */
  readonly access: "network" | "full" | undefined;
  readonly rules: RuleSet;
  readonly space: PathSpace;
  readonly mode: PermissionMode;
  readonly sandbox: SandboxState;
  /** True when the built-in rules take part. */
  readonly defaults: boolean;
}

const TOOL = "bash";

/** Judges a command line: by deny and ask rules, by where it runs, and what runs outside by what it says. */
export function judgeCommand(call: CommandCall): Verdict {
  const placement = placementOf(call.access, call);
  return { ...decide(call, placement), runs: placement.runs };
}

function decide(call: CommandCall, placement: Placement): Verdict {
  const { command, access, mode } = call;
  const found = commandsIn(command);
  const denied = refusal("deny", call, found);
  if (denied?.decision === "deny") return denied;
  const confined = deniedByPlace(call);
  if (confined !== undefined) return confined;
  const asked = denied ?? refusal("ask", call, found);
  const question = asked ?? (mode === "bypassPermissions" ? BYPASSED : secretIn(call, found));
  if (mode === "plan" && !placement.readOnly) return planned(call, question ?? judgeOutside(call));
  if (question !== undefined) return question;
  if (placement.runs === "inside" && (mode === "auto" || mode === "plan"))
    return { decision: "allow", reason: `It runs in the sandbox${mode === "plan" ? ", read-only" : ""}.` };
  return withReach(judgeOutside(call), access);
}

/** The refusal of a command that asks to leave the sandbox where nothing may. */
function deniedByPlace({ command, access, mode, sandbox }: CommandCall): Verdict | undefined {
  if (access !== "full") return undefined;
  if (mode === "plan") return planDenial(command);
  if (sandbox !== "only") return undefined;
  const reason =
    "The sandbox is on, so that no command runs outside it. Leave access out, or ask for the network.";
  return { decision: "deny", rule: "sandbox: on", reason, code: "deny_rule" };
}

/** The deny or ask rule that fits a command in the line; a question where such rules cannot be applied. */
function refusal(
  action: "deny" | "ask",
  { command, rules, space }: CommandCall,
  found: FoundCommands | undefined,
): Verdict | undefined {
  const own = rules.forTool(action, TOOL);
  const whole = own.find(({ pattern }) => pattern === undefined);
  if (whole !== undefined) return byRule(whole, command);
  if (own.length === 0) return undefined;
  if (found === undefined)
    return {
      ...notJudged("The command is too long or nested too deeply to be read.", command),
      isFirm: true,
    };
  const folded = (text: string): string => (space.ignoreCase ? text.toLowerCase() : text);
  for (const [name = "", ...args] of found.commands) {
    const texts = new Set([name, nameOf(name)].map((each) => [each, ...args].join(" ")));
    for (const text of texts) {
      const rule = own.find(({ pattern = "" }) => matchesText(folded(pattern), folded(text)));
      if (rule !== undefined) return byRule(rule, text);
    }
  }
  return undefined;
}

/** The question about a line that names a file with keys. */
function secretIn({ command, defaults }: CommandCall, found: FoundCommands | undefined): Verdict | undefined {
  if (!defaults) return undefined;
  const names = "names a file that may hold keys";
  for (const words of found?.commands ?? [[command]]) {
    const pattern = secretInCommand(words);
    if (pattern !== undefined) return secretVerdict(words.join(" "), pattern, names);
  }
  for (const file of found?.files ?? []) {
    const pattern = secretInWord(file);
    if (pattern !== undefined) return secretVerdict(file, pattern, names);
  }
  return undefined;
}

/** In plan mode, without a sandbox in which nothing can be written: only what only looks. */
function planned(call: CommandCall, verdict: Verdict): Verdict {
  const looking = judgeOutside({ ...call, rules: call.rules.without("allow") });
  if (looking.decision !== "allow") return planDenial(looking.part ?? call.command);
  return verdict.decision === "allow" ? looking : verdict;
}

function withReach(verdict: Verdict, access: CommandCall["access"]): Verdict {
  if (verdict.decision !== "ask" || access === undefined) return verdict;
  const wants = access === "network" ? "for the network" : "to run outside the sandbox";
  return { ...verdict, reason: `${verdict.reason} It asks ${wants}.` };
}

/** Judges a line that is not confined, or in a mode that asks before commands. */
function judgeOutside(call: CommandCall): Verdict {
  const { command, rules, space } = call;
  const hidden = hiddenCharacter(command);
  if (hidden !== undefined)
    return notJudged(`The command has a character in it that does not show (${hidden}).`, command);
  const whole = rules.whole("allow", TOOL);
  if (whole !== undefined) return byRule(whole, command);
  const line = readPlainLine(command);
  if ("problem" in line)
    return notJudged(
      `${shown(command)}: no rule for single commands covers the line, ${line.problem}.`,
      command,
    );
  const open: PlainCommand[] = [];
  let folders: Folders | undefined = { now: [space], ever: [space] };
  const verdicts = line.commands.map((each, index) => {
    const verdict = covered(each, call, folders);
    if (verdict === undefined) open.push(each);
    const next = line.commands[index + 1]?.joiner;
    folders = afterCommand(folders, each, { next, onlyLooked: verdict?.looks === true });
    return verdict;
  });
  const [first] = open;
  if (first !== undefined) return uncovered(first, open, call);
  const [only, ...others] = verdicts;
  if (only !== undefined && others.length === 0) return only;
  const looks = verdicts.every((verdict) => verdict?.looks === true) ? ({ looks: true } as const) : {};
  return { decision: "allow", reason: "Every command in the line is allowed.", ...looks };
}

/** The verdict about a simple command that a rule allows, or that only looks; `undefined` for others. */
function covered(
  command: PlainCommand,
  { rules, defaults }: CommandCall,
  folders: Folders | undefined,
): Verdict | undefined {
  const text = commandText(command);
  const rule = rules.forTool("allow", TOOL).find((each) => covers(each, command));
  if (rule !== undefined) return byRule(rule, text);
  if (!defaults || folders === undefined) return undefined;
  const mayRead = (path: JudgedPath, space: PathSpace): boolean =>
    path.odd === undefined &&
    space.isInside(path.resolved) &&
    (["deny", "ask"] as const).every(
      (action) => rules.againstPath(action, "read", { path, space }) === undefined,
    );
  const looks =
    staysInside(command, folders) ||
    folders.now.every((space) =>
      onlyLooks(command.words, { space, mayRead: (path) => mayRead(path, space) }),
    );
  if (!looks) return undefined;
  const reason = `${shown(text)} only looks at the workspace.`;
  const known = `built-in: ${command.words[0].text}`;
  return { decision: "allow", part: text, rule: known, reason, code: "allow_rule", looks: true };
}

/** True when an allow rule covers a command. A `*` covers no harmful option: the pattern has to show it. */
function covers({ pattern }: OriginRule, command: PlainCommand): boolean {
  if (pattern === undefined || !matchesText(pattern, commandText(command))) return false;
  if (!pattern.includes("*")) return true;
  const words = pattern.split(" ").map((text) => ({ text, isGlob: false, isHome: false }));
  const shownOptions = harmfulWords(words);
  return harmfulWords(command.words).every(({ text }) =>
    shownOptions.some((option) => matchesText(option.text, text)),
  );
}

/** The question about commands that nothing allows, and the rule that would allow all of them. */
function uncovered(first: PlainCommand, open: readonly PlainCommand[], { rules }: CommandCall): Verdict {
  const offers = new Set(open.map(offer));
  const [suggestion] = offers.size === 1 ? offers : [];
  const text = commandText(first);
  const [option] = harmfulWords(first.words);
  const nearly =
    option && rules.forTool("allow", TOOL).find(({ pattern = "" }) => matchesText(pattern, text));
  const why = nearly
    ? `the * of ${shown(ruleText(nearly))} does not cover ${shown(option?.text ?? "")}`
    : "no rule allows it";
  const others = open.slice(1).map((each) => shown(commandText(each)));
  const more = others.length === 0 ? "" : ` Not allowed either: ${others.join("; ")}.`;
  return {
    decision: "ask",
    part: clipped(text, 2000),
    reason: `${shown(text)}: ${why}.${more}`,
    code: "no_rule",
    ...defined({ suggestion }),
  };
}

/** The rule to offer for a command; `undefined` where none would cover just what is shown. */
function offer(command: PlainCommand): string | undefined {
  const pattern = offeredPatterns(command).find((each) =>
    covers({ tool: TOOL, pattern: each, action: "allow", origin: "user" }, command),
  );
  return pattern === undefined ? undefined : ruleText({ tool: TOOL, pattern });
}

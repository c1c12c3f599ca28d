import type { CommandRules } from "./command-rules.ts";
import { hiddenCharacter } from "./hidden-characters.ts";
import { openPlace } from "./open-places.ts";
import { isMachinery, type PathSpace } from "./paths/path-space.ts";
import { type ReadOnlyContext, readOnlyRule, secretOf } from "./read-only.ts";
import type { OriginRule } from "./rule.ts";
import { secretInWord } from "./secret-files.ts";
import { planShell, type ShellPlan } from "./shell/plan-shell.ts";
import type { ShellRedirect } from "./shell/shell-command.ts";
import type { ShellUnit, TextGuard } from "./shell/shell-unit.ts";
import type { ShellRules } from "./shell-rules.ts";
import { suggestRules } from "./suggest-rules.ts";
import { byRule, shown, type Verdict } from "./verdict.ts";

/** What a command line is judged by. */
export interface ShellJudgement {
  readonly rules: ShellRules;
  readonly space: PathSpace;
  /** Whether the built-in rules take part. */
  readonly defaults: boolean;
  /** True in plan mode: what may change something is denied. */
  readonly onlyReads: boolean;
  /** True where edits inside the workspace are accepted. */
  readonly edits: boolean;
  /** Tools a person trusts as a whole: redirections and what cannot be read included. */
  readonly trusted: ReadonlySet<string>;
}

const TOOL = "bash";

/** Judges a command line: every command in it, and every file the shell opens for it. */
export function judgeShell(line: string, judgement: ShellJudgement): Verdict {
  const { rules } = judgement;
  const plan = planShell(line, { guesses: judgement.defaults || rules.refuses });
  const judge = new ShellJudge(line, plan, judgement);
  const verdict = judge.denied() ?? judge.asked() ?? judge.allowed();
  if (!judgement.onlyReads || verdict.decision === "deny" || judge.onlyReads()) return verdict;
  const part = verdict.part ?? line;
  return {
    decision: "deny",
    part,
    reason: `Plan mode only reads, and ${shown(part)} may change things.`,
    by: "mode",
    mode: "plan",
  };
}

/** Words that the built-in rules look at, on disk where they may be paths; a longer line asks, unless rules of the user allow it. */
const MAX_LOOKED = 4000;

class ShellJudge {
  readonly #line: string;
  readonly #plan: ShellPlan;
  readonly #judgement: ShellJudgement;
  readonly #allow: CommandRules;
  readonly #whole: OriginRule | undefined;
  #last: Allowed | undefined;
  #builtIn = false;
  #looked = 0;

  constructor(line: string, plan: ShellPlan, judgement: ShellJudgement) {
    this.#line = line;
    this.#plan = plan;
    this.#judgement = judgement;
    this.#allow = judgement.rules.allow;
    this.#whole = judgement.rules.wholeAllow;
  }

  /** The deny rule that fits any reading of the line. */
  denied(): Verdict | undefined {
    return this.#against("deny");
  }

  /** Why the line has to be asked about, in the order a person would want to know. */
  asked(): Verdict | undefined {
    const hidden = hiddenCharacter(this.#line);
    if (hidden !== undefined)
      return unreadable(this.#line, `the command has a character in it that does not show (${hidden})`);
    const rule = this.#against("ask");
    if (rule !== undefined) return rule;
    const secret = this.#judgement.defaults ? this.#secret() : undefined;
    if (secret !== undefined) return secret;
    if (this.#judgement.trusted.has(TOOL)) return undefined;
    const place = this.#protected(this.#plan.units);
    if (place !== undefined) return place;
    const obstacle = this.#plan.obstacles[0];
    if (obstacle !== undefined) return unreadable(obstacle.part, obstacle.reason);
    const redirect = this.#plan.redirects.find((each) => !isHarmless(each));
    if (redirect !== undefined) return ask(redirect.source, redirectReason(redirect));
    if (this.#plan.units.every(({ judged }) => !judged))
      return unreadable(this.#line, "there is no command in it");
    for (const unit of this.#plan.units) {
      const verdict = unit.judged ? this.#unit(unit) : undefined;
      if (verdict !== undefined) return verdict;
    }
    return this.#outsideInput();
  }

  allowed(): Verdict {
    const last = this.#last === undefined ? undefined : allowedVerdict(this.#last);
    if (last !== undefined && this.#plan.units.filter(({ judged }) => judged).length === 1) return last;
    const rule = last?.rule === undefined ? {} : { rule: last.rule };
    return {
      decision: "allow",
      ...rule,
      reason: "Every command in the line is allowed.",
      by: last?.by ?? "user",
    };
  }

  onlyReads(): boolean {
    const context = this.#context();
    let words = 0;
    for (const unit of this.#plan.units) words += unit.words.length;
    if (words > MAX_LOOKED) return false;
    if (this.#plan.redirects.some((each) => each.writes && !isHarmless(each))) return false;
    const reads = (unit: ShellUnit): boolean => {
      const programs = unit.guards.flatMap(({ program }) => program ?? []);
      const guards = unit.guards.filter(({ program }) => program === undefined || program.length === 0);
      return (
        !unit.judged ||
        (programs.every(reads) && readOnlyRule(withoutPrograms(unit, guards), context) !== undefined)
      );
    };
    return this.#plan.obstacles.length === 0 && this.#plan.units.every(reads);
  }

  /** Generous: any spelling of a command, and names that only a glob spells. */
  #against(action: "deny" | "ask"): Verdict | undefined {
    const rules = this.#judgement.rules[action];
    if (rules.whole !== undefined) return byRule(rules.whole, this.#line);
    const found = rules.isEmpty ? undefined : firstAgainst(rules, this.#plan.units);
    if (found !== undefined) return found;
    const line = rules.isEmpty ? undefined : rules.findByLine(this.#line.trim());
    return line === undefined
      ? this.#judgement.rules.words(action).against(this.#plan)
      : byRule(line, this.#line);
  }

  #secret(): Verdict | undefined {
    for (const unit of this.#plan.units) {
      const found = secretOf(unit);
      if (found !== undefined) return secretVerdict(unit.text, found);
    }
    for (const { target, source } of this.#plan.redirects) {
      const found = secretInWord(target.text, target.glob);
      if (found !== undefined) return secretVerdict(source, found);
    }
    return undefined;
  }

  #unit(unit: ShellUnit): Verdict | undefined {
    if (unit.blocked !== undefined) return unreadable(unit.text, unit.blocked);
    const place = openPlace(unit, this.#judgement.space);
    if (place !== undefined) return { ...ask(unit.text, place), obstacle: "protected" };
    if (this.#whole !== undefined) return this.#allowedBy(this.#whole, unit);
    if (unit.unseen !== undefined) return unreadable(unit.text, unit.unseen);
    const guards =
      unit.guards.length === 0 ? unit.guards : unit.guards.filter((guard) => !this.#isProgramAllowed(guard));
    const rule = this.#allow.find(unit.text, guards);
    if (rule !== undefined) return this.#allowedBy(rule, unit);
    if (this.#judgement.defaults) this.#looked += unit.words.length;
    if (this.#looked > MAX_LOOKED)
      return ask(unit.text, "the line names more than the built-in rules look up");
    const context = this.#context();
    const known = this.#judgement.defaults ? readOnlyRule(withoutPrograms(unit, guards), context) : undefined;
    if (known !== undefined) {
      this.#builtIn = true;
      this.#last = { known, unit };
      return undefined;
    }
    return this.#notAllowed(unit, guards);
  }

  #context(): ReadOnlyContext {
    const { space, edits } = this.#judgement;
    return { space, variables: this.#plan.variables, edits };
  }

  #allowedBy(rule: OriginRule, unit: ShellUnit): undefined {
    this.#last = { rule, unit };
  }

  #notAllowed(unit: ShellUnit, guards: readonly TextGuard[]): Verdict {
    const offer = suggestRules(unit, guards);
    const nearly = this.#allow.find(unit.text);
    const guard = guards[0];
    const inner = guard?.program?.find((each) => this.#unit(each) !== undefined);
    if (inner !== undefined && (nearly !== undefined || this.#judgement.defaults)) {
      const why = inner.blocked ?? inner.unseen ?? `it runs ${shown(inner.text)}, which no rule allows`;
      return { ...ask(unit.text, why), ...offer };
    }
    if (nearly === undefined || guard === undefined) {
      const why = guard === undefined ? "no rule allows it" : `no rule allows it, and ${guard.reason}`;
      return { ...ask(unit.text, why), ...offer };
    }
    return {
      ...ask(
        unit.text,
        `${guard.reason}, which the * of ${TOOL}(${shown(nearly.pattern ?? "")}) does not cover`,
      ),
      ...offer,
    };
  }

  #isProgramAllowed({ program }: TextGuard): boolean {
    return (
      program !== undefined &&
      program.length > 0 &&
      program.every((unit) => !unit.judged || this.#unit(unit) === undefined)
    );
  }

  /** Where the line, or a program that a command of it runs, may write although nothing may be written unasked. */
  #protected(units: readonly ShellUnit[]): Verdict | undefined {
    const redirect = this.#plan.redirects.find(({ target, writes }) => writes && isMachinery(target.text));
    if (redirect !== undefined)
      return { ...ask(redirect.source, redirectReason(redirect)), obstacle: "protected" };
    for (const unit of units) {
      if (!unit.judged) continue;
      const place = openPlace(unit, this.#judgement.space);
      if (place !== undefined) return { ...ask(unit.text, place), obstacle: "protected" };
      const verdict = this.#protected(unit.guards.flatMap(({ program }) => program ?? []));
      if (verdict !== undefined) return verdict;
    }
    return undefined;
  }

  /** Built-in rules are for the workspace: a file from elsewhere on standard input is outside of it. */
  #outsideInput(): Verdict | undefined {
    if (!this.#builtIn) return undefined;
    const { space } = this.#judgement;
    const outside = this.#plan.redirects.find(
      ({ target, writes }) =>
        !writes &&
        target.text !== "/dev/null" &&
        !(target.literal && space.isInside(space.path(target.text).resolved)),
    );
    return outside === undefined
      ? undefined
      : ask(outside.source, "the file it reads is not in the workspace");
  }
}

/** A command that was allowed, and by what. */
type Allowed = { readonly unit: ShellUnit } & ({ readonly rule: OriginRule } | { readonly known: string });

function allowedVerdict(allowed: Allowed): Verdict {
  const part = allowed.unit.text;
  if ("rule" in allowed) return byRule(allowed.rule, part);
  const { known } = allowed;
  const does = known.endsWith("(accepting edits)") ? "only changes" : "only looks at";
  const reason = `${shown(part)} ${does} files of the workspace (built-in rule: ${known}).`;
  return { decision: "allow", part, rule: `built-in: ${known}`, reason, by: "built-in" };
}

function ruleAgainst(rules: CommandRules, unit: ShellUnit): OriginRule | undefined {
  const own = rules.find(unit.text);
  if (own !== undefined) return own;
  for (const alias of unit.aliases) {
    const found = rules.find(alias);
    if (found !== undefined) return found;
  }
  if (unit.globName === undefined) return undefined;
  return rules.findByGlob(unit.globName, unit.text.slice(unit.words[0]?.text.length ?? 0));
}

/** The first rule against any of the commands, or against what their options run. */
function firstAgainst(rules: CommandRules, units: readonly ShellUnit[]): Verdict | undefined {
  for (const unit of units) {
    const rule = ruleAgainst(rules, unit);
    if (rule !== undefined) return byRule(rule, unit.text);
    for (const { program } of unit.guards) {
      const verdict = program === undefined ? undefined : firstAgainst(rules, program);
      if (verdict !== undefined) return verdict;
    }
  }
  return undefined;
}

/** A command without the words that run programs judged by themselves; `guards` are those that remain. */
function withoutPrograms(unit: ShellUnit, guards: readonly TextGuard[]): ShellUnit {
  if (guards.length === unit.guards.length) return unit;
  const left = new Set(guards);
  const gone = unit.guards
    .filter((guard) => !left.has(guard))
    .flatMap(({ words }) => (words === undefined ? [] : [words]));
  if (gone.length === 0) return { ...unit, guards };
  const isGone = new Uint8Array(unit.words.length);
  for (const [from, to] of gone) isGone.fill(1, from, to);
  const words = unit.words.filter((_, index) => isGone[index] === 0);
  return { ...unit, words, guards };
}

function ask(part: string, why: string): Verdict {
  return {
    decision: "ask",
    part: part.length > 2000 ? `${part.slice(0, 2000).toWellFormed()}…` : part,
    reason: `${shown(part)}: ${why}.`,
    by: "guard",
  };
}

/** A part that could be anything: no rule and no hook can answer for it. */
function unreadable(part: string, why: string): Verdict {
  return { ...ask(part, why), obstacle: "unreadable" };
}

function secretVerdict(part: string, pattern: string): Verdict {
  return {
    decision: "ask",
    part,
    rule: `built-in: ${pattern}`,
    reason: `${shown(part)} names a file that may hold keys (${pattern}).`,
    by: "built-in",
  };
}

/** Nothing is written, and nothing but a file is opened. */
function isHarmless({ target, writes }: ShellRedirect): boolean {
  if (target.literal && target.text === "/dev/null") return true;
  return (
    !writes &&
    !/^\/dev\/(?:tcp|udp)\b/.test(target.resolved) &&
    !target.text.includes("/dev/tcp") &&
    !target.text.includes("/dev/udp")
  );
}

function redirectReason({ target, writes }: ShellRedirect): string {
  if (!writes) return "it opens a network connection";
  return isMachinery(target.text)
    ? "it writes to the machinery of a repository or of nano-agent"
    : `the shell would write to ${shown(target.text)}`;
}

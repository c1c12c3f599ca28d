import { defined } from "../core/base/defined.ts";
import { clipped } from "../core/base/text.ts";
import { type CommandRules, firstAgainst } from "./command-rules.ts";
import { DANGER, dangerOf, type OpenPart, oneQuestion } from "./danger.ts";
import { hiddenCharacter } from "./hidden-characters.ts";
import { openPlace } from "./open-places.ts";
import { isMachinery, type PathSpace } from "./paths/path-space.ts";
import { isSameRepository } from "./paths/repository.ts";
import { isReadOnlyProgram, readOnlyRule, secretOf } from "./read-only.ts";
import { isHarmless, redirectReason } from "./redirect-targets.ts";
import type { OriginRule } from "./rule.ts";
import { type RepositoryPrograms, type RunByGit, runByGit, runsGitAgain } from "./run-by-git.ts";
import { secretInWord } from "./secret-files.ts";
import { planShell, type ShellPlan } from "./shell/plan-shell.ts";
import { printPlan } from "./shell/print-plan.ts";
import type { ShellRedirect, WorkFolders } from "./shell/shell-command.ts";
import { type ShellUnit, type TextGuard, withoutPrograms } from "./shell/shell-unit.ts";
import { pathFrom, START, targetOf } from "./shell/work-folders.ts";
import type { ShellRules } from "./shell-rules.ts";
import { suggestRules } from "./suggest-rules.ts";
import { BYPASSED, byRule, planDenial, secretVerdict, shown, type Verdict } from "./verdict.ts";

/** The facts a command line is judged by. */
export interface ShellJudgement {
  readonly rules: ShellRules;
  readonly space: PathSpace;
  /** True when the built-in rules take part. */
  readonly defaults: boolean;
  /** True in plan mode: what may change something is denied. */
  readonly onlyReads: boolean;
  /** True where edits inside the workspace are accepted. */
  readonly edits: boolean;
  /** A person trusts the tool as a whole: redirections and what cannot be read included. */
  readonly trusted: boolean;
  /** Whatever no rule speaks against is allowed. */
  readonly bypassed: boolean;
  /** Another shell than Bash reads the line. */
  readonly posix: boolean;
  readonly programs: RepositoryPrograms;
}

const TOOL = "bash";
const NAMES_KEYS = "names a file that may hold keys";

/** Judges a command line: every command in it, and every file the shell opens for it. */
export function judgeShell(line: string, judgement: ShellJudgement): Verdict {
  const { rules, defaults, posix } = judgement;
  const plan = planShell(line, { guesses: defaults || rules.refuses, posix });
  const judge = new ShellJudge(line, plan, judgement);
  const verdict = judge.denied() ?? judge.asked() ?? judge.allowed();
  if (!judgement.onlyReads || verdict.decision === "deny" || judge.onlyReads()) return verdict;
  const { part = line, parts } = verdict;
  const denied = planDenial(part);
  return parts === undefined ? denied : { ...denied, parts };
}

/** Words the built-in rules look at (on disk, if paths). A longer line asks unless user rules allow it. */
const MAX_LOOKED = 4000;

class ShellJudge {
  readonly #line: string;
  readonly #plan: ShellPlan;
  readonly #judgement: ShellJudgement;
  readonly #allow: CommandRules;
  readonly #whole: OriginRule | undefined;
  /** The workspace as the line starts in it. */
  readonly #start: readonly PathSpace[];
  /** The command that was allowed last. */
  #last: Allowance | undefined;
  #isMoved: boolean | undefined;
  #isSeries: boolean | undefined;
  #builtIn = false;
  #looked = 0;

  constructor(line: string, plan: ShellPlan, judgement: ShellJudgement) {
    this.#line = line;
    this.#plan = plan;
    this.#judgement = judgement;
    this.#start = [judgement.space];
    this.#allow = judgement.rules.allow;
    this.#whole = judgement.rules.wholeAllow;
  }

  /** The deny rule that fits any reading of the line. */
  denied(): Verdict | undefined {
    return this.#against("deny");
  }

  /** Why the line has to be asked about: every part that needs a yes. */
  asked(): Verdict | undefined {
    const rule = this.#against("ask");
    if (this.#judgement.bypassed) return rule;
    const open: OpenPart[] = [];
    const hidden = hiddenCharacter(this.#line);
    if (hidden !== undefined) {
      const why = `the command has a character in it that does not show (${hidden})`;
      open.push(unreadable(DANGER.hidden, this.#line, why));
    }
    if (rule !== undefined) open.push(ruled(DANGER.rule, rule));
    const secret = this.#judgement.defaults ? this.#secret() : undefined;
    if (secret !== undefined) open.push(ruled(DANGER.secret, secret));
    if (!this.#judgement.trusted) this.#openParts(open);
    return oneQuestion(open);
  }

  #openParts(open: OpenPart[]): void {
    const { obstacles, redirects, units, variables } = this.#plan;
    for (const { part, reason } of obstacles) open.push(unreadable(DANGER.unread, part, reason));
    for (const each of redirects) if (!isHarmless(each, variables)) open.push(this.#redirect(each));
    let judged = 0;
    for (const unit of units) {
      if (!unit.judged) continue;
      judged++;
      const why = this.#unit(unit);
      if (why === undefined) continue;
      const verdict = (): Verdict => this.#question(unit, why);
      open.push({ danger: dangerOf(unit), part: cut(unit.text), obstacle: why.obstacle, verdict });
    }
    if (judged === 0 && open.length === 0)
      open.push(unreadable(DANGER.input, this.#line, "there is no command in it"));
    const outside = this.#outsideInput();
    if (outside !== undefined)
      open.push(opened(DANGER.input, outside.source, "the file it reads is not in the workspace"));
  }

  /** Nothing is left to ask: the line runs in the form it was judged in, or as it is if all is trusted. */
  allowed(): Verdict {
    const { bypassed, trusted, rules } = this.#judgement;
    const isTrusted = bypassed || trusted || this.#whole !== undefined;
    const verdict = bypassed ? BYPASSED : this.#covered();
    if (isTrusted && !rules.refuses) return { ...verdict, runs: this.#line };
    const printed = printPlan(this.#plan, { plainDiffs: !isTrusted });
    if (printed.text !== undefined) return { ...verdict, runs: printed.text };
    const reason = `${shown(printed.part)}: ${printed.reason}, so the line cannot run in the form that was judged.`;
    return { ...ask(this.#line, ""), reason, parts: [this.#line], by: "form" };
  }

  #covered(): Verdict {
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
    let words = 0;
    for (const unit of this.#plan.units) words += unit.words.length;
    if (words > MAX_LOOKED) return false;
    if (this.#plan.redirects.some((each) => each.writes && !isHarmless(each, this.#plan.variables)))
      return false;
    const reads = (unit: ShellUnit): boolean => {
      const programs = unit.guards.flatMap(({ program }) => program ?? []);
      const guards = unit.guards.filter(({ program }) => program === undefined || program.length === 0);
      return !unit.judged || (programs.every(reads) && this.#onlyReads(withoutPrograms(unit, guards)));
    };
    return this.#plan.obstacles.length === 0 && this.#plan.units.every(reads);
  }

  #onlyReads(unit: ShellUnit): boolean {
    const places = this.#placesOf(unit);
    return typeof places !== "string" && this.#reads(unit, places) !== undefined;
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
      if (found !== undefined) return secretVerdict(unit.text, found, NAMES_KEYS);
    }
    for (const { target, source } of this.#plan.redirects) {
      const found = secretInWord(target.text, target.glob);
      if (found !== undefined) return secretVerdict(source, found, NAMES_KEYS);
    }
    return undefined;
  }

  /** Where the shell writes is known where its target is plain and the line changes no folder. */
  #redirect(redirect: ShellRedirect): OpenPart {
    const { source, target, writes } = redirect;
    const { space } = this.#judgement;
    const asks = opened(DANGER.write, source, redirectReason(redirect));
    if (isMachinery(target.text)) return { ...asks, obstacle: "protected" };
    if (!writes) return asks;
    this.#isMoved ??= this.#plan.units.some(({ folders }) => folders !== START);
    if (!target.literal || this.#isMoved) return { ...asks, obstacle: "unreadable" };
    return space.isMachinery(space.path(target.text)) ? { ...asks, obstacle: "protected" } : asks;
  }

  /** Why a command needs a yes; `undefined` when it is allowed. */
  #unit(unit: ShellUnit, isInner = false): AskReason | undefined {
    if (unit.blocked !== undefined) return { text: unit.blocked, obstacle: "unreadable" };
    const place = this.#openPlace(unit);
    if (place !== undefined) return { text: place, obstacle: "protected" };
    if (this.#whole !== undefined) {
      this.#last = { rule: this.#whole, unit };
      return undefined;
    }
    if (unit.unseen !== undefined) return { text: unit.unseen, obstacle: "unreadable" };
    const places = this.#placesOf(unit);
    return typeof places === "string" ? { text: places } : this.#byRules(unit, places, isInner);
  }

  /** The verdict of rules about a command that may run in these places. */
  #byRules(unit: ShellUnit, places: readonly PathSpace[], isInner: boolean): AskReason | undefined {
    const guards = unit.guards.length === 0 ? unit.guards : this.#guardsOf(unit);
    const rule = this.#allow.find(unit.text, guards);
    const any = rule && this.#runByGit(unit, places, isInner)?.any;
    if (rule !== undefined && any === undefined) {
      this.#last = { rule, unit };
      return undefined;
    }
    // What runs without a rule runs with one, too.
    const open = (): AskReason =>
      any === undefined ? this.#notAllowed(unit, guards) : { text: any, obstacle: "unreadable" };
    if (!this.#judgement.defaults) return open();
    this.#looked += unit.words.length;
    if (this.#looked > MAX_LOOKED) return { text: "the line names more than the built-in rules look up" };
    const known = this.#reads(withoutPrograms(unit, guards), places);
    if (known === undefined) return open();
    const looking = this.#runByGit(unit, places, isInner)?.looking;
    if (looking !== undefined) return { text: looking, obstacle: "unreadable" };
    this.#builtIn = true;
    this.#last = { known, unit };
    return undefined;
  }

  /** The guards that no rule about the programs behind them takes away. */
  #guardsOf({ guards }: ShellUnit): readonly TextGuard[] {
    return guards.every(({ program }) => program === undefined)
      ? guards
      : guards.filter((guard) => !this.#isProgramAllowed(guard));
  }

  #runByGit(unit: ShellUnit, places: readonly PathSpace[], isInner: boolean): RunByGit | undefined {
    if (!unit.name.endsWith("git")) return undefined;
    const { programs } = this.#judgement;
    this.#isSeries ??= runsGitAgain(this.#plan);
    return runByGit(unit, {
      places,
      programs,
      isInner: isInner || this.#plan.lines.length > 1,
      isSeries: isInner || this.#isSeries,
    });
  }

  /** The built-in rule that covers a command, wherever it may run. */
  #reads(unit: ShellUnit, places: readonly PathSpace[]): string | undefined {
    const target = unit.name === "cd" || unit.name === "pushd" ? targetOf(unit.words) : undefined;
    if (target !== undefined && unit.guards.length === 1)
      return places.every((space) => this.#isInside(target, space)) ? "cd (inside the workspace)" : undefined;
    const about = { variables: this.#plan.variables, edits: this.#judgement.edits };
    const found = places.map((space) => readOnlyRule(unit, { space, ...about }));
    if (found.includes(undefined)) return undefined;
    // Files that git finds in a folder can run programs: only the repository the line starts in is known.
    const { space: start } = this.#judgement;
    const isOwn = (space: PathSpace): boolean =>
      space === start || isSameRepository(space.place, start.place);
    return unit.name !== "git" || places.every(isOwn) ? found[0] : undefined;
  }

  #isInside(folder: string, space: PathSpace): boolean {
    return space.isUnambiguous(folder) && space.isInside(space.path(folder).resolved);
  }

  /** The workspace as a command sees it from wherever it may run, or why that cannot be told. */
  #placesOf({ folders }: ShellUnit): readonly PathSpace[] | string {
    return folders === START ? this.#start : this.#placesFrom(folders);
  }

  #placesFrom(folders: WorkFolders): readonly PathSpace[] | string {
    const { space } = this.#judgement;
    if (folders === undefined) return "nobody can tell which folder it runs in";
    const outside = folders.find((folder) => folder !== "" && !this.#isInside(folder, space));
    if (outside !== undefined) return `it runs in ${shown(outside)}, which is not a folder of the workspace`;
    return folders.map((folder) => (folder === "" ? space : space.from(folder)));
  }

  #notAllowed(unit: ShellUnit, guards: readonly TextGuard[]): AskReason {
    const inner = guards[0]?.program?.find((each) => this.#unit(each, true) !== undefined);
    if (inner === undefined || !(this.#judgement.defaults || this.#allow.find(unit.text) !== undefined))
      return { guards };
    const text = inner.blocked ?? inner.unseen ?? `it runs ${shown(inner.text)}, which no rule allows`;
    return { text, guards, obstacle: this.#unit(inner, true)?.obstacle };
  }

  /** The question to a person about a command that asks, and the rules to offer. */
  #question(unit: ShellUnit, { text, guards, obstacle }: AskReason): Verdict {
    return {
      ...ask(unit.text, text ?? this.#missing(unit, guards)),
      ...(guards && suggestRules(unit, guards)),
      ...defined({ obstacle }),
    };
  }

  /** Which rule a command lacks. */
  #missing({ text }: ShellUnit, [guard]: readonly TextGuard[] = []): string {
    if (guard === undefined) return "no rule allows it";
    const nearly = this.#allow.find(text);
    if (nearly === undefined) return `no rule allows it, and ${guard.reason}`;
    const rule = `${TOOL}(${shown(nearly.pattern ?? "")})`;
    return `${guard.reason}, which the * of ${rule} does not cover`;
  }

  #isProgramAllowed({ program }: TextGuard): boolean {
    return (
      program !== undefined &&
      program.length > 0 &&
      program.every((unit) => !unit.judged || this.#unit(unit, true) === undefined)
    );
  }

  /** Why a command asks whatever a pattern covers, because of a place it names or runs in. */
  #openPlace(unit: ShellUnit): string | undefined {
    const { space } = this.#judgement;
    for (const folder of unit.folders ?? START) {
      const isMachinery = folder !== "" && space.isMachinery(space.path(folder));
      if (isMachinery && !isReadOnlyProgram(unit.name))
        return `it runs in ${shown(folder)}, which is part of a repository's or nano-agent's own machinery`;
      const found = openPlace(unit, folder === "" ? space : space.from(folder));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Built-in rules are for the workspace: a file from elsewhere on standard input is outside of it. */
  #outsideInput(): ShellRedirect | undefined {
    if (!this.#builtIn) return undefined;
    const { space } = this.#judgement;
    const isInside = ({ target, folders }: ShellRedirect): boolean =>
      target.literal &&
      folders?.every((folder) => space.isInside(space.path(pathFrom(folder, target.text)).resolved)) === true;
    return this.#plan.redirects.find(
      (each) => !each.writes && each.target.text !== "/dev/null" && !isInside(each),
    );
  }
}

/** Why a command needs a yes. */
interface AskReason {
  /** Absent where it only lacks a rule: a sentence about that is made for the part that is shown. */
  readonly text?: string;
  readonly obstacle?: Verdict["obstacle"];
  /** The guards that remain, where a rule for it can be offered. */
  readonly guards?: readonly TextGuard[];
}

/** A command that was allowed, and by what. */
type Allowance = { readonly unit: ShellUnit } & ({ readonly rule: OriginRule } | { readonly known: string });

function allowedVerdict(allowed: Allowance): Verdict {
  const part = allowed.unit.text;
  if ("rule" in allowed) return byRule(allowed.rule, part);
  const { known } = allowed;
  const does = known.endsWith("(accepting edits)") ? "only changes" : "only looks at";
  const reason = `${shown(part)} ${does} files of the workspace (built-in rule: ${known}).`;
  return { decision: "allow", part, rule: `built-in: ${known}`, reason, by: "built-in" };
}

function ask(part: string, why: string): Verdict {
  return {
    decision: "ask",
    part: cut(part),
    reason: `${shown(part)}: ${why}.`,
    by: "guard",
  };
}

function opened(danger: number, part: string, why: string): OpenPart {
  return { danger, part: cut(part), verdict: () => ask(part, why) };
}

function cut(part: string): string {
  return clipped(part, 2000);
}

/** A part that could be anything. */
function unreadable(danger: number, part: string, why: string): OpenPart {
  return { ...opened(danger, part, why), obstacle: "unreadable" };
}

/** A part that a rule speaks of. */
function ruled(danger: number, verdict: Verdict): OpenPart {
  return { danger, part: verdict.part ?? "", obstacle: "protected", verdict: () => verdict };
}

import type { SchemaIssue } from "./schema.ts";

/** Issues reported of one value. More would not help a model to mend it. */
export const MAX_ISSUES = 10;

/**
 * One keyword, or one schema, compiled. Returns the value, or what it was repaired to, and tells the run when
 * it does not hold. A check never changes the value it is given.
 */
export type Check = (value: unknown, run: SchemaRun) => unknown;

/** By `type` and `choice` {@link import("./check-branches.ts").branchChecks} knows which branch was meant. */
export type IssueKind = "type" | "choice" | "other";

interface Found extends SchemaIssue {
  readonly kind: IssueKind;
}

/** The findings of a check about a value, to be remembered. */
interface Outcome {
  readonly value: unknown;
  readonly failures: number;
  readonly issues: readonly Found[];
}

/** Outcomes by check and value; `running` while the check is at work on the value. */
type Memory = Map<Check, Map<unknown, Outcome | "running">>;

/** Nesting of references in one value. Deeper values are refused before the stack overflows. */
const MAX_REFERENCES = 500;

/**
 * The state of one pass over a value. A quiet run only counts failures and stops early; a loud one collects
 * issues and may repair. What a `$ref` found out is remembered by target and value, for quiet and loud runs
 * apart, so that the time is bounded by the size of the schema times the size of the value however often its
 * branches meet the same part again.
 */
export class SchemaRun {
  readonly quiet: boolean;
  readonly repairs: boolean;
  readonly issues: Found[] = [];
  failures = 0;
  #memory: Memory | undefined;
  #depth = 0;
  #quietTwin: SchemaRun | undefined;

  constructor(mode: "quiet" | "loud" | "repair") {
    this.quiet = mode === "quiet";
    this.repairs = mode === "repair";
  }

  /** True when looking can stop: quiet runs end at the first failure, loud ones with enough issues. */
  get over(): boolean {
    return this.failures > 0 && (this.quiet || this.issues.length >= MAX_ISSUES);
  }

  /** Reports that the value at hand does not hold. `message` is only made when somebody will read it. */
  fail(message: () => string, kind: IssueKind = "other"): void {
    this.failures += 1;
    if (!this.quiet && this.issues.length < MAX_ISSUES)
      this.issues.push({ path: "", message: message(), kind });
  }

  /** Runs a check on a part of the value, so that its issues carry the part's place. */
  within(key: string | number, check: Check, value: unknown): unknown {
    const before = this.issues.length;
    const result = check(value, this);
    for (let at = before; at < this.issues.length; at += 1) {
      const issue = this.issues[at];
      if (issue !== undefined) this.issues[at] = { ...issue, path: joinPath(key, issue.path) };
    }
    return result;
  }

  /** True when the value holds as it is, without any report. */
  holds(check: Check, value: unknown): boolean {
    if (this.quiet) return this.attempt(check, value).failures === 0;
    this.#quietTwin ??= new SchemaRun("quiet");
    return this.#quietTwin.attempt(check, value).failures === 0;
  }

  /** Runs a check aside: what it finds is returned, not reported. */
  attempt(check: Check, value: unknown): Outcome {
    const failures = this.failures;
    const issues = this.issues.splice(0);
    this.failures = 0;
    const result = check(value, this);
    const outcome = { value: result, failures: this.failures, issues: this.issues.splice(0) };
    this.failures = failures;
    this.issues.push(...issues);
    return outcome;
  }

  /** Reports what an {@link attempt} found. */
  report(outcome: Outcome): void {
    this.failures += outcome.failures;
    for (const issue of outcome.issues) if (this.issues.length < MAX_ISSUES) this.issues.push(issue);
  }

  /**
   * Runs the check a `$ref` points to, once for each value. Meeting the same pair while it is at work means
   * the schema refers to itself without going deeper, which says nothing about the value.
   */
  follow(target: Check, value: unknown): unknown {
    this.#memory ??= new Map();
    let byValue = this.#memory.get(target);
    if (byValue === undefined) {
      byValue = new Map();
      this.#memory.set(target, byValue);
    }
    const known = byValue.get(value);
    if (known === "running") return value;
    if (known !== undefined) {
      this.report(known);
      return known.value;
    }
    if (this.#depth >= MAX_REFERENCES) {
      this.fail(() => `nested deeper than ${MAX_REFERENCES} levels`);
      return value;
    }
    byValue.set(value, "running");
    this.#depth += 1;
    const outcome = this.attempt(target, value);
    this.#depth -= 1;
    byValue.set(value, outcome);
    this.report(outcome);
    return outcome.value;
  }
}

/** The kind of a value, in JSON Schema's words. */
export function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function joinPath(key: string | number, rest: string): string {
  const separator = rest === "" || rest.startsWith("[") ? "" : ".";
  if (typeof key === "number") return `[${key}]${separator}${rest}`;
  return `${/^[\w$-]+$/.test(key) ? key : `[${JSON.stringify(key)}]`}${separator}${rest}`;
}

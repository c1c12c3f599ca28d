import { equalJson } from "./json.ts";
import { type SchemaNode, schemaKeyword, schemasKeyword } from "./schema-keywords.ts";
import { type Check, type SchemaRun, typeName } from "./schema-run.ts";

/** The checks for `allOf`, `anyOf`, `oneOf`, `not` and `if`. */
export function branchChecks(node: SchemaNode): readonly Check[] {
  const checks: Check[] = [...(schemasKeyword(node, "allOf") ?? [])];
  const anyOf = schemasKeyword(node, "anyOf");
  if (anyOf !== undefined) checks.push(anyOfCheck(anyOf));
  const oneOf = schemasKeyword(node, "oneOf");
  if (oneOf !== undefined) checks.push(oneOfCheck(oneOf));
  const not = schemaKeyword(node, "not");
  if (not !== undefined) {
    checks.push((value, run) => {
      if (run.holds(not, value)) run.fail(() => "has a form that is not allowed here");
      return value;
    });
  }
  return [...checks, ...conditionChecks(node)];
}

function anyOfCheck(branches: readonly Check[]): Check {
  return (value, run) => {
    for (const branch of branches) if (run.holds(branch, value)) return value;
    return noneHolds(branches, value, run);
  };
}

function oneOfCheck(branches: readonly Check[]): Check {
  return (value, run) => {
    const holding = branches.filter((branch) => run.holds(branch, value)).length;
    if (holding === 1) return value;
    if (holding === 0) return noneHolds(branches, value, run);
    run.fail(() => `fits ${holding} of the alternatives; it must fit exactly one`);
    return value;
  };
}

function conditionChecks(node: SchemaNode): readonly Check[] {
  const condition = schemaKeyword(node, "if");
  const whenTrue = schemaKeyword(node, "then");
  const whenFalse = schemaKeyword(node, "else");
  if (condition === undefined) return [];
  return [
    (value, run) => {
      const branch = run.holds(condition, value) ? whenTrue : whenFalse;
      return branch === undefined ? value : branch(value, run);
    },
  ];
}

/** No branch takes the value as it is: repaired if there is one way only, else what is wrong is said. */
function noneHolds(branches: readonly Check[], value: unknown, run: SchemaRun): unknown {
  if (run.quiet) {
    run.fail(() => "");
    return value;
  }
  const outcomes = branches.map((branch) => run.attempt(branch, value));
  const repaired = outcomes.filter((outcome) => outcome.failures === 0);
  const first = repaired[0];
  if (first !== undefined && repaired.every((other) => equalJson(other.value, first.value)))
    return first.value;
  const meant = outcomes.filter((outcome) => outcome.failures > 0 && !outcome.issues.some(saysOtherForm));
  const closest = meant.toSorted((a, b) => a.failures - b.failures)[0];
  if (closest !== undefined) {
    run.report(closest);
    return value;
  }
  const expected = new Set(
    outcomes.flatMap((outcome) => outcome.issues.slice(0, 1).map((issue) => expectation(issue))),
  );
  run.fail(
    () =>
      `fits none of the alternatives: ${[...expected].slice(0, 8).join("; ") || `got ${typeName(value)}`}`,
  );
  return value;
}

/** True when an issue means another branch: a wrong type, or the wrong mark of a tagged form. */
function saysOtherForm(issue: { readonly path: string; readonly kind: string }): boolean {
  return issue.path === "" ? issue.kind !== "other" : issue.kind === "choice" && !/[.[]/.test(issue.path);
}

function expectation(issue: { readonly path: string; readonly message: string }): string {
  return issue.path === "" ? issue.message : `${issue.path}: ${issue.message}`;
}

import { tooFew, tooMany } from "./check-scalar.ts";
import { canonicalJson } from "./json.ts";
import { numberKeyword, type SchemaNode, schemaKeyword, schemasKeyword } from "./schema-keywords.ts";
import { type Check, type SchemaRun } from "./schema-run.ts";

/** Checks for arrays, in the words of draft 2020-12 (`prefixItems`, `items`) and 7 (`additionalItems`). */
export function arrayChecks(node: SchemaNode): readonly Check[] {
  const checks: Check[] = [];
  const isTuple = Array.isArray(node.schema["items"]);
  const first = schemasKeyword(node, isTuple ? "items" : "prefixItems") ?? [];
  const rest = schemaKeyword(node, isTuple ? "additionalItems" : "items");
  if (first.length > 0 || rest !== undefined) {
    checks.push((value, run) =>
      Array.isArray(value) ? checkItems(value, (at) => first[at] ?? rest, run) : value,
    );
  }
  return [...checks, ...countChecks(node), ...containsChecks(node)];
}

function checkItems(
  items: readonly unknown[],
  checkOf: (at: number) => Check | undefined,
  run: SchemaRun,
): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let at = 0; at < items.length && !run.over; at += 1) {
    const check = checkOf(at);
    if (check === undefined) break;
    const checked = run.within(at, check, items[at]);
    if (checked !== items[at]) {
      copy ??= [...items];
      copy[at] = checked;
    }
  }
  return copy ?? items;
}

function countChecks(node: SchemaNode): readonly Check[] {
  const min = numberKeyword(node, "minItems") ?? 0;
  const max = numberKeyword(node, "maxItems") ?? Number.POSITIVE_INFINITY;
  const unique = node.schema["uniqueItems"] === true;
  if (min === 0 && max === Number.POSITIVE_INFINITY && !unique) return [];
  return [
    (value, run) => {
      if (!Array.isArray(value)) return value;
      const count = value.length;
      if (count < min) run.fail(() => tooFew("item", min, count));
      if (count > max) run.fail(() => tooMany("item", max, count));
      if (unique && new Set(value.map(canonicalJson)).size < count)
        run.fail(() => "must not hold the same item twice");
      return value;
    },
  ];
}

function containsChecks(node: SchemaNode): readonly Check[] {
  const wanted = schemaKeyword(node, "contains");
  if (wanted === undefined) return [];
  const min = numberKeyword(node, "minContains") ?? 1;
  const max = numberKeyword(node, "maxContains") ?? Number.POSITIVE_INFINITY;
  return [
    (value, run) => {
      if (!Array.isArray(value)) return value;
      const found = value.filter((item) => run.holds(wanted, item)).length;
      if (found < min) run.fail(() => tooFew("item of the wanted form", min, found));
      if (found > max) run.fail(() => tooMany("item of the wanted form", max, found));
      return value;
    },
  ];
}

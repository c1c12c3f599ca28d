import { isRecord, safeParse } from "../core/base/json.ts";

const CHINESE_NUMBER = "[一二三四五六七八九十百]+";
/** `1.`, `2)`, `3、`, `(4)`, `**5.**`, `Step 6:`, `步骤 7：`, `第八步：`, `⑨`. */
const NUMBERED = new RegExp(
  `^(?:#+ +)?(?:\\*\\*)?(?:[(（]?\\d{1,4}(?:[.)、）](?!\\d)|[:：])|(?:step|步骤) {0,2}(?:\\d{1,4}|${CHINESE_NUMBER}) {0,2}[:：.、]|第 {0,2}(?:\\d{1,4}|${CHINESE_NUMBER}) {0,2}步 {0,2}[:：.、,，]?|${CHINESE_NUMBER}、|[①-⑳])(?:\\*\\*)?\\s*`,
  "i",
);
const BULLET = /^[-*+•]\s+/;
/** Longest text that is looked at, in characters. */
const MAX_TEXT = 100_000;

/**
 * The steps of a plan that a model wrote as text: a JSON array of strings, or an object with such an array as
 * `steps`; else a numbered list; else a list with bullets; else an array of strings with words around it.
 * Lines below an item that are indented or bullets of their own belong to it; text around the list is left
 * out. Empty when there is no list.
 */
export function parsePlan(text: string): readonly string[] {
  const bounded = text.slice(0, MAX_TEXT);
  const json = stepsFromJson(bounded);
  if (json !== undefined) return json;
  const lines = bounded.split(/\r\n|[\n\r\u2028\u2029]/);
  const numbered = listItems(lines, NUMBERED);
  if (numbered.length > 0) return numbered;
  const bullets = listItems(lines, BULLET);
  return bullets.length > 0 ? bullets : stepsFromArray(bounded);
}

function stepsFromJson(text: string): readonly string[] | undefined {
  const fenced = /```[a-z]*\s([\s\S]*?)```/i.exec(text)?.[1] ?? text;
  const parsed = safeParse(fenced);
  if (!parsed.ok) return undefined;
  const steps = isRecord(parsed.value) ? parsed.value["steps"] : parsed.value;
  return Array.isArray(steps) ? cleanSteps(steps) : undefined;
}

/** The steps of an array of texts with words around it. */
function stepsFromArray(text: string): readonly string[] {
  const from = text.search(/\[\s*"/);
  return from < 0 ? [] : (stepsFromJson(text.slice(from, text.lastIndexOf("]") + 1)) ?? []);
}

/** The texts among `steps`, trimmed; empty ones are left out. */
export function cleanSteps(steps: readonly unknown[]): readonly string[] {
  return steps.flatMap((step) => (typeof step === "string" && step.trim() !== "" ? [step.trim()] : []));
}

function listItems(lines: readonly string[], marker: RegExp): readonly string[] {
  const items: string[] = [];
  /** True when the next line may belong to the last item: after a blank line only an indented one does. */
  let open = false;
  for (const line of lines) {
    const isIndented = /^\s/.test(line);
    const text = line.trim();
    const match = isIndented && items.length > 0 ? null : marker.exec(text);
    if (match !== null) {
      items.push(text.slice(match[0].length));
      open = true;
    } else if (text === "") {
      open = false;
    } else if (items.length > 0 && (isIndented || (open && BULLET.test(text)))) {
      items.push(`${items.pop() ?? ""}\n${text}`);
    }
  }
  return cleanSteps(items);
}

import { isRecord, safeParse } from "../base/json.ts";

/**
 * The tool that an answer calls in its text, in the markup of its model: Hermes, Qwen, GLM, Mistral, Kimi,
 * DeepSeek, Llama and the like. `undefined` for everything else, including prose and code that merely show
 * such markup. `tools`: the names a call may have.
 */
export function toolCalledInText(text: string, tools: readonly string[]): string | undefined {
  const answer = text.trim();
  return callInJson(answer, tools) ?? callInMarkup(answer, tools);
}

/** How calls begin, at the start of a line or sentence. */
const OPENING: RegExp = new RegExp(
  [
    // Hermes, Qwen, GLM · Qwen Coder and Llama · MiniMax and models that write as Claude once did.
    "<tool_call>",
    "<function=",
    "<(?:\\w+:)?(?:function_calls|tool_calls?|invoke)\\b[^>\\n]*>",
    // Kimi, Granite, Phi, Llama, gpt-oss.
    "<\\|tool_calls?(?:_section)?(?:_begin)?\\|>",
    "<\\|python_tag\\|>",
    "<\\|channel\\|>commentary to=",
    // DeepSeek.
    "<｜[^｜]*tool▁calls?▁begin｜>",
    "<｜DSML｜(?:function_calls|tool_calls|invoke)",
    // Mistral.
    "\\[TOOL_CALLS\\]",
  ].join("|"),
  "g",
);

/** Maximum characters between the opening of a call and its tool's name. */
const MAX_BEFORE_NAME = 160;

function callInMarkup(answer: string, tools: readonly string[]): string | undefined {
  // Prose after it, or a code fence around it, means that it is only shown.
  if (!/(?:<\/[^<>\n]+>|[|｜]>|\}\s*\]?)$/.test(answer)) return undefined;
  for (const { index, 0: opening } of answer.matchAll(OPENING)) {
    if (!beginsSentence(answer.slice(0, index))) continue;
    const start = answer.slice(index, index + opening.length + MAX_BEFORE_NAME);
    const words: readonly string[] = start.match(/[\w-]+/g) ?? [];
    const name = tools.find((tool) => words.includes(tool));
    if (name !== undefined) return name;
  }
  return undefined;
}

/** True outside of code, right after the end of a line, a sentence or a token of the format. */
function beginsSentence(before: string): boolean {
  const isFenced = before.split("```").length % 2 === 0;
  return !isFenced && /(?:^|\n|[.!?…。！？>\])])[ \t]*$/.test(before);
}

/** An answer that consists of a call or a list of calls, in the JSON of Llama and others. */
function callInJson(answer: string, tools: readonly string[]): string | undefined {
  if (!/^[{[]/.test(answer)) return undefined;
  const parsed = safeParse(answer);
  if (!parsed.ok) return undefined;
  const [call] = Array.isArray(parsed.value) ? parsed.value : [parsed.value];
  if (!isRecord(call)) return undefined;
  const inner = isRecord(call["function"]) ? call["function"] : call;
  const { name, arguments: args = inner["parameters"] } = inner;
  const isCall = Object.keys(call).every((key) => CALL_KEYS.has(key)) && args !== undefined;
  return isCall && typeof name === "string" && tools.includes(name) ? name : undefined;
}

const CALL_KEYS: ReadonlySet<string> = new Set(["type", "id", "name", "function", "arguments", "parameters"]);

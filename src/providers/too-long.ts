/** True for a refusal as too long in words or a code that vendors are known for, whatever was sent. */
export function saysTooLong(
  { code, type, message }: { readonly code?: string; readonly type?: string; readonly message?: string },
  status: number | undefined,
): boolean {
  if (status === 413) return true;
  if (OVERFLOW_CODES.test(`${code ?? ""} ${type ?? ""}`)) return true;
  if (status !== undefined && status >= 300 && status !== 400 && status !== 422 && status !== 500)
    return false;
  return OVERFLOW_WORDS.test(message ?? "");
}

/** Codes and types. `1261` is Zhipu's, `2013` in its words MiniMax's. */
const OVERFLOW_CODES =
  /context_length_exceeded|context_window_exceeded|request_too_large|exceed_context_size|model_context_window|model_max_prompt_tokens_exceeded|^1261\b/;

/** Words of vendors that give no number, or no code; others are known by {@link namesLimitNear}. */
const OVERFLOW_WORDS: RegExp = new RegExp(
  [
    "prompt is too long",
    "input is too long",
    "maximum context length",
    "context[ _](?:length|window|size)[^.]{0,60}exceed",
    "exceed[^.]{0,60}(?:context[ _](?:length|window|size|limit)|maximum number of (?:input )?tokens|maximum prompt length)",
    "too many (?:input )?tokens",
    "input token count[^.]{0,60}exceeds",
    "input length[^.]{0,80}exceed",
    "reduce the length of the (?:messages|prompt)",
    "prompt exceeds max length",
    "exceed max message tokens",
  ].join("|"),
  "i",
);

/**
 * True for words that name a limit for input and a number that goes with the size of what was sent.
 * `inputTokens` is an estimate.
 */
export function namesLimitNear(message: string, inputTokens: () => number): boolean {
  if (!namesInputLimit(message)) return false;
  const tokens = inputTokens();
  return numbersIn(message.replace(STATUS, "")).some((number) => isNearSize(number, tokens));
}

/**
 * The number of tokens that a refusal as too long names as the most a request may have; `undefined` when it
 * names none that a request of this size could have exceeded.
 */
export function limitIn(message: string, inputTokens: number): number | undefined {
  for (const pattern of LIMITS) {
    for (const [, digits = ""] of message.matchAll(pattern)) {
      const number = toNumber(digits);
      if (isNearSize(number, inputTokens)) return number;
    }
  }
  return undefined;
}

/** The length, tokens or context of what was sent. Tools and their texts have limits of their own. */
function namesInputLimit(text: string): boolean {
  return (
    /\b(?:length|tokens?|context)\b/i.test(text) &&
    /\b(?:inputs?|prompts?|messages?|context|requests?|sequence|conversation|model)\b/i.test(text) &&
    /exceed|limit|max(?:imum|_)|\bmax\b|longer|larger|greater|too (?:long|large|many)|(?:must|should) be|\bonly\b|<=/i.test(
      text,
    ) &&
    !/\btools?\[|\bfunction\.|\bschema\b/i.test(text) &&
    !isAboutOutput(text)
  );
}

/** A limit of the answer: its field is named, and nothing that was sent. */
function isAboutOutput(text: string): boolean {
  return (
    /max_(?:completion_|output_|new_)?tokens|maxOutputTokens|\b(?:completion|output) tokens/i.test(text) &&
    !/\b(?:inputs?|prompt|messages|context)\b/i.test(text)
  );
}

/** Where a message of ours says the status. */
const STATUS = /\bHTTP \d+/;

const NUMBER = String.raw`(\d[\d,_]*\d)`;

/** Where a sentence names its limit, the surest first. */
const LIMITS: readonly RegExp[] = [
  `>\\s*${NUMBER}`,
  `[[(]\\s*\\d+\\s*,\\s*${NUMBER}\\s*[\\])]`,
  `<=\\s*${NUMBER}`,
  `(?:limit|maximum|\\bmax\\b|at most|up to|\\bonly|context (?:length|window|size))[^\\d.]{0,60}${NUMBER}`,
].map((source) => new RegExp(source, "gi"));

function numbersIn(text: string): readonly number[] {
  return [...text.matchAll(new RegExp(NUMBER, "g"))].map(([, digits = ""]) => toNumber(digits));
}

function toNumber(digits: string): number {
  return Number(digits.replaceAll(/[,_]/g, ""));
}

/** Estimates are high, and a window that was exceeded may be a small part of what was sent. */
function isNearSize(number: number, inputTokens: number): boolean {
  return number >= inputTokens / 20 && number <= inputTokens * 1.5;
}

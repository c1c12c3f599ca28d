import { NanoAgentError } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import type { AgentOptions, RunOptions } from "./options.ts";

/** What a value must be, in words for its error. */
interface Shape {
  readonly words: string;
  readonly fits: (value: unknown) => boolean;
}

/** Throws `invalid_argument`, naming option and value, for values of an agent's options that cannot work. */
export function assertValues(options: AgentOptions): void {
  assertShapes(options, AGENT_SHAPES);
  if (options.budget !== undefined) assertKnown(options.budget, BUDGET_NAMES, "of budget");
  if (typeof options.loopGuard === "object") assertKnown(options.loopGuard, LOOP_GUARD_NAMES, "of loopGuard");
}

/** The same for the options of one run. */
export function assertRunValues(options: RunOptions): void {
  assertKnown(options, Object.keys(RUN_NAMES), "of the run");
  assertShapes(options, RUN_SHAPES);
}

function assertShapes(options: object, shapes: { readonly [name: string]: Shape }): void {
  for (const [name, value] of Object.entries(options)) {
    const shape = Object.hasOwn(shapes, name) ? shapes[name] : undefined;
    if (value === undefined || shape === undefined || shape.fits(value)) continue;
    throw new NanoAgentError("invalid_argument", `${name} is ${shown(value)}; it must be ${shape.words}.`);
  }
}

/** A limit with a typing error in its name would be none. */
function assertKnown(options: object, names: readonly string[], where: string): void {
  const unknown = Object.entries(options).find(
    ([name, value]) => value !== undefined && !names.includes(name),
  );
  if (unknown === undefined) return;
  throw new NanoAgentError(
    "invalid_argument",
    `Unknown option "${unknown[0]}" ${where}. Known: ${names.join(", ")}.`,
  );
}

function shown(value: unknown): string {
  if (typeof value === "number" || typeof value === "function")
    return typeof value === "number" ? String(value) : "a function";
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= 100 ? text : `${text.slice(0, 100).toWellFormed()}…`;
}

const isFunction = (value: unknown): boolean => typeof value === "function";
const oneOf = (...words: readonly string[]): Shape => ({
  words: words.map((word) => `"${word}"`).join(", "),
  fits: (value) => words.some((word) => word === value),
});
const numberFrom = (least: number): Shape => ({
  words: `a number from ${least}`,
  fits: (value) => typeof value === "number" && value >= least,
});
const wholeFrom = (least: number): Shape => ({
  words: `a whole number from ${least}, or Infinity`,
  fits: (value) =>
    value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && (value as number) >= least),
});
/** An object of the caller's with these methods: a port. */
const port = (...methods: readonly string[]): Shape => ({
  words: `an object with ${methods.map((method) => `${method}()`).join(" and ")}`,
  fits: (value) =>
    typeof value === "object" &&
    value !== null &&
    methods.every((method) => isFunction(Reflect.get(value, method))),
});

const TEXT: Shape = { words: "a text", fits: (value) => typeof value === "string" };
const TEXTS: Shape = {
  words: "a list of texts",
  fits: (value) => Array.isArray(value) && value.every((each) => typeof each === "string"),
};
const LIST: Shape = {
  words: "a list of objects",
  fits: (value) => Array.isArray(value) && value.every(isRecord),
};
const RECORD: Shape = { words: "an object", fits: isRecord };
const FUNCTION: Shape = { words: "a function", fits: isFunction };
const ON_ASK: Shape = oneOf("deny", "pause");

const AGENT_SHAPES: { readonly [name in keyof AgentOptions]?: Shape } = {
  tools: LIST,
  systemPrompt: TEXT,
  onMaxIterations: {
    words: '"summarize", "last", "throw" or a function',
    fits: (value) => isFunction(value) || oneOf("summarize", "last", "throw").fits(value),
  },
  budget: RECORD,
  loopGuard: { words: "an object, or false", fits: (value) => value === false || isRecord(value) },
  permission: port("check"),
  checkpointer: port("before", "after"),
  approve: FUNCTION,
  onAsk: ON_ASK,
  memory: oneOf("full", "final-only"),
  parallelToolCalls: { words: "true or false", fits: (value) => typeof value === "boolean" },
  maxParallelToolCalls: wholeFrom(1),
  toolTimeoutMs: numberFrom(0),
  maxToolResultChars: numberFrom(1),
  cwd: TEXT,
  redact: port("text", "stream"),
  journal: port("entries", "append"),
  messages: LIST,
  sessionId: {
    words: "a text that is not empty",
    fits: (value) => typeof value === "string" && value !== "",
  },
  maxOutputTokens: wholeFrom(1),
  temperature: numberFrom(0),
  topP: numberFrom(0),
  stopSequences: TEXTS,
  effort: oneOf("none", "minimal", "low", "medium", "high", "xhigh"),
  providerOptions: RECORD,
};

const RUN_SHAPES: { readonly [name in keyof RunOptions]?: Shape } = {
  signal: {
    words: "an AbortSignal",
    fits: (value) => port("addEventListener", "removeEventListener").fits(value),
  },
  approve: FUNCTION,
  onAsk: ON_ASK,
  approvals: RECORD,
  onEvent: FUNCTION,
  onToken: FUNCTION,
};

const RUN_NAMES: { readonly [K in keyof Required<RunOptions>]: true } = {
  signal: true,
  schema: true,
  toolChoice: true,
  approve: true,
  onAsk: true,
  approvals: true,
  maxIterations: true,
  onEvent: true,
  onToken: true,
};
const BUDGET_NAMES: readonly string[] = ["usd", "tokens", "wallTimeMs"];
const LOOP_GUARD_NAMES: readonly string[] = ["warnAt", "stopAt", "window"];

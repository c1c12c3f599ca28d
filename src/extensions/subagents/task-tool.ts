import { assertInteger } from "../../core/base/check-options.ts";
import { invalidArgument } from "../../core/base/errors.ts";
import { omitUndefined } from "../../core/base/json.ts";
import { closestMatch, didYouMean, pluralize, truncateMiddle } from "../../core/base/text.ts";
import type { Effort, Model } from "../../core/model/model.ts";
import {
  defineTool,
  type SubagentOutcome,
  type SubagentTask,
  type Tool,
  type ToolContext,
  type ToolResult,
} from "../../core/tool/tool.ts";
import { errorResult } from "../../core/tool/tool-output.ts";
import { itemList } from "../markdown/fields.ts";
import type { Origin } from "../markdown/origin.ts";

/** An agent for a kind of task, as data: it runs when the `task` tool is called with its name. */
export interface Subagent {
  /** Letters, digits, `-` and `_`. */
  readonly name: string;
  /** Tells the choosing model when to use it. */
  readonly description: string;
  readonly systemPrompt: string;
  /**
   * Its tools: names of the run's tools (`mcp__server__*` for all of a server), or tool objects. Names the
   * run does not have are ignored. Default: all tools of the run.
   */
  readonly tools?: readonly (string | Tool)[];
  /** Names of tools it does not get. */
  readonly disallowedTools?: readonly string[];
  /** True restricts it to read-only tools, and lets it run alongside others. Default false. */
  readonly readOnly?: boolean;
  /** A model, or its name. Default: the run's model. */
  readonly model?: Model | string;
  /** Default: the run's effort. */
  readonly effort?: Effort;
  /** Maximum number of model requests, at least 1. Default 20. */
  readonly maxIterations?: number;
}

/** A subagent and its origin. */
export interface LoadedSubagent extends Subagent {
  readonly origin: Origin;
  /** Its file; absent for a built-in one. */
  readonly path?: string;
  /** True if the user trusts what it may do; absent if it is the user's own, or only reads. */
  readonly trusted?: boolean;
}

const READ_TOOLS = ["read", "glob", "grep"] as const;

/** The subagents that always exist, unless others of the same name replace them. */
export const BUILT_IN_SUBAGENTS: readonly LoadedSubagent[] = [
  {
    name: "explore",
    description: "finds things; reads only",
    systemPrompt:
      "You search a code base. Start broad with glob and grep, then read what matters, several files at once. Report what was asked for with the places where it stands, and say what you looked for in vain.",
    tools: READ_TOOLS,
    readOnly: true,
    maxIterations: 10,
    origin: "builtin",
  },
  {
    name: "plan",
    description: "plans a change; reads only",
    systemPrompt:
      "You plan changes to a code base and change nothing. Read what the task touches first. Report a numbered plan: each step with the files and functions it changes, how to check it, and what is risky or open.",
    tools: READ_TOOLS,
    readOnly: true,
    maxIterations: 15,
    origin: "builtin",
  },
  {
    name: "code",
    description: "makes and checks a change",
    systemPrompt:
      "You change code. Look before you edit, follow the style you find, change the least that does the job, and run the project's own checks. Report what you changed, file by file, and what the checks said; never claim one you did not run.",
    tools: ["read", "write", "edit", "glob", "grep", "bash", "batch", "job"],
    maxIterations: 20,
    origin: "builtin",
  },
  {
    name: "general",
    description: "anything else",
    systemPrompt:
      "You carry out a task with your tools. Look before you act, check what you did, and report the result, what you changed, and what is left open.",
    maxIterations: 15,
    origin: "builtin",
  },
];

const DEFAULT_MAX_ITERATIONS = 20;
const DEFAULT_MAX_DEPTH = 2;
const DEFAULT_REPORT_CHARS = 16_000;
const MAX_LIST_CHARS = 4_000;
/** Longer than a subagent's tool takes to end after an abort, so that the task can still report. */
const ABORT_GRACE_MS = 20_000;

const REPORT_RULE =
  "You work for another agent. It sees nothing but your last message: put into it what was asked for, complete and short, and name files as path:line.";

/** Options of {@link createTaskTool}. */
export interface TaskToolOptions {
  /** Default: {@link BUILT_IN_SUBAGENTS}. */
  readonly agents?: readonly Subagent[];
  /** Finds the model that a subagent names. Default: a subagent that names one cannot run. */
  readonly models?: (name: string) => Model | Promise<Model>;
  /** Maximum nesting depth; 1: a subagent cannot start others. Default 2. */
  readonly maxDepth?: number;
  /** Characters of a report that reach the agent; a longer one loses its middle. Default 16,000. */
  readonly maxReportChars?: number;
  /** Added to a subagent's prompt, e.g. its working directory. */
  readonly surroundings?: (agent: Subagent) => string;
}

/** Arguments of `task`. */
export interface TaskInput {
  readonly agent: string;
  readonly prompt: string;
}

/**
 * The `task` tool: delegates work to a subagent and returns its report. Read-only subagents run at the same
 * time, also alongside other reading calls; one that may change something runs alone, because what it will
 * touch is not known beforehand. Permission, budget, journal and abort are the run's. Throws
 * `invalid_argument` for no subagents, duplicate names or an invalid limit.
 */
export function createTaskTool(options: TaskToolOptions = {}): Tool {
  const agents = indexByName(options.agents ?? BUILT_IN_SUBAGENTS);
  assertInteger("maxDepth", options.maxDepth ?? DEFAULT_MAX_DEPTH, 1);
  assertInteger("maxReportChars", options.maxReportChars ?? DEFAULT_REPORT_CHARS, 1);
  return defineTool({
    name: "task",
    description: `Has a subagent do a part of the work and report. It sees only the prompt: say what to do, what you know, what to report.\n${itemList([...agents.values()], "task", "agent", MAX_LIST_CHARS)}`,
    parameters: {
      type: "object",
      properties: { agent: { type: "string" }, prompt: { type: "string" } },
      required: ["agent", "prompt"],
    },
    // Its requests and calls have their own time limits, and the run's budget applies.
    timeoutMs: 0,
    // Changes are attributed to its own calls.
    changesFiles: false,
    abortGraceMs: ABORT_GRACE_MS,
    access: ({ agent }: TaskInput) => {
      const subagent = agents.get(agent);
      if (subagent === undefined) return "none";
      return subagent.readOnly === true ? "read_all" : "exclusive";
    },
    execute: ({ agent, prompt }: TaskInput, context) => {
      const subagent = agents.get(agent);
      if (subagent === undefined) return unknownAgentResult(agent, agents);
      if (prompt.trim() === "") return errorResult("prompt is empty: say what the subagent is to do.");
      return runTask({ agent: subagent, prompt }, context, options);
    },
  });
}

function indexByName(agents: readonly Subagent[]): ReadonlyMap<string, Subagent> {
  const map = new Map<string, Subagent>();
  for (const agent of agents) {
    const { name, description, systemPrompt } = agent;
    if ([name, description, systemPrompt].some((text) => typeof text !== "string"))
      throw invalidArgument(
        `A subagent is { name, description, systemPrompt, … }, and ${JSON.stringify(name) ?? "one"} lacks some of that. An Agent is none: its tool is context.runAgent().`,
      );
    if (map.has(agent.name))
      throw invalidArgument(`The subagent "${agent.name}" is defined twice: rename or remove one of them.`);
    map.set(agent.name, agent);
  }
  if (map.size === 0) throw invalidArgument("createTaskTool() got no subagents: leave the tool out instead.");
  return map;
}

async function runTask(
  { agent, prompt }: { readonly agent: Subagent; readonly prompt: string },
  context: ToolContext,
  options: TaskToolOptions,
): Promise<ToolResult> {
  const { maxDepth = DEFAULT_MAX_DEPTH, maxReportChars = DEFAULT_REPORT_CHARS, surroundings } = options;
  const tools = toolsOf(agent, context);
  const named = agent.tools !== undefined && agent.tools.length > 0;
  if (named && tools.length === 0)
    return errorResult(`The subagent ${agent.name} has none of its tools here: use another one.`);
  const model = await modelOf(agent, options);
  const surroundingsText = surroundings?.(agent) ?? "";
  const task: SubagentTask = {
    agent: agent.name,
    prompt,
    systemPrompt: [agent.systemPrompt, REPORT_RULE, surroundingsText]
      .filter((part) => part !== "")
      .join("\n\n"),
    tools,
    ...omitUndefined({ model, effort: agent.effort }),
    maxIterations: agent.maxIterations ?? DEFAULT_MAX_ITERATIONS,
    maxDepth,
  };
  return taskReport(agent.name, await context.runAgent(task), maxReportChars);
}

/** The run's tools it names, plus its own; a read-only one gets only read-only tools. */
function toolsOf(agent: Subagent, context: ToolContext): readonly Tool[] {
  const { tools, disallowedTools = [], readOnly } = agent;
  const names = tools?.filter((each) => typeof each === "string");
  const own = tools?.filter((each) => typeof each !== "string") ?? [];
  const ofRun = context.listTools().filter(({ name }) => {
    if (own.some((each) => each.name === name)) return false;
    return names === undefined || isNamed(name, names);
  });
  return [...ofRun, ...own].filter(
    (tool) => !isNamed(tool.name, disallowedTools) && (readOnly !== true || tool.readOnly === true),
  );
}

async function modelOf({ name, model }: Subagent, { models }: TaskToolOptions): Promise<Model | undefined> {
  if (typeof model !== "string") return model;
  if (models === undefined)
    throw invalidArgument(
      `The subagent ${name} wants the model ${model}, and createTaskTool() got no models to look it up with.`,
    );
  return models(model);
}

function unknownAgentResult(wanted: string, agents: ReadonlyMap<string, Subagent>): ToolResult {
  const names = [...agents.keys()];
  const hint = didYouMean(wanted, names);
  return errorResult(
    `There is no subagent ${JSON.stringify(wanted.slice(0, 100))}.${hint} Subagents: ${names.join(", ")}.`,
  );
}

/** A subagent's last message and its statistics. If it did not end by itself, the result is an error. */
function taskReport(agent: string, outcome: SubagentOutcome, maxChars: number): ToolResult {
  const { text, stopReason, iterations, toolCalls, usage, cost, durationMs } = outcome;
  const requests = pluralize(iterations, "request");
  const calls = pluralize(toolCalls, "tool call");
  const shown = truncateMiddle(text.trim(), maxChars);
  const facts = `[${agent}: ${requests}, ${calls}, ${usage.inputTokens} tokens in, ${usage.outputTokens} out, ${formatCost(cost)}, ${formatSeconds(durationMs)}]`;
  const extra = {
    // The same task with the same report is a repetition, however long it took.
    essence: `${stopReason} ${shown}`,
    title: `${requests}, ${calls}`,
    metadata: {
      agent,
      stopReason,
      iterations,
      toolCalls,
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
      costUsd: cost ?? null,
      durationMs,
    },
  };
  const failure = failureOf(outcome);
  if (failure !== undefined) {
    const found = shown === "" ? "It had written nothing." : `What it had written so far:\n\n${shown}`;
    return errorResult(`The subagent ${agent} ${failure}. ${found}\n\n${facts}`, extra);
  }
  const remark = REMARKS[stopReason];
  return {
    ...extra,
    content: [
      shown === "" ? "(The subagent said nothing.)" : shown,
      ...(remark === undefined ? [] : [`(${remark})`]),
      facts,
    ].join("\n\n"),
  };
}

const REMARKS: { readonly [reason in SubagentOutcome["stopReason"]]?: string } = {
  max_iterations: "It used up its requests before it was done.",
  output_limit: "Its report was cut at the model's output limit.",
};

function failureOf({ stopReason, limit, error, detail }: SubagentOutcome): string | undefined {
  if (stopReason === "error") return `failed: ${withoutPeriod(error?.message ?? "for an unknown reason")}`;
  const failure = FAILURES[stopReason];
  const more = detail ?? limit;
  return failure === undefined || more === undefined ? failure : `${failure} (${withoutPeriod(more)})`;
}

const NEEDS_ANSWER = "was stopped: it needs an answer that can only be given to the agent itself";

const FAILURES: { readonly [reason in SubagentOutcome["stopReason"]]?: string } = {
  budget: "was stopped: the budget of the run is used up",
  aborted: "was stopped with the run",
  denied: "was stopped: the user refused one of its calls and wanted it to end",
  awaiting_approval: NEEDS_ANSWER,
  awaiting_external: NEEDS_ANSWER,
  refusal: "was refused by its model",
  loop_detected: "was stopped: it repeated itself without getting anywhere",
};

function withoutPeriod(sentence: string): string {
  return sentence.replace(/\.$/, "");
}

function formatCost(cost: number | undefined): string {
  return cost === undefined ? "cost unknown" : `$${cost.toFixed(4)}`;
}

function formatSeconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}

/** Lower-case names that other agents use for tools, and the equivalent tool here. */
const PEER_NAMES: ReadonlyMap<string, string> = new Map([
  ["multiedit", "edit"],
  ["ls", "read"],
  ["webfetch", "web_fetch"],
  ["todowrite", "todo"],
  ["todoread", "todo"],
  ["agent", "task"],
  ["bashoutput", "job"],
  ["killshell", "job"],
  ["killbash", "job"],
]);

export interface NamedTools {
  readonly names: readonly string[];
  readonly unknown: readonly string[];
}

/** The tools that names refer to, including other agents' names. Server tools stay: they may come later. */
export function namedTools(list: readonly string[], known: readonly Tool[]): NamedTools {
  const all = known.map(({ name }) => name);
  const names = new Set<string>();
  const unknown: string[] = [];
  for (const given of list) {
    const lower = given.toLowerCase();
    const wanted = PEER_NAMES.get(lower) ?? lower;
    const name = all.find((each) => each.toLowerCase() === wanted);
    if (name !== undefined) names.add(name);
    else if (/^mcp__[\w-]+(?:__[\w-]*\*?)?$/.test(given)) names.add(given);
    else unknown.push(unknownTool(given, all));
  }
  return { names: [...names], unknown };
}

/** True if a tool is among the names; `mcp__server` and `mcp__server__*` stand for all of a server. */
export function isNamed(tool: string, names: readonly string[]): boolean {
  return names.some((name) => {
    if (name === tool) return true;
    if (name.endsWith("*")) return tool.startsWith(name.slice(0, -1));
    return /^mcp__[^_]+(?:_[^_]+)*$/.test(name) && tool.startsWith(`${name}__`);
  });
}

function unknownTool(given: string, all: readonly string[]): string {
  const shown = JSON.stringify(given.slice(0, 80));
  if (given.includes("("))
    return `the tool ${shown} is left out: a subagent gets whole tools, and permission rules say what they may do`;
  const guess = closestMatch(given, all);
  const hint = guess === undefined ? "" : `, did you mean ${guess}?`;
  return `there is no tool ${shown}${hint} (tools: ${all.join(", ")})`;
}

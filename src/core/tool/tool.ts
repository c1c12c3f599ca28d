import { compileSchema } from "../base/compile-schema.ts";
import { invalidArgument, type Json, type NanoAgentError } from "../base/errors.ts";
import { omitUndefined } from "../base/json.ts";
import type { CompiledSchema, InferSchema, JsonSchema, SchemaInput } from "../base/schema.ts";
import type { StopReason } from "../base/stop-reason.ts";
import type { ImageBlock, TextBlock, ToolInput, Usage } from "../message/message.ts";
import type { Effort, Model, ToolSpec } from "../model/model.ts";

/** The result of a tool, in its full form. */
export interface ToolResult {
  /** The content for the model. */
  readonly content: string | readonly (TextBlock | ImageBlock)[];
  /** True to tell the model that the call failed. Default false. */
  readonly isError?: boolean;
  /** A few words for people, such as `12 files`. */
  readonly title?: string;
  /** JSON-safe data for programs (a diff, an exit code). Never sent to the model. */
  readonly metadata?: { readonly [key: string]: Json | undefined };
  /**
   * The result without what varies even if nothing has changed, such as a duration, so that a call repeated
   * without effect is noticed. Default: `content`.
   */
  readonly essence?: string;
  /** Unless `isError`: ends the run after this turn with this text as its answer (`finish_tool`). */
  readonly finish?: Finish;
}

/** The answer of a tool that ended the run. */
export interface Finish {
  readonly text: string;
  readonly output?: unknown;
}

/** Progress of a running tool: text added since the last update. */
export interface ToolUpdate {
  readonly text?: string;
  readonly metadata?: { readonly [key: string]: Json | undefined };
}

/**
 * What a tool may return. A string is the text for the model; an object with `content` of text or blocks (or,
 * in older code, a string `output`) is a {@link ToolResult}; `undefined` and `null` become `(no output)`; an
 * `Error` counts as thrown; anything else is serialized as JSON. A generator yields updates (strings, or
 * {@link ToolUpdate}s) and returns the result; if it returns nothing, the result is the yielded texts joined.
 */
export type ToolOutput = unknown;

/**
 * Which calls of one answer may overlap. Conflicting calls run in call order; all others run in parallel.
 * `exclusive` conflicts with every other call. `write` and `read` list resources, such as canonical paths: a
 * write conflicts with any access to the same resource and with `"read_all"`; reads never conflict with each
 * other. `"none"` conflicts only with an exclusive call.
 */
export type ToolAccess =
  | "none"
  | "exclusive"
  | "read_all"
  | { readonly read?: readonly string[]; readonly write?: readonly string[] };

export interface AccessContext {
  readonly cwd: string;
  /** The resources a call of another tool of the same agent would touch. */
  readonly accessOf: (name: string, input: ToolInput) => ToolAccess;
}

/** A task for another agent, which runs on its own transcript. See {@link ToolContext.runAgent}. */
export interface SubagentTask {
  /** Name of the subagent in events, permission questions and reports. */
  readonly agent: string;
  /** Everything it is told: it does not see the conversation around it. */
  readonly prompt: string;
  /** Default: none. */
  readonly systemPrompt?: string;
  /** Default: the tools of the run that starts it, whose registry is never changed. */
  readonly tools?: readonly Tool[];
  /** Default: the model of the run that starts it. */
  readonly model?: Model;
  /** Default: that of the run that starts it. */
  readonly effort?: Effort;
  /** Model requests it may make, from 1. Default 20. */
  readonly maxIterations?: number;
  /** How it ends after that. Default `summarize`: one more request without tools. */
  readonly onMaxIterations?: "summarize" | "last";
  /**
   * How deep subagents may nest; 1: a subagent may not start any. At the deepest level the tool that started
   * the subagent is withheld. Default 2.
   */
  readonly maxDepth?: number;
}

/** The result of a {@link SubagentTask}. */
export interface SubagentOutcome {
  /** Its answer, or else the last text it wrote; may be empty. */
  readonly text: string;
  readonly stopReason: StopReason;
  /** Which limit (`usd`, `tokens`, `wall_time`), when `stopReason` is `budget`. */
  readonly limit?: string;
  /** Set when `stopReason` is `error`. */
  readonly error?: NanoAgentError;
  /** One sentence for people, when `stopReason` is `budget` or `loop_detected`. */
  readonly detail?: string;
  /** Answered model requests, without those of its own subagents. */
  readonly iterations: number;
  /** Tool calls started, including nested ones, without those of its own subagents. */
  readonly toolCalls: number;
  /** Tokens, including its own subagents. */
  readonly usage: Usage;
  /** USD, including its own subagents; `undefined` if a price is unknown. */
  readonly cost: number | undefined;
  readonly durationMs: number;
}

/** The context of a running tool, besides its input. `Own` is the type of the caller's `context`. */
export interface ToolContext<Own = unknown> {
  /**
   * The `context` of the run or its agent, such as the current user or a database. Never sent or recorded.
   */
  readonly context: Own;
  /** Aborted when the run is stopped, the call times out, or the reader leaves. */
  readonly signal: AbortSignal;
  readonly sessionId: string;
  /**
   * Id of the transcript the call belongs to: the session's, or a subagent's own. Key for what a tool
   * remembers about what the model has seen.
   */
  readonly transcriptId: string;
  /** Id of this tool call. */
  readonly callId: string;
  /** For services that accept such a key: the same if a call with an unknown outcome runs again. */
  readonly idempotencyKey: string;
  /** Working directory for relative paths. Empty in a runtime without a file system. */
  readonly cwd: string;
  /** Publishes progress as a `tool_update` event. Never throws. */
  readonly update: (update: ToolUpdate | string) => void;
  /**
   * Calls another tool of the same agent, with everything a call of the model goes through: validation,
   * hooks, permission, limits, journal. Unless they conflict, calls overlap if started before earlier ones
   * end; questions about them come one at a time, in order. A failing call yields an error result and never
   * throws.
   */
  readonly callTool: (name: string, input: ToolInput) => Promise<ToolResult>;
  /** The current tools of the run. */
  readonly listTools: () => readonly Tool[];
  /**
   * Runs another agent on a task: the same loop on its own transcript. It shares permission, approver,
   * budget, wall time and journal with this run and ends with this call. Its events reach the reader as
   * `subagent` events. Resolves to its outcome; rejects with `invalid_argument` for misuse (nested too deep,
   * an invalid limit, a money budget with a model of unknown price).
   */
  readonly runAgent: (task: SubagentTask) => Promise<SubagentOutcome>;
}

/** A tool as the loop runs it. Make one with {@link defineTool}. */
export interface Tool {
  /** The name the model calls: 1 to 64 letters, digits, `_`, `-`, starting with a letter or `_`. */
  readonly name: string;
  /** Its purpose and when to use it: the model decides by this. */
  readonly description: string;
  /** Validates the arguments and describes them as JSON Schema; `defineTool` makes it from `parameters`. */
  readonly schema: CompiledSchema;
  /** Absent: the caller runs the call (`stopReason: "awaiting_external"`). */
  readonly execute?: (input: never, context: ToolContext) => ToolOutput;
  /**
   * The resources a call touches: conflicting calls of one answer run one after the other. Default `none`.
   */
  readonly access?: ToolAccess | ((input: never, context: AccessContext) => ToolAccess);
  /**
   * True if a person must approve each call before it runs, even if the gate allows it; a function decides by
   * the validated input, and asks if it throws. Asks the agent's `approve`; without one see `onAsk`. Default
   * false.
   */
  readonly needsApproval?: boolean | ((input: never) => boolean | Promise<boolean>);
  /** Milliseconds after which a call is aborted and becomes an error; 0: none. Default: the agent's. */
  readonly timeoutMs?: number;
  /** Milliseconds an aborted call has to end on its own before it is abandoned. Default 500. */
  readonly abortGraceMs?: number;
  /**
   * True if running a call twice has the same effect as once, for example thanks to {@link
   * ToolContext.idempotencyKey}. With the agent's `openCalls: "run"` a call of unknown outcome then runs
   * again. Default false.
   */
  readonly idempotent?: boolean;
  /** False: hidden from the model, because no call would be allowed; calls are still judged. Default true. */
  readonly offered?: boolean;
  /** True if a call changes nothing outside the agent. A hint for permission modes. Default false. */
  readonly readOnly?: boolean;
  /**
   * False if a call changes no files itself, because it only makes other calls or manages processes; the
   * workspace is not compared around it then. Default: true unless `readOnly`.
   */
  readonly changesFiles?: boolean;
}

/** The argument of {@link defineTool}. */
export interface ToolDefinition<S extends SchemaInput, Own = unknown>
  extends Omit<Tool, "schema" | "execute" | "access" | "needsApproval"> {
  /** Standard Schema (zod 4, valibot, arktype) or JSON Schema of an object. Default: no arguments. */
  readonly parameters?: S;
  /**
   * Does the work and returns what the model sees. Absent: the caller runs the call (`awaiting_external`).
   */
  readonly execute?: (input: InferSchema<S>, context: ToolContext<Own>) => ToolOutput;
  /**
   * The resources a call touches: conflicting calls of one answer run one after the other. Default `none`.
   */
  readonly access?: ToolAccess | ((input: InferSchema<S>, context: AccessContext) => ToolAccess);
  /**
   * True if a person must approve each call before it runs, even if the gate allows it; or a function of the
   * input. Asks the agent's `approve`; without one see `onAsk`. Default false.
   */
  readonly needsApproval?: boolean | ((input: InferSchema<S>) => boolean | Promise<boolean>);
}

/** Tool names that every provider accepts. */
const TOOL_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

const NO_PARAMETERS: JsonSchema = { type: "object", properties: {}, additionalProperties: false };

/**
 * Makes a {@link Tool}. The type of `execute`'s input follows from `parameters`, that of the run's `context`
 * from the `ToolContext<Own>` that `execute` takes. Throws `invalid_argument` for a name a provider would
 * refuse, a missing description, or a schema that is not an object schema or not expressible as JSON Schema.
 */
export function defineTool<const S extends SchemaInput = JsonSchema, Own = unknown>(
  definition: ToolDefinition<S, Own>,
): Tool {
  const { parameters, ...own } = definition;
  const { name, description, execute, needsApproval } = own;
  assertToolName(name);
  if (typeof description !== "string")
    throw invalidArgument(`Tool "${name}" needs a description: the model chooses by it.`);
  if (!["undefined", "function"].includes(typeof execute))
    throw invalidArgument(
      `execute of tool "${name}" is ${typeof execute}; pass a function, or leave it out.`,
    );
  if (!["undefined", "boolean", "function"].includes(typeof needsApproval))
    throw invalidArgument(
      `needsApproval of tool "${name}" is ${typeof needsApproval}; pass true, false or a function of the input.`,
    );
  assertFamiliarNames(name, definition);
  const schema = compileSchema(parameters ?? NO_PARAMETERS);
  const { type = "unknown" } = schema.jsonSchema;
  if (type !== "object")
    throw invalidArgument(
      `Parameters of tool "${name}" are of type ${JSON.stringify(type)}; providers accept an object schema only. Wrap the value in an object.`,
    );
  // Only the caller knows whether a run has the context its tools expect.
  return { ...omitUndefined(own), schema } as Tool;
}

/** A misspelled one would leave a tool without arguments, or waiting for the caller. */
function assertFamiliarNames(tool: string, definition: object): void {
  for (const [own, others] of [
    ["parameters", ["inputSchema", "input_schema", "schema"]],
    ["execute", ["run", "handler", "func", "invoke", "callback"]],
  ] as const) {
    if (own in definition) continue;
    const other = others.find((name) => name in definition);
    if (other === undefined) continue;
    throw invalidArgument(`Tool "${tool}" has ${other}, which is ${own} here: rename it.`);
  }
}

/** Throws `invalid_argument` for a tool name that a provider would refuse. */
export function assertToolName(name: unknown): asserts name is string {
  if (typeof name === "string" && TOOL_NAME.test(name)) return;
  throw invalidArgument(
    `Tool name ${JSON.stringify(name)} is not usable: providers accept 1 to 64 letters, digits, "_" and "-", not starting with a digit or "-".`,
  );
}

/** The tools of one agent by name, in the order they were added. */
export class ToolRegistry {
  readonly #tools = new Map<string, Tool>();
  /** The registry this one extends. */
  #base: ToolRegistry | undefined;
  /** The tools as shown to the model. The same array until the set changes: wires recognize the object. */
  #specs: readonly ToolSpec[] | undefined;
  #baseSpecs: readonly ToolSpec[] | undefined;

  /** Throws `invalid_argument` for an invalid or duplicate name, and for anything that is not a tool. */
  constructor(tools: readonly Tool[] = []) {
    for (const tool of tools) this.add(tool);
  }

  /** Adds a tool. Throws `invalid_argument` if its name is taken. */
  add(tool: Tool): void {
    assertTool(tool);
    if (this.get(tool.name) !== undefined) {
      throw invalidArgument(`Tool "${tool.name}" is defined twice: rename or remove one of them.`);
    }
    this.#tools.set(tool.name, tool);
    this.#specs = undefined;
  }

  /** Removes a tool; false if there was none. */
  remove(name: string): boolean {
    this.#specs = undefined;
    return this.#tools.delete(name);
  }

  /** A live view of these tools plus one more. Throws as {@link add} does. */
  with(tool: Tool): ToolRegistry {
    const more = new ToolRegistry();
    more.#base = this;
    more.add(tool);
    return more;
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name) ?? this.#base?.get(name);
  }

  list(): readonly Tool[] {
    const before = this.#base?.list().filter(({ name }) => !this.#tools.has(name)) ?? [];
    return [...before, ...this.#tools.values()];
  }

  names(): readonly string[] {
    return this.list().map(({ name }) => name);
  }

  /** The tools as shown to the model. The same array until the set changes. */
  specs(): readonly ToolSpec[] {
    const base = this.#base?.specs();
    if (this.#specs === undefined || base !== this.#baseSpecs) {
      this.#baseSpecs = base;
      this.#specs = this.list()
        .filter(isVisible)
        .map(({ name, description, schema }) => ({ name, description, parameters: schema.jsonSchema }));
    }
    return this.#specs;
  }
}

export function assertTool(tool: Tool): void {
  if (typeof tool !== "object" || tool === null)
    throw invalidArgument(
      `A tool is ${tool === null ? "null" : `a ${typeof tool}`}: pass defineTool({ … }).`,
    );
  assertToolName(tool.name);
  if (typeof tool.schema?.validate !== "function")
    throw invalidArgument(`Tool "${tool.name}" was not made by defineTool(): pass defineTool({ … }).`);
}

export function isVisible({ offered }: Tool): boolean {
  return offered !== false;
}

/** True if the caller runs the calls of this tool. */
export function isExternal(tools: ToolRegistry, name: string): boolean {
  const tool = tools.get(name);
  return tool !== undefined && tool.execute === undefined;
}

import { compileSchema } from "../base/compile-schema.ts";
import { type Json, misuse, type NanoAgentError } from "../base/errors.ts";
import { defined } from "../base/json.ts";
import type { CompiledSchema, InferSchema, JsonSchema, SchemaInput } from "../base/schema.ts";
import type { StopReason } from "../base/stop-reason.ts";
import type { ImageBlock, TextBlock, ToolInput, Usage } from "../message/message.ts";
import type { Effort, Model, ToolSpec } from "../model/model.ts";

/** The result of a tool, in its full form. */
export interface ToolResult {
  /** The content that the model sees. */
  readonly content: string | readonly (TextBlock | ImageBlock)[];
  /** True when the model should know that the call failed. Default false. */
  readonly isError?: boolean;
  /** A few words for people, e.g. `12 files`. */
  readonly title?: string;
  /** JSON-safe facts for programs (a diff, an exit code). Never sent to the model. */
  readonly metadata?: { readonly [key: string]: Json | undefined };
  /**
   * The result without the parts that differ each time although nothing has changed, such as how long it
   * took: so that a call that is repeated without effect is noticed. Default: `content`.
   */
  readonly essence?: string;
  /** Unless `isError`: ends the run after this turn, this text being the answer (`finish_tool`). */
  readonly finish?: Finish;
}

/** The answer of a tool that ends the run. */
export interface Finish {
  readonly text: string;
  readonly output?: unknown;
}

/** Progress of a running tool, for people and programs: text added since the last update. */
export interface ToolUpdate {
  readonly text?: string;
  readonly metadata?: { readonly [key: string]: Json | undefined };
}

/**
 * The values a tool may return. A string is the text for the model; an object with a `content` field of text
 * or blocks (or, as in older code, a string `output` field) is a {@link ToolResult}; `undefined` and `null`
 * are `(no output)`; an `Error` is what it would be if it was thrown; anything else is serialised as JSON.
 * From a generator each yielded value is an update (a string, or a {@link ToolUpdate}) and the returned value
 * the result; when nothing is returned the yielded texts, joined, are the result.
 */
export type ToolOutput = unknown;

/**
 * Which calls of one answer may overlap. Calls that conflict run in call order, one after the other; all
 * others run together. `exclusive` conflicts with every other call; `write`/`read` list resources (canonical
 * paths, say): a write conflicts with every access to the same resource and with `"read_all"`; reads do not
 * conflict with each other. `"none"` conflicts with nothing but an exclusive call.
 */
export type ToolAccess =
  | "none"
  | "exclusive"
  | "read_all"
  | { readonly read?: readonly string[]; readonly write?: readonly string[] };

export interface AccessContext {
  readonly cwd: string;
  /** The places a call of another tool of the same agent would touch. */
  readonly accessOf: (name: string, input: ToolInput) => ToolAccess;
}

/** A task for another agent, which works on it in a run of its own. See {@link ToolContext.runAgent}. */
export interface SubagentTask {
  /** Name of the subagent, for events, questions about permission, and reports. */
  readonly agent: string;
  /** All it is told: it does not see the conversation around it. */
  readonly prompt: string;
  /** Default: none. */
  readonly systemPrompt?: string;
  /** Default: the tools of the run around it. The registry of that run never changes. */
  readonly tools?: readonly Tool[];
  /** Default: the model of the run around it. */
  readonly model?: Model;
  /** Default: that of the run around it. */
  readonly effort?: Effort;
  /** Model requests it may make, from 1. Default 20. */
  readonly maxIterations?: number;
  /** The way on then. Default `summarize`: one more request without tools. */
  readonly onMaxIterations?: "summarize" | "last";
  /**
   * How deep subagents may be nested; 1: a subagent starts none. A subagent at this depth does not get the
   * tool that started it. Default 2.
   */
  readonly maxDepth?: number;
}

/** The result of a {@link SubagentTask}. */
export interface SubagentOutcome {
  /** Its answer; where it has none, the last text it wrote, possibly empty. */
  readonly text: string;
  readonly stopReason: StopReason;
  /** Which limit (`usd`, `tokens`, `wall_time`), when `stopReason` is `budget`. */
  readonly limit?: string;
  /** Set when `stopReason` is `error`. */
  readonly error?: NanoAgentError;
  /** One sentence for people, when `stopReason` is `budget` or `loop_detected`. */
  readonly detail?: string;
  /** Model requests that were answered, those of its own subagents not counted. */
  readonly iterations: number;
  /** Tool calls that were begun, nested ones included, those of its own subagents not. */
  readonly toolCalls: number;
  /** Tokens, those of its own subagents included. */
  readonly usage: Usage;
  /** USD, its own subagents included; `undefined` when a price is unknown. */
  readonly cost: number | undefined;
  readonly durationMs: number;
}

/** The surroundings of a running tool, beside its input. `Own` is the type of the caller's `context`. */
export interface ToolContext<Own = unknown> {
  /** The `context` of the run, or of its agent: the user it works for, a database. Never sent or recorded. */
  readonly context: Own;
  /** Aborted when the run is stopped, the call timed out, or nobody reads the run any more. */
  readonly signal: AbortSignal;
  readonly sessionId: string;
  /**
   * Name of the transcript the call stands in: the session's id, or in a subagent one of its own. What a tool
   * remembers of what the model has seen goes by this name.
   */
  readonly transcriptId: string;
  /** Id of the tool call that is running. */
  readonly callId: string;
  /** For services that take such a key: equal when a call runs again as nobody knows whether it ended. */
  readonly idempotencyKey: string;
  /** Working folder relative paths refer to. Empty in a runtime without a file system. */
  readonly cwd: string;
  /** Publishes progress as a `tool_update` event. Never throws. */
  readonly update: (update: ToolUpdate | string) => void;
  /**
   * Runs another tool of the same agent through the same path as a call of the model: known?, valid?, hooks,
   * permission, limits, journal. Calls made before earlier ones have ended overlap unless they conflict, and
   * questions about them come one at a time, in order. Never throws for what went wrong in the call: that is
   * an error result.
   */
  readonly callTool: (name: string, input: ToolInput) => Promise<ToolResult>;
  /** The tools of the run, as they are now. */
  readonly listTools: () => readonly Tool[];
  /**
   * Runs another agent on a task: the same loop on a transcript of its own. Permission, approver, budget,
   * wall time and journal are those of the run around it, and it ends with this call. Its events reach the
   * reader as `subagent` events. How it ended is in the outcome; rejects for misuse (`invalid_argument`: too
   * deep, a limit that is none, a money budget and a model of unknown price).
   */
  readonly runAgent: (task: SubagentTask) => Promise<SubagentOutcome>;
}

/** A tool as the loop runs it. Make one with {@link defineTool}. */
export interface Tool {
  /** The name the model calls it by: 1 to 64 letters, digits, `_`, `-`, first a letter or `_`. */
  readonly name: string;
  /** Its purpose and when to use it: the model chooses by this. */
  readonly description: string;
  /** Checks the arguments, and says them as JSON Schema; `defineTool` makes it from `parameters`. */
  readonly schema: CompiledSchema;
  /** Absent: the call is answered by the caller (`stopReason: "awaiting_external"`). */
  readonly execute?: (input: never, context: ToolContext) => ToolOutput;
  /** The places a call touches: calls of one answer that conflict run one after the other. Default `none`. */
  readonly access?: ToolAccess | ((input: never, context: AccessContext) => ToolAccess);
  /**
   * True when a call has to be approved by a person before it runs, also where the gate allows it; a function
   * decides by the validated input. The agent's `approve` is asked; without one see `onAsk`. A function that
   * throws asks. Default false.
   */
  readonly needsApproval?: boolean | ((input: never) => boolean | Promise<boolean>);
  /** Milliseconds after which a call is aborted and answered with an error; 0: none. Default: the agent's. */
  readonly timeoutMs?: number;
  /** Milliseconds a call gets to end by itself once it was aborted; then it is abandoned. Default 500. */
  readonly abortGraceMs?: number;
  /**
   * True when running a call a second time does no more than running it once, e.g. by
   * {@link ToolContext.idempotencyKey}: a call whose end nobody knows may be run again where the agent's
   * `openCalls` says so. Default false.
   */
  readonly idempotent?: boolean;
  /** False: not shown to the model, as no call would be let run; calls are still judged. Default true. */
  readonly offered?: boolean;
  /** True when a call changes nothing outside the agent. A hint for permission modes. Default false. */
  readonly readOnly?: boolean;
  /**
   * False when a call by itself changes no file: it only makes other calls, which are seen on their own, or
   * looks after processes. The files of the workspace are then not compared around it. Default: a call may
   * change files, unless it is `readOnly`.
   */
  readonly changesFiles?: boolean;
}

/** The argument of {@link defineTool}. */
export interface ToolDefinition<S extends SchemaInput, Own = unknown>
  extends Omit<Tool, "schema" | "execute" | "access" | "needsApproval"> {
  /** Zod 4, valibot, arktype (Standard Schema) or JSON Schema of an object. Default: no arguments. */
  readonly parameters?: S;
  /** Does the work and returns what the model sees. Absent: the caller answers (`awaiting_external`). */
  readonly execute?: (input: InferSchema<S>, context: ToolContext<Own>) => ToolOutput;
  /** The places a call touches: calls of one answer that conflict run one after the other. Default `none`. */
  readonly access?: ToolAccess | ((input: InferSchema<S>, context: AccessContext) => ToolAccess);
  /**
   * True when a call has to be approved by a person before it runs, also where the gate allows it; or a
   * function of the input. The agent's `approve` is asked; without one see `onAsk`. Default false.
   */
  readonly needsApproval?: boolean | ((input: InferSchema<S>) => boolean | Promise<boolean>);
}

/** The form of tool names that every provider accepts. */
const TOOL_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

const NO_PARAMETERS: JsonSchema = { type: "object", properties: {}, additionalProperties: false };

/**
 * Makes a {@link Tool}; the type of `execute`'s input follows from `parameters`, that of the run's `context`
 * from what `execute` says it takes (`ToolContext<Own>`). Throws `invalid_argument` for a name that a
 * provider would refuse, a missing description, or a schema that is not an object schema or cannot be
 * expressed as JSON Schema.
 */
export function defineTool<const S extends SchemaInput = JsonSchema, Own = unknown>(
  definition: ToolDefinition<S, Own>,
): Tool {
  const { parameters, ...own } = definition;
  const { name, description, execute, needsApproval } = own;
  assertToolName(name);
  if (typeof description !== "string")
    throw misuse(`Tool "${name}" needs a description: the model chooses by it.`);
  if (!["undefined", "function"].includes(typeof execute))
    throw misuse(`execute of tool "${name}" is ${typeof execute}; pass a function, or leave it out.`);
  if (!["undefined", "boolean", "function"].includes(typeof needsApproval))
    throw misuse(
      `needsApproval of tool "${name}" is ${typeof needsApproval}; pass true, false or a function of the input.`,
    );
  assertOwnNames(name, definition);
  const schema = compileSchema(parameters ?? NO_PARAMETERS);
  const { type = "unknown" } = schema.jsonSchema;
  if (type !== "object")
    throw misuse(
      `Parameters of tool "${name}" are of type ${JSON.stringify(type)}; providers accept an object schema only. Wrap the value in an object.`,
    );
  // Whether a run has the context its tools expect, only its caller can know.
  return { ...defined(own), schema } as Tool;
}

/** Without them a tool would have no arguments, or wait for the caller to do its work. */
function assertOwnNames(tool: string, definition: object): void {
  for (const [own, others] of [
    ["parameters", ["inputSchema", "input_schema", "schema"]],
    ["execute", ["run", "handler", "func", "invoke", "callback"]],
  ] as const) {
    if (own in definition) continue;
    const other = others.find((name) => name in definition);
    if (other === undefined) continue;
    throw misuse(`Tool "${tool}" has ${other}, which is ${own} here: rename it.`);
  }
}

/** Throws `invalid_argument` for a tool name that some provider refuses. */
export function assertToolName(name: unknown): asserts name is string {
  if (typeof name === "string" && TOOL_NAME.test(name)) return;
  throw misuse(
    `Tool name ${JSON.stringify(name)} is not usable: providers accept 1 to 64 letters, digits, "_" and "-", not starting with a digit or "-".`,
  );
}

/** The tools of one agent, by name, in the order they were added. */
export class ToolRegistry {
  readonly #tools = new Map<string, Tool>();
  /** The registry this one adds to. */
  #base: ToolRegistry | undefined;
  /** The tools as the model is shown them. Kept until the set changes: wires recognise the object. */
  #specs: readonly ToolSpec[] | undefined;
  #baseSpecs: readonly ToolSpec[] | undefined;

  /** Throws `invalid_argument` for an unusable name, a name defined twice, or something that is no tool. */
  constructor(tools: readonly Tool[] = []) {
    for (const tool of tools) this.add(tool);
  }

  /** Adds a tool. Throws `invalid_argument` when its name is taken. */
  add(tool: Tool): void {
    assertTool(tool);
    if (this.get(tool.name) !== undefined) {
      throw misuse(`Tool "${tool.name}" is defined twice: rename or remove one of them.`);
    }
    this.#tools.set(tool.name, tool);
    this.#specs = undefined;
  }

  /** Removes a tool; false when there was none. */
  remove(name: string): boolean {
    this.#specs = undefined;
    return this.#tools.delete(name);
  }

  /** A registry of these tools, as they change, and behind them one more. Throws as {@link add} does. */
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

  /** The tools as the model sees them. The same array until the set changes. */
  specs(): readonly ToolSpec[] {
    const base = this.#base?.specs();
    if (this.#specs === undefined || base !== this.#baseSpecs) {
      this.#baseSpecs = base;
      this.#specs = this.list()
        .filter(isOffered)
        .map(({ name, description, schema }) => ({ name, description, parameters: schema.jsonSchema }));
    }
    return this.#specs;
  }
}

export function assertTool(tool: Tool): void {
  if (typeof tool !== "object" || tool === null)
    throw misuse(`A tool is ${tool === null ? "null" : `a ${typeof tool}`}: pass defineTool({ … }).`);
  assertToolName(tool.name);
  if (typeof tool.schema?.validate !== "function")
    throw misuse(`Tool "${tool.name}" was not made by defineTool(): pass defineTool({ … }).`);
}

/** True when the model is shown a tool. */
export function isOffered({ offered }: Tool): boolean {
  return offered !== false;
}

/** True when the caller answers the calls of a tool. */
export function isExternal(tools: ToolRegistry, name: string): boolean {
  const tool = tools.get(name);
  return tool !== undefined && tool.execute === undefined;
}

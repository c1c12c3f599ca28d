import type { Json } from "../base/errors.ts";
import type { CompiledSchema, InferSchema, SchemaInput } from "../base/schema.ts";
import type { ImageBlock, TextBlock, ToolInput } from "../message/block.ts";

/** What a tool hands back, in its full form. */
export interface ToolResult {
  /** What the model sees. */
  readonly content: string | readonly (TextBlock | ImageBlock)[];
  /** True when the model should know that the call failed. Default false. */
  readonly isError?: boolean;
  /** A few words for people, e.g. `12 files`. */
  readonly title?: string;
  /** JSON-safe facts for programs (a diff, an exit code). Never sent to the model. */
  readonly metadata?: { readonly [key: string]: Json | undefined };
  /**
   * What it says, without what is different each time although nothing has changed, such as how long it took: so that a call that is
   * repeated without effect is noticed. Default: `content`.
   */
  readonly essence?: string;
  /** Ends the run after this turn with this text as the answer (`stopReason: "finish_tool"`), unless `isError`. */
  readonly finish?: { readonly text: string; readonly output?: unknown };
}

/** Progress of a running tool: text that was added since the last update. For people and programs, not for the model. */
export interface ToolUpdate {
  readonly text?: string;
  readonly metadata?: { readonly [key: string]: Json | undefined };
}

/**
 * What a tool may return. A string is the text for the model; an object with a `content` field of text or blocks (or, as in
 * older code, a string `output` field) is a {@link ToolResult}; `undefined` and `null` are `(no output)`; anything else is
 * serialised as JSON. From a generator each yielded value is an update (a string, or a {@link ToolUpdate}) and the returned
 * value the result; when nothing is returned the yielded texts, joined, are the result.
 */
export type ToolOutput = unknown;

/**
 * Which calls of one answer may overlap. Calls that conflict run in call order, one after the other; all others run together.
 * `exclusive` conflicts with every other call; `write`/`read` list resources (canonical paths, say): a write conflicts with
 * every access to the same resource and with `"read_all"`; reads do not conflict with each other. `"none"` conflicts with nothing
 * but an exclusive call.
 */
export type ToolAccess =
  | "none"
  | "exclusive"
  | "read_all"
  | { readonly read?: readonly string[]; readonly write?: readonly string[] };

/** What a tool's `access` may look at beside its input. */
export interface AccessContext {
  readonly cwd: string;
  /** What a call of another tool of the same agent would touch. */
  readonly accessOf: (name: string, input: ToolInput) => ToolAccess;
}

/** What a running tool gets beside its input. */
export interface ToolContext {
  /** Aborted when the run is stopped, the call timed out, or nobody reads the run any more. */
  readonly signal: AbortSignal;
  readonly sessionId: string;
  /** Id of the tool call that is running. */
  readonly callId: string;
  /** Working folder relative paths refer to. Empty in a runtime without a file system. */
  readonly cwd: string;
  /** Publishes progress as a `tool_update` event. Never throws. */
  readonly update: (update: ToolUpdate | string) => void;
  /**
   * Runs another tool of the same agent through the same path as a call of the model: known?, valid?, hooks, permission, limits,
   * journal. Calls made before earlier ones have ended overlap unless they conflict, and questions about them come one at a time,
   * in order. Never throws for what went wrong in the call: that is an error result.
   */
  readonly callTool: (name: string, input: ToolInput) => Promise<ToolResult>;
}

/** A tool as the loop runs it. Make one with {@link defineTool}. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly schema: CompiledSchema;
  /** Absent: the call is answered by the caller (`stopReason: "awaiting_external"`). */
  readonly execute?: (input: never, context: ToolContext) => ToolOutput;
  readonly access?: ToolAccess | ((input: never, context: AccessContext) => ToolAccess);
  /** Milliseconds one call may take before it is aborted and answered with an error. Default: the agent's. 0: no limit. */
  readonly timeoutMs?: number;
  /** Milliseconds a call gets to end by itself once it was aborted; then it is abandoned. Default 500. */
  readonly abortGraceMs?: number;
  /** True when a call changes nothing outside the agent. A hint for permission modes. Default false. */
  readonly readOnly?: boolean;
  /**
   * False when a call by itself changes no file: it only makes other calls, which are seen on their own, or looks after processes. The
   * files of the workspace are then not compared around it. Default: a call may change files, unless it is `readOnly`.
   */
  readonly changesFiles?: boolean;
}

/** What {@link defineTool} takes. */
export interface ToolDefinition<S extends SchemaInput> extends Omit<Tool, "schema" | "execute" | "access"> {
  /** Schema of the arguments: zod 4, valibot, arktype (Standard Schema) or JSON Schema of an object. Default: no arguments. */
  readonly parameters?: S;
  readonly execute?: (input: InferSchema<S>, context: ToolContext) => ToolOutput;
  readonly access?: ToolAccess | ((input: InferSchema<S>, context: AccessContext) => ToolAccess);
}

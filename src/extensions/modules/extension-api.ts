import type { Json } from "../../core/base/errors.ts";
import type { JsonSchema } from "../../core/base/schema.ts";
import type { WireName } from "../../core/message/message.ts";
import type { Tool, ToolContext, ToolDefinition, ToolOutput } from "../../core/tool/tool.ts";
import type { HookEvent, HookInput } from "../command-hooks/read-hooks.ts";

/** A tool the model may call. Definitions for `defineTool`, and its results, are also accepted. */
export interface ExtensionTool {
  /** 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string;
  /** When to use it; guides the model's choice. */
  readonly description: string;
  /** JSON Schema of an object. Default: no arguments. */
  readonly inputSchema?: JsonSchema;
  /** True if a call changes nothing. A hint; the permission rules decide whether it runs. */
  readonly readOnly?: boolean;
  /** Returns text, or a value to send as JSON. Throwing gives an error result that the model can act on. */
  readonly execute: (input: never, context: ToolContext) => ToolOutput;
}

/** A command that a person calls with `/name`. */
export interface ExtensionCommand {
  readonly name: string;
  readonly description: string;
  readonly argumentHint?: string;
  /** Returns the prompt to send, or nothing if it has done its work. */
  readonly run: (args: string, context: ExtensionContext) => string | void | Promise<string | void>;
}

/** Context of an extension's command. */
export interface ExtensionContext {
  readonly cwd: string;
  readonly sessionId: string;
  readonly signal: AbortSignal;
  /** Shows a line to the person. */
  readonly notify: (text: string) => void;
}

/** A server that speaks one of the known wire formats. */
export interface ExtensionProvider {
  /** First part of its model names: `name/model`. */
  readonly name: string;
  readonly wire: WireName | "openai-chat" | "openai-responses";
  readonly baseUrl: string;
  /** Name of the environment variable with its key. */
  readonly apiKeyEnv?: string;
}

/** The answer of a hook: the JSON a command hook would print. An empty one leaves everything unchanged. */
export interface HookReply {
  readonly decision?: "allow" | "ask" | "deny" | "block" | "approve";
  readonly reason?: string;
  /** False ends the run; `stopReason` tells the person why. */
  readonly continue?: boolean;
  readonly stopReason?: string;
  readonly additionalContext?: string;
  readonly hookSpecificOutput?: {
    readonly permissionDecision?: "allow" | "ask" | "deny";
    readonly permissionDecisionReason?: string;
    readonly updatedInput?: { readonly [key: string]: Json | undefined };
    readonly additionalContext?: string;
  };
}

/** Handles an event. */
export type HookFunction = (
  input: HookInput,
  signal: AbortSignal,
) => HookReply | void | Promise<HookReply | void>;

/**
 * The parameter of an extension: `export default (agent: ExtensionApi) => { … }`. Register everything before
 * the function returns.
 */
export interface ExtensionApi {
  /** The session's working directory. */
  readonly cwd: string;
  tool(tool: ExtensionTool | ToolDefinition<JsonSchema> | Tool): void;
  command(command: ExtensionCommand): void;
  /** `matcher`: a regular expression for the tool name, for tool events. */
  hook(event: HookEvent, handler: HookFunction, options?: { readonly matcher?: string }): void;
  provider(provider: ExtensionProvider): void;
  /** Short text for the status line, rendered after each event. `undefined` shows nothing. */
  status(render: () => string | undefined): void;
}

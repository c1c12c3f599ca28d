import type { Json } from "../../core/base/errors.ts";
import type { JsonSchema } from "../../core/base/schema.ts";
import type { WireName } from "../../core/message/message.ts";
import type { Tool, ToolContext, ToolDefinition, ToolOutput } from "../../core/tool/tool.ts";
import type { HookEvent, HookInput } from "../command-hooks/read-hooks.ts";

/** A tool the model may call. What `defineTool` takes, and what it makes, works too. */
export interface ExtensionTool {
  /** 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string;
  /** When to use it; the model chooses by it. */
  readonly description: string;
  /** JSON Schema of an object. Default: no arguments. */
  readonly inputSchema?: JsonSchema;
  /** True when a call changes nothing. A hint; whether it runs is decided by the permission rules. */
  readonly readOnly?: boolean;
  /** Returns text, or what becomes JSON. Throwing makes an error result that the model can act on. */
  readonly execute: (input: never, context: ToolContext) => ToolOutput;
}

/** A command that a person calls with `/name`. */
export interface ExtensionCommand {
  readonly name: string;
  readonly description: string;
  readonly argumentHint?: string;
  /** Returns the prompt to send, or nothing when it has done its work. */
  readonly run: (args: string, context: ExtensionContext) => string | void | Promise<string | void>;
}

/** Facts for a command of an extension. */
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
  /** Name of the variable that holds its key. */
  readonly apiKeyEnv?: string;
}

/** The answer of a hook: what a command hook prints as JSON. Nothing at all leaves everything as it is. */
export interface HookReply {
  readonly decision?: "allow" | "ask" | "deny" | "block" | "approve";
  readonly reason?: string;
  /** False ends the run, with `stopReason` as the sentence for the person. */
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

/** Answers an event. */
export type HookFunction = (
  input: HookInput,
  signal: AbortSignal,
) => HookReply | void | Promise<HookReply | void>;

/**
 * The parameter of an extension: `export default (agent: ExtensionApi) => { … }`. Everything is to be
 * registered before the function returns.
 */
export interface ExtensionApi {
  /** The working folder of the session. */
  readonly cwd: string;
  tool(tool: ExtensionTool | ToolDefinition<JsonSchema> | Tool): void;
  command(command: ExtensionCommand): void;
  /** `matcher`: a regular expression over the name of the tool, for the events of tools. */
  hook(event: HookEvent, handler: HookFunction, options?: { readonly matcher?: string }): void;
  provider(provider: ExtensionProvider): void;
  /** A short text for the status line, asked for when something happened. `undefined` shows nothing. */
  status(render: () => string | undefined): void;
}

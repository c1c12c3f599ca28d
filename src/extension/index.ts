export type { Json } from "../core/base/errors.ts";
export type { JsonSchema } from "../core/base/schema.ts";
export type { ToolContext, ToolDefinition, ToolOutput } from "../core/tool/tool.ts";
export { HOOK_EVENTS, type HookEvent, type HookInput } from "../extensions/command-hooks/read-hooks.ts";
export type {
  ExtensionApi,
  ExtensionCommand,
  ExtensionContext,
  ExtensionProvider,
  ExtensionTool,
  HookFunction,
  HookReply,
} from "../extensions/modules/extension-api.ts";

/// <reference types="node" preserve="true" />
export type {
  CompiledSchema,
  FromJsonSchema,
  InferSchema,
  SchemaInput,
  SchemaIssue,
  SchemaResult,
  StandardSchema,
} from "../core/base/schema.ts";
export type {
  SubagentOutcome,
  SubagentTask,
  ToolAccess,
  ToolUpdate,
} from "../core/tool/tool.ts";
export type {
  CommandPlacement,
  SandboxCommand,
  SandboxedCommand,
} from "../system/command-sandbox.ts";
export { type AskAnswers, type AskedQuestion, createAskTool } from "./ask-tool.ts";
export { type BashTools, createBashTools } from "./bash-tools.ts";
export { createBatchTool } from "./batch-tool.ts";
export { createEditTool } from "./edit-tool.ts";
export type { Edit, EditError, EditErrorKind } from "./edits/plan-edits.ts";
export { applyEdits } from "./edits/plan-edits.ts";
export { type FileToolsOptions, fileTools } from "./file-tools.ts";
export type { FileToolOptions } from "./files/file-state.ts";
export { type FileStamp, FileState } from "./files/file-state.ts";
export { type RemoveStaleOptions, removeStaleTemporaryFiles } from "./files/write-atomically.ts";
export { createGlobTool } from "./glob-tool.ts";
export { createGrepTool } from "./grep-tool.ts";
export { createReadTool } from "./read-tool.ts";
export { type RipgrepChoice, RipgrepLocator, type SearchToolOptions } from "./search/ripgrep.ts";
export type { CommandSandbox, OpenCommandSandbox } from "./shell/shell-ports.ts";
export type { ShellOptions } from "./shell/shell-session.ts";
export { createTodoTool, type TodoItem, type TodoStatus } from "./todo-tool.ts";
export { createWebFetchTool, type WebFetchOptions } from "./web-fetch-tool.ts";
export { createWriteTool } from "./write-tool.ts";

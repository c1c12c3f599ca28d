export type { LoopPatternOptions } from "./conduct-loop.ts";
export { createHandoffTool, type HandoffOptions, type HandoffTool } from "./handoff-tool.ts";
export {
  type DiscussOptions,
  type HubResult,
  type HubTurn,
  MessageHub,
} from "./message-hub.ts";
export type { AskPerson, LineReader, PersonInput } from "./person-input.ts";
export {
  fanoutPipeline,
  type PipelineOptions,
  type SequentialResult,
  sequentialPipeline,
} from "./pipelines.ts";
export { PlanAndSolveAgent } from "./plan-and-solve-agent.ts";
export type { PlanAndSolveAgentOptions } from "./plan-options.ts";
export type { ExecutorContext, FinishedStep, PlannerContext, SynthesisContext } from "./plan-prompts.ts";
export { ReActAgent, type ReActAgentOptions } from "./react-agent.ts";
export {
  ReflectionAgent,
  type ReflectionAgentOptions,
  type ReflectionPrompts,
  type ReflectionRecord,
} from "./reflection-agent.ts";
export { SimpleAgent, type SimpleAgentOptions } from "./simple-agent.ts";
export { UserAgent, type UserAgentOptions } from "./user-agent.ts";

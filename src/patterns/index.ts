export { createHandoffTool, type HandoffOptions, type HandoffTool } from "./handoff-tool.ts";
export {
  type DiscussOptions,
  type HubResult,
  type HubTurn,
  MessageHub,
} from "./message-hub.ts";
export {
  fanoutPipeline,
  type PipelineOptions,
  type SequentialResult,
  sequentialPipeline,
} from "./pipelines.ts";
export {
  type ExecutorContext,
  type FinishedStep,
  PlanAndSolveAgent,
  type PlanAndSolveAgentOptions,
  type PlannerContext,
  type SynthesisContext,
} from "./plan-and-solve-agent.ts";
export { ReActAgent, type ReActAgentOptions } from "./react-agent.ts";
export {
  ReflectionAgent,
  type ReflectionAgentOptions,
  type ReflectionPrompts,
  type ReflectionRecord,
} from "./reflection-agent.ts";
export { type LoopPatternOptions, SimpleAgent, type SimpleAgentOptions } from "./simple-agent.ts";
export {
  type AskPerson,
  type LineReader,
  type PersonInput,
  UserAgent,
  type UserAgentOptions,
} from "./user-agent.ts";

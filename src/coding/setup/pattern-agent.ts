import type { Agent } from "../../agent/agent.ts";
import type { AgentOptions } from "../../agent/options.ts";
import { PlanAndSolveAgent } from "../../patterns/plan-and-solve-agent.ts";
import { ReActAgent } from "../../patterns/react-agent.ts";
import { ReflectionAgent } from "../../patterns/reflection-agent.ts";
import { SimpleAgent } from "../../patterns/simple-agent.ts";
import type { PatternName } from "../settings/config-schema.ts";

/** The agent of the pattern, with defaults for unattended use. */
export function createPatternAgent(pattern: PatternName, options: AgentOptions): Agent {
  switch (pattern) {
    case "simple":
      return new SimpleAgent(options);
    case "react":
      return new ReActAgent({ ...options, thoughtTool: true, finish: "tool" });
    case "plan":
      return new PlanAndSolveAgent({ ...options, synthesize: true, maxReplans: 2 });
    case "reflection":
      return new ReflectionAgent({ ...options, verdict: "structured" });
  }
}

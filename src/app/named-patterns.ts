import { PlanAndSolveAgent as CorePlanAndSolveAgent } from "../patterns/plan-and-solve-agent.ts";
import type { PlanAndSolveAgentOptions as CorePlanAndSolveAgentOptions } from "../patterns/plan-options.ts";
import {
  ReActAgent as CoreReActAgent,
  type ReActAgentOptions as CoreReActAgentOptions,
} from "../patterns/react-agent.ts";
import {
  ReflectionAgent as CoreReflectionAgent,
  type ReflectionAgentOptions as CoreReflectionAgentOptions,
} from "../patterns/reflection-agent.ts";
import {
  SimpleAgent as CoreSimpleAgent,
  type SimpleAgentOptions as CoreSimpleAgentOptions,
} from "../patterns/simple-agent.ts";
import { type WithModelName, withModel } from "./library.ts";

/** How a {@link SimpleAgent} is made. */
export type SimpleAgentOptions = WithModelName<CoreSimpleAgentOptions>;

/** A chat with or without tools: see the class of this name in `nano-agent/patterns`. The model may be given by its name. */
export class SimpleAgent extends CoreSimpleAgent {
  constructor(options: SimpleAgentOptions) {
    super(withModel<CoreSimpleAgentOptions>(options));
  }
}

/** How a {@link ReActAgent} is made. */
export type ReActAgentOptions = WithModelName<CoreReActAgentOptions>;

/** Reasoning and acting in turns: see the class of this name in `nano-agent/patterns`. The model may be given by its name. */
export class ReActAgent extends CoreReActAgent {
  constructor(options: ReActAgentOptions) {
    super(withModel<CoreReActAgentOptions>(options));
  }
}

/** How a {@link PlanAndSolveAgent} is made. */
export type PlanAndSolveAgentOptions = WithModelName<CorePlanAndSolveAgentOptions>;

/** Plans, then works step by step: see the class of this name in `nano-agent/patterns`. The model may be given by its name. */
export class PlanAndSolveAgent extends CorePlanAndSolveAgent {
  constructor(options: PlanAndSolveAgentOptions) {
    super(withModel<CorePlanAndSolveAgentOptions>(options));
  }
}

/** How a {@link ReflectionAgent} is made. */
export type ReflectionAgentOptions = WithModelName<CoreReflectionAgentOptions>;

/** Works, reflects, refines: see the class of this name in `nano-agent/patterns`. The model may be given by its name. */
export class ReflectionAgent extends CoreReflectionAgent {
  constructor(options: ReflectionAgentOptions) {
    super(withModel<CoreReflectionAgentOptions>(options));
  }
}

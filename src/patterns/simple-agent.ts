import { Agent } from "../agent/agent.ts";
import { type AgentOptions, patternOptions } from "../agent/options.ts";
import { loop } from "../core/agent/loop.ts";
import { endRun } from "../core/agent/perform.ts";
import type { RunResult } from "../core/agent/result.ts";
import type { Run } from "../core/agent/run.ts";
import { checkOptions } from "../core/base/check-options.ts";
import { type Tool, ToolRegistry } from "../core/tool/tool.ts";

/** Options shared by {@link SimpleAgent} and `ReActAgent`. */
export interface LoopPatternOptions {
  /** The answer, also in the conversation, if the model says nothing. Default: an English sentence. */
  readonly fallbackAnswer?: string;
}

export const FALLBACK_ANSWER = "Sorry, I have no answer to this.";

/** Runs the loop once and substitutes the fallback answer if the model said nothing. */
export async function conductLoop(run: Run, fallbackAnswer: string): Promise<RunResult> {
  const ending = await loop(run);
  const text = ending.text ?? run.state.progress.lastText;
  const isSilent =
    text.trim() === "" && (ending.stopReason === "completed" || ending.stopReason === "max_iterations");
  return endRun(run, isSilent ? { ...ending, text: fallbackAnswer, addsText: true } : ending);
}

/** Options of a {@link SimpleAgent}. */
export interface SimpleAgentOptions extends AgentOptions, LoopPatternOptions {
  /** False makes it a plain chat: it keeps its tools but offers none to the model. Default true. */
  readonly enableToolCalling?: boolean;
}

const OPTIONS = patternOptions<SimpleAgentOptions>({
  enableToolCalling: { type: "boolean" },
  fallbackAnswer: { type: "string" },
});

/**
 * A chat with or without tools. Without tools a run is one model request. With tools it is the loop; after
 * `maxIterations` requests, one more without tools gives the answer (`onMaxIterations`).
 */
export class SimpleAgent extends Agent {
  readonly #ownTools: ToolRegistry;
  readonly #fallbackAnswer: string;

  /** Throws `invalid_argument` for invalid options. */
  constructor(options: SimpleAgentOptions) {
    const { enableToolCalling = true, fallbackAnswer = FALLBACK_ANSWER, ...own } = options;
    checkOptions(options, OPTIONS);
    super(enableToolCalling ? own : withoutTools(own));
    this.#ownTools = enableToolCalling ? this.tools : new ToolRegistry(own.tools);
    this.#fallbackAnswer = fallbackAnswer;
  }

  /** Adds a tool from the next model request on. Throws `invalid_argument` if its name is taken. */
  addTool(tool: Tool): void {
    this.#ownTools.add(tool);
  }

  /** Removes a tool; false when there was none of that name. */
  removeTool(name: string): boolean {
    return this.#ownTools.remove(name);
  }

  /** Names of the tools, in the order they were added. */
  listTools(): readonly string[] {
    return this.#ownTools.names();
  }

  /** True if the model is offered any tool. */
  hasTools(): boolean {
    return this.tools.names().length > 0;
  }

  override conduct(run: Run): Promise<RunResult> {
    return conductLoop(run, this.#fallbackAnswer);
  }
}

/** In a plain chat memory works on its own or not at all: the model has no tools for it. */
function withoutTools(options: AgentOptions): AgentOptions {
  const { longTermMemory, ...own } = options;
  const remembers = longTermMemory !== undefined && longTermMemory.mode !== "agent";
  return {
    ...own,
    tools: [],
    ...(remembers ? { longTermMemory: { ...longTermMemory, mode: "static" } } : {}),
  };
}

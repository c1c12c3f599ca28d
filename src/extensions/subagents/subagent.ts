import type { Effort, Model } from "../../core/model/model.ts";
import type { Tool } from "../../core/tool/tool.ts";
import type { Origin } from "../markdown/origin.ts";

/** An agent for a kind of task, as data: it runs when the `task` tool is called with its name. */
export interface Subagent {
  /** Letters, digits, `-` and `_`. */
  readonly name: string;
  /** For the model that chooses: what to use it for. */
  readonly description: string;
  readonly systemPrompt: string;
  /**
   * Its tools: names of tools of the run (`mcp__server__*` for all of a server), or tools of its own. What
   * the run does not have it does not get. Default: all tools of the run.
   */
  readonly tools?: readonly (string | Tool)[];
  /** Names of tools it does not get. */
  readonly disallowedTools?: readonly string[];
  /** True leaves it only tools that change nothing, and lets it run beside others. Default false. */
  readonly readOnly?: boolean;
  /** A model, or the name of one. Default: the model of the run. */
  readonly model?: Model | string;
  /** Default: that of the run. */
  readonly effort?: Effort;
  /** Model requests it may make, from 1. Default 20. */
  readonly maxIterations?: number;
}

/** A subagent, and where it came from. */
export interface LoadedSubagent extends Subagent {
  readonly origin: Origin;
  /** Its file; absent for one that is built in. */
  readonly path?: string;
  /** Trust of the user in what it may do; absent where it is the user's own, or only reads. */
  readonly trusted?: boolean;
}

import { checkOptions, objectSchema } from "../core/base/check-options.ts";
import { NanoAgentError } from "../core/base/errors.ts";
import { omitUndefined } from "../core/base/json.ts";
import type { Message } from "../core/message/message.ts";
import type { Model } from "../core/model/model.ts";
import type { Tool } from "../core/tool/tool.ts";
import { readEnvironment, variable } from "../system/env.ts";
import { Agent } from "./agent.ts";

/** Options of {@link agentLoop}. */
export interface AgentLoopOptions {
  /**
   * Default: `OPENAI_MODEL` at `OPENAI_BASE_URL` with `OPENAI_API_KEY`, otherwise the terminal agent's
   * choice.
   */
  readonly model?: string | Model;
  /** Default: none. */
  readonly tools?: readonly Tool[];
  /**
   * Instructions for the model, sent before the conversation. Default: two sentences asking it to be helpful.
   */
  readonly systemPrompt?: string;
  /** Ends the loop, which throws `aborted`. */
  readonly signal?: AbortSignal;
}

const PROMPT = "You are a helpful assistant. Use the tools you have where they help, and be concise.";

const OPTIONS = objectSchema<AgentLoopOptions>({ model: {}, tools: {}, systemPrompt: {}, signal: {} });

/**
 * The agent loop in one call: sends `input`, runs the tools the model calls, and returns the whole
 * conversation once the model has answered or `maxIterations` (default 20) requests were made. Throws the
 * error of a failed run.
 */
export async function agentLoop(
  input: string,
  maxIterations: number = 20,
  options: AgentLoopOptions = {},
): Promise<readonly Message[]> {
  checkOptions(options, OPTIONS);
  const agent = new Agent({
    model: options.model ?? (await defaultModelName()),
    systemPrompt: options.systemPrompt ?? PROMPT,
    onMaxIterations: "last",
    ...omitUndefined({ tools: options.tools }),
  });
  const { messages, error, stopReason } = await agent.run(input, {
    maxIterations,
    ...omitUndefined({ signal: options.signal }),
  });
  if (error !== undefined) throw error;
  if (stopReason === "aborted") throw new NanoAgentError("aborted", "The loop was aborted.");
  return messages;
}

async function defaultModelName(): Promise<string> {
  const environment = readEnvironment();
  const id = variable(environment, "OPENAI_MODEL");
  if (id !== undefined && variable(environment, "OPENAI_API_KEY") !== undefined) return `openai/${id}`;
  const { chooseModel } = await import("../providers/model-choice.ts");
  const model = variable(environment, "NANO_AGENT_MODEL");
  const config = { values: model === undefined ? {} : { model }, sources: new Map() };
  return (await chooseModel({ config, environment, waits: true })).name;
}

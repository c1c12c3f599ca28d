// The public library as its README shows it: a model by name, address and key from the environment.
import { Agent, defineTool } from "nano-agent";
export const meta = { entries: ["nano-agent"], apis: ["openai", "anthropic"], nonStream: false };
export async function run({ baseURL, model, prompt, api = "openai", maxTurns, tool, onText }) {
  process.env[api === "openai" ? "OPENAI_BASE_URL" : "ANTHROPIC_BASE_URL"] = baseURL;
  process.env[api === "openai" ? "OPENAI_API_KEY" : "ANTHROPIC_API_KEY"] = "x";
  const work = defineTool({
    name: tool.name,
    description: tool.description,
    parameters: tool.jsonSchema,
    execute: (input) => tool.execute(input),
  });
  const agent = new Agent({ model: `${api}/${model}`, tools: [work], maxIterations: maxTurns });
  const { text, error } = await agent.run(prompt, { onToken: onText });
  if (error !== undefined) throw error;
  return { text };
}

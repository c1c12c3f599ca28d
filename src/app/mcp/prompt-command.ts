import { errorMessage, NanoAgentError } from "../../core/base/errors.ts";
import type { McpHub, McpPrompt } from "../../extensions/mcp/mcp-hub.ts";
import type { SessionCommand } from "../coding-session/session-command.ts";

/** The prompt of an MCP server as a command. Words are its arguments in order. */
export function promptCommand(
  { name, description, arguments: named }: McpPrompt,
  hub: Pick<McpHub, "expandPrompt">,
): SessionCommand {
  const hint = named.map((each) => (each.required ? `[${each.name}]` : `[${each.name}?]`)).join(" ");
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(hint === "" ? {} : { hint }),
    expand: async (args, { signal }) => {
      const { splitArguments } = await import("../../extensions/commands/expand-command.ts");
      const values = valuesOf(
        splitArguments(args),
        named.map((each) => each.name),
      );
      try {
        const messages = await hub.expandPrompt(name, values, signal);
        return messages.flatMap(({ content }) => content);
      } catch (error) {
        throw promptError(name, error, signal);
      }
    },
  };
}

/** The prompt of that name, its server started for it, as a command. */
export async function findPromptCommand(
  name: string,
  hub: Pick<McpHub, "findPrompt" | "expandPrompt">,
  signal: AbortSignal,
): Promise<SessionCommand | undefined> {
  try {
    const prompt = await hub.findPrompt(name, signal);
    return prompt && promptCommand(prompt, hub);
  } catch (error) {
    throw promptError(name, error, signal);
  }
}

function promptError(name: string, error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return error;
  return new NanoAgentError("invalid_argument", `/${name} did not work: ${errorMessage(error)}`);
}

/** Each word is an argument; the last one gets what is left. */
function valuesOf(words: readonly string[], names: readonly string[]): { readonly [name: string]: string } {
  const last = names.length - 1;
  const values = names.map((name, at): [string, string | undefined] => [
    name,
    at === last && words.length > names.length ? words.slice(at).join(" ") : words[at],
  ]);
  return Object.fromEntries(values.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

import { splitArguments } from "../../extensions/commands/expand-command.ts";
import type { McpHub } from "../../extensions/mcp/mcp-hub.ts";
import type { SessionCommand } from "../coding-session/session-command.ts";

/** The prompt of an MCP server as a command, once the servers are there; `undefined`: there is none of that name. Words are its arguments in order. */
export async function promptCommand(
  name: string,
  hub: McpHub | undefined,
): Promise<SessionCommand | undefined> {
  hub?.start();
  await hub?.settled();
  const prompt = (await hub?.prompts())?.find((each) => each.name === name);
  if (hub === undefined || prompt === undefined) return undefined;
  const names = (prompt.arguments ?? []).map((argument) => argument.name);
  return {
    name,
    ...(prompt.description === undefined ? {} : { description: prompt.description }),
    expand: async (args, { signal }) => {
      const messages = await hub.expandPrompt(name, argumentsOf(args, names), signal);
      return messages.flatMap(({ content }) => content);
    },
  };
}

/** Each word is an argument; the last one gets what is left. */
function argumentsOf(args: string, names: readonly string[]): { readonly [name: string]: string } {
  const words = splitArguments(args);
  const last = names.length - 1;
  const values = names.map((name, at): [string, string | undefined] => [
    name,
    at === last && words.length > names.length ? words.slice(at).join(" ") : words[at],
  ]);
  return Object.fromEntries(values.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

import { errorMessage, NanoAgentError } from "../../core/base/errors.ts";
import { textOf } from "../../core/message/message.ts";
import type { CommandFile } from "../../extensions/commands/command-file.ts";
import { expandCommand } from "../../extensions/commands/expand-command.ts";
import type { IsTrusted } from "../../extensions/markdown/origin.ts";
import type { ExtensionCommand } from "../../extensions/modules/extension-api.ts";
import type { Skill } from "../../extensions/skills/skill.ts";
import { loadSkill } from "../../extensions/skills/skill-tool.ts";
import type { SessionCommand } from "../coding-session/session-command.ts";

/** A command of a file. */
export function fileCommand(file: CommandFile): SessionCommand {
  const { name, description, argumentHint, allowedTools, model, agent } = file;
  return {
    name,
    description,
    ...(argumentHint === undefined ? {} : { hint: argumentHint }),
    allowedTools,
    ...(model === undefined ? {} : { model }),
    ...(agent === undefined ? {} : { agent }),
    expand: (args, use) => expandCommand(file, args, use),
  };
}

/** A command of an extension. One that throws costs its message, not the session. */
export function extensionCommand(
  { name, description, argumentHint, run }: ExtensionCommand,
  { extension, cwd }: { readonly extension: string; readonly cwd: string },
): SessionCommand {
  return {
    name,
    description,
    ...(argumentHint === undefined ? {} : { hint: argumentHint }),
    expand: async (args, { sessionId, signal, notify }) => {
      const prompt: unknown = await called(() => run(args, { cwd, sessionId, signal, notify }));
      if (prompt === undefined || prompt === null || prompt === "") return undefined;
      if (typeof prompt === "string") return prompt;
      throw failed(`returned ${typeof prompt}, which is no prompt`);
    },
  };

  async function called(work: () => unknown): Promise<unknown> {
    try {
      return await work();
    } catch (error) {
      throw failed(`failed: ${errorMessage(error)}`);
    }
  }

  function failed(what: string): NanoAgentError {
    return new NanoAgentError(
      "invalid_argument",
      `The command /${name} of the extension ${extension} ${what}`,
    );
  }
}

/** A skill, called by a person: also one that is not offered to the model. */
export function skillCommand(skill: Skill, isTrusted: IsTrusted): SessionCommand {
  return {
    name: `skill:${skill.name}`,
    description: skill.description,
    expand: async (args) => {
      const { content, isError } = await loadSkill({ name: skill.name, arguments: args }, [skill], isTrusted);
      const text = typeof content === "string" ? content : textOf(content);
      if (isError === true) throw new NanoAgentError("invalid_argument", text);
      return text;
    },
  };
}

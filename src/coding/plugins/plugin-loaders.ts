import { type Clock, systemClock, withTimeout } from "../../core/base/async.ts";
import { errorMessage, invalidArgument, type NanoAgentError } from "../../core/base/errors.ts";
import { omitUndefined } from "../../core/base/json.ts";
import { textOf } from "../../core/message/message.ts";
import { type CommandFile, expandCommand } from "../../extensions/commands/expand-command.ts";
import type { IsTrusted } from "../../extensions/markdown/origin.ts";
import type { ExtensionCommand } from "../../extensions/modules/extension-api.ts";
import type { Skill } from "../../extensions/skills/load-skills.ts";
import { loadSkill } from "../../extensions/skills/skill-tool.ts";
import type { SessionCommand } from "../session/session-command.ts";

// One lazy module for all of these: each separately loaded module adds a shared chunk.
export { loadCommands } from "../../extensions/commands/load-commands.ts";
export { loadExtensions } from "../../extensions/modules/load-extensions.ts";
export { loadSkills, skillScripts } from "../../extensions/skills/load-skills.ts";
export { createSkillTool } from "../../extensions/skills/skill-tool.ts";
export { loadSubagents } from "../../extensions/subagents/load-subagents.ts";
export { openSessionHooks } from "./session-hooks.ts";

export function fileCommand(file: CommandFile): SessionCommand {
  const { name, description, argumentHint: hint, allowedTools, model, agent } = file;
  const expand: SessionCommand["expand"] = (args, use) => expandCommand(file, args, use);
  return { name, description, allowedTools, expand, ...omitUndefined({ hint, model, agent }) };
}

/** Time limit for an extension command: as long as a person would wait. */
const MAX_COMMAND_MS = 600_000;

/** An extension command. If it throws or never answers, that costs its message, not the session. */
export function extensionCommand(
  { name, description, argumentHint, run }: ExtensionCommand,
  {
    extension,
    cwd,
    clock = systemClock,
  }: { readonly extension: string; readonly cwd: string; readonly clock?: Clock },
): SessionCommand {
  return {
    name,
    description,
    ...omitUndefined({ hint: argumentHint }),
    expand: async (args, { sessionId, signal, notify }) => {
      const prompt: unknown = await call(signal, (either) =>
        run(args, { cwd, sessionId, signal: either, notify }),
      );
      if (prompt === undefined || prompt === null || prompt === "") return undefined;
      if (typeof prompt === "string") return prompt;
      throw commandError(`returned ${typeof prompt}, which is not a prompt`);
    },
  };

  async function call(signal: AbortSignal, work: (either: AbortSignal) => unknown): Promise<unknown> {
    try {
      return await withTimeout(work, { ms: MAX_COMMAND_MS, clock, signal });
    } catch (error) {
      signal.throwIfAborted();
      throw commandError(`failed: ${errorMessage(error)}`);
    }
  }

  function commandError(what: string): NanoAgentError {
    return invalidArgument(`The command /${name} of the extension ${extension} ${what}`);
  }
}

/** A skill called by a person, including skills that are not offered to the model. */
export function skillCommand(skill: Skill, isTrusted: IsTrusted): SessionCommand {
  return {
    name: `skill:${skill.name}`,
    description: skill.description,
    expand: async (args) => {
      const { content, isError } = await loadSkill({ name: skill.name, arguments: args }, [skill], isTrusted);
      const text = textOf(content);
      if (isError === true) throw invalidArgument(text);
      return text;
    },
  };
}

import type { FileChange, JournalEntry } from "../../core/agent/entries.ts";
import { omitUndefined } from "../../core/base/json.ts";
import { type Message, textOf } from "../../core/message/message.ts";
import { estimateTokens, InputEstimates } from "../../core/model/estimate.ts";
import { isVisible } from "../../core/tool/tool.ts";
import { sessionUsage } from "../../journal/session-usage.ts";
import { checkpointHistory, stepsFrom, type TurnPlace } from "../../session/undo/checkpoint-history.ts";
import { parseUntilNote } from "../../view/session-notes.ts";
import type { RewindPoint, SessionInfo, SessionStats } from "./coding-session.ts";
import type { SessionParts } from "./session-agent.ts";

export function sessionInfo({ composed, current, session, settings }: SessionParts): SessionInfo {
  const { agent, effort, mode, view: model } = current;
  return {
    cwd: settings.cwd,
    model,
    ...omitUndefined({
      effort,
      mcp: composed.mcp?.hub,
      path: session.saved?.path,
      goOn: session.resumeFlags(),
    }),
    mode,
    tools: agent.tools
      .list()
      .filter(isVisible)
      .map(({ name }) => name),
    agents: composed.extensions.agents,
    skills: composed.extensions.skills,
    instructions: composed.instructions.map(({ path }) => path),
    commands: composed
      .commands()
      .map(({ name, description, hint }) => ({ name, ...omitUndefined({ description, hint }) })),
    mcpServers: composed.mcpStatuses(),
    sandbox: composed.confinement.sandbox,
  };
}

export function sessionStats({ session, composed, current }: SessionParts): SessionStats {
  const { agent, view } = current;
  const entries = [...session.journal.entries()];
  const { runs, models, tools, total } = sessionUsage(entries);
  let turns = 0;
  let measured: number | undefined;
  for (const entry of entries) {
    if (entry.type === "compaction" || entry.type === "compaction_undone") measured = undefined;
    if (entry.type !== "assistant_message" || entry.scope !== undefined) continue;
    turns++;
    const { inputTokens, outputTokens } = entry.usage;
    if (inputTokens > 0) measured = inputTokens + outputTokens;
  }
  const estimates = new InputEstimates();
  const { messages } = agent.getState();
  const results = messages.map(({ content, ...message }) => ({
    ...message,
    content: content.filter(({ type }) => type === "tool_result"),
  }));
  const parts = {
    system: estimateTokens(composed.systemPrompt),
    tools: estimates.ofRequest({ tools: agent.tools.specs(), messages: [] }),
    messages: estimates.ofRequest({ messages }),
    results: estimates.ofRequest({
      messages: results.filter(({ content }) => content.length > 0) as Message[],
    }),
    answers: estimates.ofRequest({ messages: messages.filter(({ role }) => role === "assistant") }),
  };
  return {
    usage: total.usage,
    cost: total.costUsd,
    models: Object.entries(models).map(([model, spending]) => ({ model, ...spending })),
    runs,
    turns,
    toolCalls: Object.values(tools).reduce((sum, { calls }) => sum + calls, 0),
    context: {
      usedTokens: measured ?? parts.system + parts.tools + parts.messages,
      ...omitUndefined({ windowTokens: view.windowTokens }),
      parts,
    },
  };
}

/** User messages, oldest first, each with the turn that followed; excludes those of `until`. */
export function rewindPoints(journal: Iterable<JournalEntry>): readonly (RewindPoint & TurnPlace)[] {
  const entries = [...journal];
  const untilTexts = new Set(
    entries.flatMap((entry) => (entry.type === "note" && parseUntilNote(entry)?.told) || []),
  );
  const history = checkpointHistory(entries);
  const messages = history.messages.filter(({ entry }) => !untilTexts.has(textOf(entry.message.content)));
  return messages.map(({ run, turn, entry: { id, time, message } }) => {
    const paths = stepsFrom(history, { run, turn }).flatMap(({ entry }) =>
      entry.changes.filter(isFileVersionChange).map(({ path }) => path),
    );
    return { entryId: id, text: textOf(message.content), time, run, turn, files: [...new Set(paths)] };
  });
}

/** True for anything but a folder created for a file: a person would not count that. */
function isFileVersionChange({ before, after }: FileChange): boolean {
  return [before, after].some((version) => version !== null && version.type !== "folder");
}

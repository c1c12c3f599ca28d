import { EXIT } from "../../../app/coding-session/exit-code.ts";
import { terminalText } from "../../../app/safe-text.ts";
import { SessionState } from "../../../core/agent/session-state.ts";
import type { Redaction } from "../../../core/base/redaction.ts";
import type { ContentBlock } from "../../../core/message/block.ts";
import type { Message } from "../../../core/message/message.ts";
import { readSession, type SessionContent } from "../../../session/read-session.ts";
import type { SessionFile } from "../../../session/session-store.ts";
import type { CommandContext } from "../command-context.ts";
import { redactEntries, redactMessages } from "./redact-messages.ts";
import { writePrivateFile } from "./write-private-file.ts";

/** What an export is to be. */
export interface ExportChoice {
  readonly format: "markdown" | "json" | "html";
  /** File to write, below `cwd` unless absolute. Default: standard output. */
  readonly file: string | undefined;
  readonly cwd: string;
  /** Takes secrets out, those that the user or the model wrote included. */
  readonly redact: Redaction | undefined;
}

/**
 * Writes a session: its conversation, as it would be sent, as Markdown or one JSON object, or all of it as an
 * HTML page.
 */
export async function exportSession(
  { stdout }: CommandContext,
  { path }: SessionFile,
  { format, file, cwd, redact }: ExportChoice,
): Promise<number> {
  const text = await exported(readSession(path), { format, redact });
  if (file !== undefined) writePrivateFile(file, cwd, text);
  else stdout.write(stdout.isTerminal && format !== "json" ? terminalText(text) : text);
  return EXIT.done;
}

async function exported(
  content: SessionContent,
  { format, redact }: Pick<ExportChoice, "format" | "redact">,
): Promise<string> {
  if (format === "html") {
    const { sessionPage } = await import("./large-actions.ts");
    return sessionPage({ ...content, entries: redactEntries(redact, content.entries) });
  }
  const state = new SessionState();
  for (const entry of content.entries) state.apply(entry);
  state.transcript.closeOpenCalls();
  const messages = redactMessages(redact, state.transcript.messages);
  if (format === "json") return `${JSON.stringify(asJson(content, state, messages), undefined, 2)}\n`;
  return asMarkdown(content, messages);
}

function asJson(
  { sessionId, header }: SessionContent,
  { session }: SessionState,
  messages: readonly Message[],
): object {
  return {
    session_id: sessionId,
    cwd: header?.cwd ?? null,
    started_at: header === undefined ? null : new Date(header.time).toISOString(),
    usage: session.usage,
    total_cost_usd: session.costUsd ?? null,
    messages,
  };
}

function asMarkdown({ sessionId, header }: SessionContent, messages: readonly Message[]): string {
  const parts = [`# Session ${sessionId}`];
  if (header !== undefined) parts.push(`${new Date(header.time).toISOString()}, in \`${header.cwd}\``);
  for (const { role, content } of messages) {
    const isResults = (content as readonly ContentBlock[]).every((block) => block.type === "tool_result");
    if (!isResults) parts.push(role === "user" ? "## User" : "## Assistant");
    parts.push(...content.map(blockMarkdown).filter((text) => text !== ""));
  }
  return `${parts.join("\n\n")}\n`;
}

function blockMarkdown(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text.trim();
    case "thinking":
      return block.thinking.trim().replaceAll(/^/gm, "> ");
    case "image":
      return block.source.type === "url"
        ? `![image](${block.source.url})`
        : `*image, ${block.source.media_type}*`;
    case "tool_use":
      return `**${block.name}**\n\n${fenced(JSON.stringify(block.input, undefined, 2), "json")}`;
    case "tool_result": {
      const { content } = block;
      const text = typeof content === "string" ? fenced(content) : content.map(blockMarkdown).join("\n\n");
      return `${block.is_error === true ? "*failed*" : "*result*"}\n\n${text}`;
    }
  }
}

/** A fence longer than any run of backticks inside. */
function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}

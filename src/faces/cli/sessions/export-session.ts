import { readFileSync } from "node:fs";
import { redactionFor } from "../../../coding/setup/secrets.ts";
import { SessionState } from "../../../core/agent/state.ts";
import { misuse } from "../../../core/base/errors.ts";
import { fenced, type Redaction } from "../../../core/base/text.ts";
import type { ContentBlock, Message } from "../../../core/message/message.ts";
import { readSession, type SessionContent } from "../../../session/read-session.ts";
import type { SessionFile } from "../../../session/session-store.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { terminalText } from "../../../view/safe-text.ts";
import type { CommandCall, SessionCall } from "../command-call.ts";
import { settingsHere } from "../command-context.ts";
import { redactEntries, redactMessages } from "./redact-messages.ts";
import { writePrivateFile } from "./write-private-file.ts";

type Format = "markdown" | "json" | "html";

/**
 * Writes a session: its conversation, as it would be sent, as Markdown or one JSON object, or all of it as an
 * HTML page. Secrets are taken out, those that the user or the model wrote included.
 */
export async function exportSession(call: SessionCall, { path }: SessionFile): Promise<number> {
  const { context, cwd } = call;
  const { stdout } = context;
  const format = formatOf(call);
  const { config, environment } = await settingsHere(context);
  const text = await exported(readSession(path), format, redactionFor(environment, config.values));
  const file = call.text("--output");
  if (file !== undefined) writePrivateFile(file, cwd, text);
  else stdout.write(stdout.isTerminal && format !== "json" ? terminalText(text) : text);
  return EXIT.done;
}

function formatOf({ has, text }: CommandCall): Format {
  const formats = (["markdown", "json", "html"] as const).filter(
    (format) => text("--format") === format || (format !== "html" && has(`--${format}`)),
  );
  const [format = "markdown", other] = formats;
  if (other === undefined) return format;
  throw misuse("sessions export writes one format: markdown, json or html. Leave the others out.");
}

async function exported(
  content: SessionContent,
  format: Format,
  redact: Redaction | undefined,
): Promise<string> {
  if (format === "html") {
    return htmlPage({ ...content, entries: redactEntries(redact, content.entries) });
  }
  const state = new SessionState();
  for (const entry of content.entries) state.apply(entry);
  state.transcript.closeOpenCalls();
  const messages = redactMessages(redact, state.transcript.messages);
  if (format === "json") return `${JSON.stringify(asJson(content, state, messages), undefined, 2)}\n`;
  return asMarkdown(content, messages);
}

/** Drawn by the components of the page, which the build puts beside the program. */
async function htmlPage(content: SessionContent): Promise<string> {
  const web = new URL("../../web/", import.meta.url);
  const [, sheet = ""] = /href="([^"]+\.css)"/.exec(readFileSync(new URL("index.html", web), "utf8")) ?? [];
  const style = readFileSync(new URL(sheet, web), "utf8");
  const { exportPage } = (await import(new URL("../export-page.mjs", import.meta.url).href)) as {
    readonly exportPage: (content: SessionContent, pageStyle: string) => string;
  };
  return exportPage(content, style);
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

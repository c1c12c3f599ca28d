import { lstatSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { redactionFor } from "../../../coding/setup/confine.ts";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import { SessionState } from "../../../core/agent/state.ts";
import { errorMessage, invalidArgument, type Json } from "../../../core/base/errors.ts";
import { type Redaction, toCodeBlock } from "../../../core/base/text.ts";
import type { ContentBlock, Message } from "../../../core/message/message.ts";
import { redactJson } from "../../../core/tool/tool-output.ts";
import type { EvaluationContent } from "../../../evaluation/summarize.ts";
import { readSession, type SessionContent } from "../../../session/read-session.ts";
import type { SessionFile } from "../../../session/session-store.ts";
import { replaceFile } from "../../../system/replace-file.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { terminalText } from "../../../view/safe-text.ts";
import type { CommandCall, SessionCall } from "../command-call.ts";
import { loadLocalSettings } from "../command-context.ts";

type Format = "markdown" | "json" | "html";

/**
 * Exports a session: its conversation, as it would be sent, as Markdown or one JSON object, or everything as
 * an HTML page. Secrets are removed, including those the user or the model wrote.
 */
export async function exportSession(call: SessionCall, { path }: SessionFile): Promise<number> {
  const { cwd, stdout } = call;
  const format = formatOf(call);
  const { config, environment } = await loadLocalSettings(call);
  const content = readSession(path);
  const entries = redactEntries(redactionFor(environment, config.values), content.entries);
  const text = await exportText({ ...content, entries }, format);
  const file = call.text("--output");
  if (file !== undefined) writePrivateFile(resolve(cwd, file), text);
  else stdout.write(stdout.isTerminal && format !== "json" ? terminalText(text) : text);
  return EXIT.done;
}

function formatOf({ has, text }: CommandCall): Format {
  const formats = (["markdown", "json", "html"] as const).filter(
    (format) => text("--format") === format || (format !== "html" && has(`--${format}`)),
  );
  const [format = "markdown", other] = formats;
  if (other === undefined) return format;
  throw invalidArgument("sessions export writes one format: markdown, json or html. Leave the others out.");
}

async function exportText(content: SessionContent, format: Format): Promise<string> {
  if (format === "html") {
    const { exportPage, style } = await loadPageRenderer();
    return exportPage(content, style);
  }
  const state = new SessionState();
  for (const entry of content.entries) state.apply(entry);
  state.transcript.closeOpenCalls();
  const { messages } = state.transcript;
  if (format === "json") return `${JSON.stringify(asJson(content, state, messages), undefined, 2)}\n`;
  return asMarkdown(content, messages);
}

interface Drawings {
  readonly exportPage: (content: SessionContent, pageStyle: string) => string;
  readonly evaluationPage: (content: EvaluationContent, pageStyle: string) => string;
}

/**
 * Loads the functions that render pages to files, and their style sheet. The build puts both next to this
 * file.
 */
export async function loadPageRenderer(): Promise<Drawings & { readonly style: string }> {
  const web = new URL("../../web/", import.meta.url);
  const [, sheet = ""] = /href="([^"]+\.css)"/.exec(readFileSync(new URL("index.html", web), "utf8")) ?? [];
  const drawings = (await import(new URL("../export-page.mjs", import.meta.url).href)) as Drawings;
  return { ...drawings, style: readFileSync(new URL(sheet, web), "utf8") };
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
      return `**${block.name}**\n\n${toCodeBlock(JSON.stringify(block.input, undefined, 2), "json")}`;
    case "tool_result": {
      const { content } = block;
      const text =
        typeof content === "string" ? toCodeBlock(content) : content.map(blockMarkdown).join("\n\n");
      return `${block.is_error === true ? "*failed*" : "*result*"}\n\n${text}`;
    }
  }
}

/** Redacts entries. The same text becomes the same everywhere, so calls keep their results. */
function redactEntries(
  redaction: Redaction | undefined,
  entries: readonly JournalEntry[],
): readonly JournalEntry[] {
  if (redaction === undefined) return entries;
  return entries.map((entry) => redactJson(redaction, entry as unknown as Json) as unknown as JournalEntry);
}

/** Writes a file only the user can access (0600), replacing one with that name. */
function writePrivateFile(path: string, text: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false)
    throw invalidArgument(`${path} is not a regular file. Name another file.`);
  try {
    // A new file: another hard link to the old file keeps its contents.
    replaceFile(path, text);
  } catch (error) {
    throw invalidArgument(`${path} cannot be written: ${errorMessage(error)}.`, { cause: error });
  }
}

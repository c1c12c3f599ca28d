import { hash } from "node:crypto";
import type {
  AssistantEntry,
  FileChange,
  JournalEntry,
  PermissionEntry,
  ToolResultEntry,
  UserEntry,
} from "../../core/agent/entries.ts";
import { counted } from "../../core/base/text.ts";
import type { ContentBlock } from "../../core/message/block.ts";
import type { Message } from "../../core/message/message.ts";
import { sessionUsage } from "../../journal/session-usage.ts";
import { sessionSteps } from "../../journal/steps.ts";
import type { SessionContent } from "../../session/read-session.ts";
import { describeDuration } from "../../tools/shell/report.ts";
import { Html, html } from "./html.ts";
import { PAGE_STYLE } from "./page-style.ts";
import { renderBlock } from "./render-blocks.ts";
import { type CallFacts, renderCall, type ShownCall } from "./render-call.ts";
import { timeline } from "./timeline.ts";
import { type Table, usageTables } from "./usage-tables.ts";

/**
 * A session as one HTML page that needs nothing else: conversation, tool calls with folded results, diffs,
 * permission decisions, usage and timeline. Holds no script, and forbids by its content security policy all
 * that is not in it.
 */
export function sessionPage(content: SessionContent): string {
  const { sessionId, entries } = content;
  const digest = hash("sha256", PAGE_STYLE, "base64");
  const policy = `default-src 'none'; style-src 'sha256-${digest}'; img-src data:; base-uri 'none'; form-action 'none'`;
  const body = html`<header><h1>Session ${sessionId}</h1>
${facts(content)}
${usageTables(sessionUsage(entries))
  .filter((rows) => rows.length > 1)
  .map(table)}
${timeline(entries)}
${notes(content)}
</header>
<main>
${conversation(entries)}
</main>
<footer>Written by nano-agent.</footer>`;
  const head = html`<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Html(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Session ${sessionId}</title>`;
  return `<!doctype html>\n<html lang="en">\n<head>\n${head.markup}\n<style>${PAGE_STYLE}</style>\n</head>\n<body>\n${body.markup}\n</body>\n</html>\n`;
}

function facts({ header, entries, records }: SessionContent): Html {
  const { runs, stopReason, runMs } = sessionUsage(entries);
  const rows: readonly (readonly [string, string | undefined])[] = [
    ["Folder", header?.cwd],
    ["Copy of", header?.forkedFrom?.sessionId],
    ["Imported from", header?.importedFrom?.program],
    ["Began", timeOf(header?.time ?? entries[0]?.time)],
    ["Last", timeOf(entries.at(-1)?.time)],
    ["Runs", `${runs}, ${describeDuration(runMs)}; the last one: ${stopReason ?? "cut or still at work"}`],
    ["Records", String(records)],
  ];
  return html`<dl>${rows.filter(([, value]) => value !== undefined).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

function table([header = [], ...rows]: Table): Html {
  return html`<div class="scroll"><table><tr>${header.map((cell) => html`<th>${cell}</th>`)}</tr>${rows.map(
    (cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`,
  )}</table></div>`;
}

function notes({ damaged, otherTypes }: SessionContent): Html {
  return html`${damaged.slice(0, 50).map(({ line, reason }) => html`<p class="note">Damaged: line ${line}, ${reason}</p>`)}${Object.entries(
    otherTypes,
  ).map(
    ([type, count]) => html`<p class="note">Not shown: ${counted(count, "record")} of type ${type}</p>`,
  )}`;
}

function conversation(entries: readonly JournalEntry[]): readonly Html[] {
  const calls = callFacts(entries);
  const steps = new Map(sessionSteps(entries).map(({ number, answerAt }) => [entries[answerAt], number]));
  let run = 0;
  return entries.flatMap((entry): readonly Html[] => {
    switch (entry.type) {
      case "run_start":
        return [
          html`<h2>Run ${++run} · ${entry.model} <span class="think">${timeOf(entry.time)}</span></h2>`,
        ];
      case "user_message":
        return [said(entry)];
      case "assistant_message":
        return [answer(entry, { step: steps.get(entry), calls })];
      case "history":
        return [
          html`<section ${anchor(steps.get(entry))}>${entry.messages.map((message) => plainMessage(message, calls))}</section>`,
        ];
      case "run_end":
        return [ending(entry)];
      case "compaction":
        return [compaction(entry)];
      case "compaction_undone":
        return [html`<p class="note">The newest compaction was taken back.</p>`];
      default: {
        const text = besideText(entry);
        return text === undefined ? [] : [html`<p class="note">${text}</p>`];
      }
    }
  });
}

/** The text for an entry that is beside the conversation. */
function besideText(entry: JournalEntry): string | undefined {
  switch (entry.type) {
    case "approval_request":
      return `Waits for approval: ${entry.name}, ${entry.reason}`;
    case "model_change":
      return `Model: ${entry.model}${entry.effort === undefined ? "" : `, effort ${entry.effort}`}`;
    case "run_resume":
      return `The run goes on with ${entry.model}`;
    case "mode_change":
      return `Mode: ${entry.mode}`;
    case "retry":
      return `Attempt ${entry.attempt} after: ${entry.error.message}`;
    case "checkpoint":
      return entry.changes.length === 0 ? undefined : `${entry.name} changed ${filesOf(entry.changes)}`;
    case "rollback":
      return `${entry.direction === "undo" ? "Put back" : "Brought back"}: ${filesOf(entry.changes)}`;
    case "rollback_end":
      return entry.failed.length === 0 ? undefined : `Could not be put back: ${entry.failed.join(", ")}`;
    case "memory_edit":
      return entry.edit === "remove" ? "Messages were removed from the conversation." : undefined;
    default:
      return undefined;
  }
}

/** Names of the first files and how many more there are. */
function filesOf(changes: readonly FileChange[]): string {
  const names = changes.slice(0, 5).map(({ path }) => path);
  const more = changes.length - names.length;
  return `${counted(changes.length, "file")}: ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function callFacts(entries: readonly JournalEntry[]): CallFacts {
  const results = new Map<string, ToolResultEntry>();
  const decisions = new Map<string, PermissionEntry>();
  const children = new Map<string, ShownCall[]>();
  for (const entry of entries) {
    if (entry.type === "tool_result") results.set(entry.callId, entry);
    if (entry.type === "permission_decision") decisions.set(entry.callId, entry);
    if (entry.type !== "tool_intent" && entry.type !== "permission_decision") continue;
    if (entry.parentCallId === undefined) continue;
    const { callId: id, name, input } = entry;
    const siblings = (children.get(entry.parentCallId) ?? []).filter((sibling) => sibling.id !== id);
    children.set(entry.parentCallId, [...siblings, { id, name, input }]);
  }
  return { results, decisions, children };
}

const SPEAKERS: { readonly [source in UserEntry["source"]]: string } = {
  input: "User",
  steering: "User, while the run was at work",
  observed: "Said by others",
  system: "Said by the program",
  memory: "Remembered",
};

function said({ message, source, scope, time }: UserEntry): Html {
  return html`<section class="said${scope === undefined ? "" : " nested"}"><div class="meta"><b>${message.name ?? SPEAKERS[source]}</b>${scopeOf(scope)}<span>${timeOf(time)}</span></div>${message.content.map(renderBlock)}</section>`;
}

function answer(
  entry: AssistantEntry,
  { step, calls }: { readonly step: number | undefined; readonly calls: CallFacts },
): Html {
  const { message, model, usage, costUsd, durationMs, scope, interrupted, finishReason } = entry;
  const cost = costUsd === undefined ? undefined : html`<span>$${costUsd.toFixed(4)}</span>`;
  const cached = (usage.cacheReadTokens ?? 0) > 0 ? ` (${usage.cacheReadTokens} cached)` : "";
  return html`<article class="${scope === undefined ? "" : "nested"}" ${anchor(step)}><div class="meta"><b>${step === undefined ? "Answer" : `Step ${step}`}</b>${scopeOf(scope)}<span>${model}</span><span>${describeDuration(durationMs)}</span><span>${usage.inputTokens}${cached} tokens in, ${usage.outputTokens} out</span>${cost}${
    interrupted === true ? html`<span class="bad">interrupted</span>` : undefined
  }${finishReason.unified === "length" || finishReason.unified === "refusal" ? html`<span class="bad">${finishReason.unified}</span>` : undefined}</div>${message.content.map((block) => shown(block, calls))}</article>`;
}

function shown(block: ContentBlock, calls: CallFacts): Html | undefined {
  return block.type === "tool_use" ? renderCall(block, calls) : renderBlock(block);
}

function plainMessage(message: Message, calls: CallFacts): Html {
  const blocks = (message.content as readonly ContentBlock[]).filter(({ type }) => type !== "tool_result");
  if (blocks.length === 0) return html``;
  const who = message.name ?? (message.role === "user" ? "User" : "Answer");
  return html`<div class="said"><div class="meta"><b>${who}</b></div>${blocks.map((block) => shown(block, calls))}</div>`;
}

function ending({ stopReason, error }: Extract<JournalEntry, { readonly type: "run_end" }>): Html {
  const isDone =
    stopReason === "completed" || stopReason === "finish_tool" || stopReason === "structured_output";
  return html`<p class="${isDone ? "meta" : "note"}">The run ended: ${stopReason}${error === undefined ? "" : `, ${error.code}: ${error.message}`}</p>`;
}

function compaction(entry: Extract<JournalEntry, { readonly type: "compaction" }>): Html {
  const { method, tokensBefore, tokensAfter, messages } = entry;
  return html`<details class="note"><summary>Compacted (${method}): ${tokensBefore} tokens became ${tokensAfter}</summary>${messages.map(
    (message) => (message.content as readonly ContentBlock[]).map(renderBlock),
  )}</details>`;
}

function anchor(step: number | undefined): Html | undefined {
  return step === undefined ? undefined : html`id="step-${step}"`;
}

function scopeOf(scope: string | undefined): Html | undefined {
  return scope === undefined ? undefined : html`<span>${scope}</span>`;
}

function timeOf(time: number | undefined): string | undefined {
  const date = new Date(time ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().slice(0, 19).replace("T", " ");
}

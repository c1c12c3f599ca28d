import type { CodingSession } from "../../../app/coding-session/coding-session.ts";
import { createCodingSession } from "../../../app/coding-session/create-coding-session.ts";
import { EXIT } from "../../../app/coding-session/exit-code.ts";
import { noticeText } from "../../../app/coding-session/notice-text.ts";
import { terminalLine } from "../../../app/safe-text.ts";
import { loadSettings } from "../../../app/settings.ts";
import { SessionState } from "../../../core/agent/session-state.ts";
import { counted } from "../../../core/base/text.ts";
import { undoNewestCompaction } from "../../../memory/context/compaction.ts";
import type { SessionFile, SessionStore } from "../../../session/session-store.ts";
import type { CommandContext } from "../command-context.ts";
import { compactionLine } from "../note-lines.ts";

/** What is done about the size of a session. */
export interface CompactAction {
  readonly action: "compact" | "preview" | "undo";
  readonly json: boolean;
}

/** Where it is done. */
export interface CompactPlace {
  readonly context: CommandContext;
  readonly store: SessionStore;
  readonly cwd: string;
}

/**
 * Compacts a session with the model it works with, shows what that would do, or takes the newest compaction
 * back. Returns 1 when the session stays as it was.
 */
export async function compactSession(
  place: CompactPlace,
  session: SessionFile,
  { action, json }: CompactAction,
): Promise<number> {
  if (action === "undo") return undo(place, session, json);
  const { context } = place;
  const say = (message: string): void =>
    context.stderr.write(`nano-agent: ${terminalLine(message, 2_000)}\n`);
  const coding = await openSession(place, session, say);
  try {
    return action === "preview"
      ? await preview(coding, context, json)
      : await compact(coding, context, { json, say });
  } finally {
    await coding.close();
  }
}

/** Who asks for a compaction wants one, also where it never happens by itself. */
async function openSession(
  { context: { environment }, cwd }: CompactPlace,
  { sessionId }: SessionFile,
  say: (message: string) => void,
): Promise<CodingSession> {
  const { values } = (await loadSettings({ environment, cwd })).config;
  return createCodingSession({
    environment,
    cwd,
    resume: { id: sessionId },
    ...(values.compaction === false ? { settings: { compaction: {} } } : {}),
    onNotice: (notice) => (notice.code === "model_chosen" ? undefined : say(noticeText(notice))),
  });
}

async function compact(
  coding: CodingSession,
  { stdout }: CommandContext,
  { json, say }: { readonly json: boolean; readonly say: (message: string) => void },
): Promise<number> {
  coding.onEvent((event) => {
    if (event.type === "warning") say(event.message);
  });
  const result = await coding.compact();
  if (json) {
    const { method = "none", tokensBefore = null, tokensAfter = null } = result ?? {};
    const row = { session_id: coding.id, method, tokens_before: tokensBefore, tokens_after: tokensAfter };
    stdout.write(`${JSON.stringify(row)}\n`);
  } else if (result !== undefined) {
    const undoing = `Take it back with: nano-agent sessions compact ${coding.id} --undo`;
    stdout.write(`${coding.id}: ${compactionLine(result)}. ${undoing}\n`);
  }
  return result === undefined ? EXIT.failed : EXIT.done;
}

async function preview(coding: CodingSession, { stdout }: CommandContext, json: boolean): Promise<number> {
  const { replaced, kept, pinned, isNeeded, ...figures } = await coding.previewCompaction();
  if (json) {
    const row = {
      session_id: coding.id,
      needed: isNeeded,
      method: figures.method,
      tokens_before: figures.tokensBefore,
      tokens_after: figures.tokensAfter,
      limit: figures.limit ?? null,
      window: figures.window ?? null,
      replaced: replaced.length,
      kept: kept.length,
      pinned: { user_messages: pinned.userMessages, files: pinned.files, todo: pinned.todo },
    };
    stdout.write(`${JSON.stringify(row)}\n`);
    return EXIT.done;
  }
  const { window, limit } = figures;
  const room =
    window === undefined
      ? "the window of the model is unknown"
      : `compacted above ${limit ?? window}, window ${window}`;
  const rows: readonly (readonly [string, string])[] = [
    ["session", coding.id],
    [
      "size",
      `${counted(replaced.length + kept.length, "message")}, about ${figures.tokensBefore} tokens (${room})`,
    ],
    ["method", figures.method === "none" ? "nothing could go" : figures.method],
    ["goes", counted(replaced.length, "older message")],
    ["stays", counted(kept.length, "newest message")],
    [
      "pinned",
      `${counted(pinned.userMessages, "message")} of the user, ${counted(pinned.files, "file")}, ${pinned.todo ? "the" : "no"} todo list`,
    ],
    ["after", `about ${figures.tokensAfter} tokens`],
  ];
  stdout.write(rows.map(([name, value]) => `${name.padEnd(8)}  ${value}\n`).join(""));
  return EXIT.done;
}

async function undo({ context, store }: CompactPlace, session: SessionFile, json: boolean): Promise<number> {
  const journal = await store.resume(session);
  try {
    const state = new SessionState();
    for (const entry of journal.entries()) state.apply(entry);
    await undoNewestCompaction({ journal, state, scope: undefined, emit: () => undefined });
    const { messages } = state.transcript;
    context.stdout.write(
      json
        ? `${JSON.stringify({ session_id: session.sessionId, messages: messages.length })}\n`
        : `${session.sessionId}: the newest compaction is taken back; the conversation has ${counted(messages.length, "message")}.\n`,
    );
    return EXIT.done;
  } finally {
    await journal.close();
  }
}
